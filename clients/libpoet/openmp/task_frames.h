/* Task frames: which task a thread is in. Each member of a team begins as a task, too, and has a
 * frame. */
#ifndef CLIENTS_LIBPOET_OPENMP_TASK_FRAMES_H
#define CLIENTS_LIBPOET_OPENMP_TASK_FRAMES_H

#include "clients/libpoet/openmp/task_depends.h"
#include "clients/libpoet/openmp/omp_events.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct task_group; /* a taskgroup */

/* A task on one thread, with its children. */
struct task_frame {
    uint64_t id;
    uint32_t made, awaited; /* children; those of them that were waited for */
    struct task_group *group;
    struct task_dependences *depends;
    bool doubtful; /* a child ends at an untraced time, when the program fulfills its event */
    enum omp_event waits_by; /* the event by which it waits, and may run others meanwhile, */
    bool waits; /* if it does */
    poet_line_t waits_for;
    const void *waits_at;
};

/* Returns the frame that the calling thread is in; never NULL. */
struct task_frame *task_frame_current(void);
uint64_t task_frame_unique(void); /* Returns an id for a frame that is not a task's. */
/* The calling thread is in the frame until task_frame_end(), with what task_frame_begin()
 * returned. */
struct task_frame *task_frame_begin(struct task_frame *frame, uint64_t id,
                                    struct task_group *group);
void task_frame_end(struct task_frame *frame, struct task_frame *outer);
/* From now on the thread is here. */
void task_frame_wait_begin(enum omp_event by, poet_line_t line, const void *site);
void task_frame_wait_end(void);
bool task_frame_is_waiting(enum omp_event by);
/* The calling thread is a worker of the runtime: it is idle while it is in no frame. */
void task_frame_set_pooled(void);
/* The thread resumes a frame that had begun. Returns the frame that it was in. */
struct task_frame *task_frame_resume(struct task_frame *frame);

#pragma GCC visibility pop
#endif
