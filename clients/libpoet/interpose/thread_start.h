/* Start function and argument of a new thread, until it has begun. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_THREAD_START_H
#define CLIENTS_LIBPOET_INTERPOSE_THREAD_START_H

#include "clients/libpoet/core/thread_info.h"

#include <threads.h>

#pragma GCC visibility push(hidden)

struct thread_start {
    void *(*function)(void *);
    thrd_start_t function_c11; /* or this one */
    void *argument;
    struct thread_info *task;
    struct thread_start *next;
    struct mask_new mask;
};

/* Returns an entry from reused memory, or NULL if there is none. */
struct thread_start *thread_start_pop(void);
void thread_start_push(struct thread_start *start);
void thread_start_forked(void); /* Called in the child, where no thread is about to begin. */

#pragma GCC visibility pop
#endif
