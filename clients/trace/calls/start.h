/* What a new thread is to run, until it has begun. */
#ifndef CLIENTS_TRACE_CALLS_START_H
#define CLIENTS_TRACE_CALLS_START_H

#include "clients/trace/core/task.h"

#include <threads.h>

#pragma GCC visibility push(hidden)

struct start {
    void *(*function)(void *);
    thrd_start_t function_c11; /* or this one */
    void *argument;
    struct task *task;
    struct start *next;
    struct mask_new mask;
};

/* From memory that is used again; NULL: there is none. */
struct start *start_take(void);
void start_put(struct start *start);
void starts_forked(void); /* in the child: nobody begins any more */

#pragma GCC visibility pop
#endif
