/* Frames: where a thread is among tasks.  Each member of a team begins as a task, too, and has one. */
#ifndef CLIENTS_TRACE_OMP_FRAMES_H
#define CLIENTS_TRACE_OMP_FRAMES_H

#include "clients/trace/omp/depends.h"
#include "clients/trace/omp/events.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct group; /* a taskgroup */

/* What makes tasks, and waits for them, on one thread. */
struct frame {
    uint64_t id;
    uint32_t made, awaited; /* children; those of them that were waited for */
    struct group *group;
    struct depends *depends;
    bool doubtful; /* a child ends when somebody says so, out of sight */
    enum event waits_by; /* where it waits, and may run others meanwhile, */
    bool waits; /*   if it does */
    poet_line_t waits_for;
    const void *waits_at;
};

struct frame *frame_here(void); /* the one that the calling thread is in; never NULL */
uint64_t frame_unique(void); /* an id for a frame that is no task's */
/* The calling thread is in it, till frame_end(), with what frame_begin() gave. */
struct frame *frame_begin(struct frame *frame, uint64_t id, struct group *group);
void frame_end(struct frame *frame, struct frame *outer);
void frame_waits(enum event by, poet_line_t line, const void *site); /* here, from now on */
void frame_goes_on(void);
bool frame_is_waiting(enum event by);
void frame_pooled(void); /* the calling thread is a worker of the runtime: it rests where it is in none */
/* The thread goes on in another one that had begun; gives the one that it was in. */
struct frame *frame_resume(struct frame *frame);

#pragma GCC visibility pop
#endif
