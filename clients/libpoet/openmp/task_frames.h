/* Frames: where a thread is among tasks.  Each member of a team begins as a task, too, and has
 * one. */
#ifndef CLIENTS_LIBPOET_OPENMP_TASK_FRAMES_H
#define CLIENTS_LIBPOET_OPENMP_TASK_FRAMES_H

#include "clients/libpoet/openmp/task_depends.h"
#include "clients/libpoet/openmp/omp_events.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct task_group; /* a taskgroup */

/* What makes tasks, and waits for them, on one thread. */
struct task_frame {
    uint64_t id;
    uint32_t made, awaited; /* children; those of them that were waited for */
    struct task_group *group;
    struct task_dependences *depends;
    bool doubtful; /* a child ends when somebody says so, out of sight */
    enum omp_event waits_by; /* where it waits, and may run others meanwhile, */
    bool waits; /*   if it does */
    poet_line_t waits_for;
    const void *waits_at;
};

struct task_frame *task_frame_current(void); /* the one that the calling thread is in; never NULL */
uint64_t task_frame_unique(void); /* an id for a frame that is no task's */
/* The calling thread is in it, till task_frame_end(), with what task_frame_begin() gave. */
struct task_frame *task_frame_begin(struct task_frame *frame, uint64_t id,
                                    struct task_group *group);
void task_frame_end(struct task_frame *frame, struct task_frame *outer);
void task_frame_wait_begin(enum omp_event by, poet_line_t line,
                           const void *site); /* here, from now on */
void task_frame_wait_end(void);
bool task_frame_is_waiting(enum omp_event by);
void task_frame_set_pooled(
    void); /* the calling thread is a worker of the runtime: it rests where it is in none */
/* The thread goes on in another one that had begun; gives the one that it was in. */
struct task_frame *task_frame_resume(struct task_frame *frame);

#pragma GCC visibility pop
#endif
