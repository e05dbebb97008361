/* The lifetime of a thread: start, end and lines of threads. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_THREAD_LIFETIME_H
#define CLIENTS_LIBPOET_INTERPOSE_THREAD_LIFETIME_H

#include "clients/libpoet/core/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

#pragma GCC visibility push(hidden)

/* From here on the thread is found by its id. */
void thread_lifetime_bind(struct thread_info *task, const pthread_t *id);
void thread_lifetime_bind_self(struct thread_info *task); /* By the id of the calling thread. */
void thread_lifetime_unbind(struct thread_info *task, pthread_t id);
/* Returns NULL if no such thread is known. */
struct thread_info *thread_lifetime_find(pthread_t id);

/* Start function and argument of a new thread, until it has begun. */
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

void thread_lifetime_begin_main(void);
void thread_lifetime_end_main(void);
/* Makes the calling thread recorded, and busy. Returns NULL if it is not recorded. */
struct traced_thread *thread_lifetime_begin(struct thread_info *task);
/* Returns whether the thread's line ends here, even if its end event was dropped. */
bool thread_lifetime_existed(const struct thread_info *task);
void thread_lifetime_close(struct traced_thread *thread, struct thread_info *task, unsigned type,
                           uintptr_t site);
/* Gives the calling thread a line, and leaves it busy until its start is recorded. Returns NULL if
 * it gets none. */
struct traced_thread *thread_lifetime_begin_thread(struct thread_info *task, const char *name);
/* Destructor of thread-specific data that records the thread's end; called in each round. */
void thread_lifetime_at_end(void *p);
/* The thread has ended without a line; its state is not used here any more. */
void thread_lifetime_ended(struct thread_info *task);
/* Called under another server, while busy. */
bool thread_lifetime_renew(struct traced_thread *thread);
/* Begins after the message with this key. */
struct traced_thread *thread_lifetime_begin_child(uint64_t high, uint64_t low);

#pragma GCC visibility pop
#endif
