/* Threads without a recorded creation, such as those of libraries. */
#ifndef CLIENTS_LIBPOET_CORE_FOREIGN_THREADS_H
#define CLIENTS_LIBPOET_CORE_FOREIGN_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

void foreign_threads_begin(void); /* Must be called once thread_lifetime_at_end() may be called. */
/* Bit in the argument of thread_lifetime_at_end() that marks it as one of this module. */
#define FOREIGN_THREAD_BIT ((uintptr_t)1)
void foreign_thread_end(void *p);
void foreign_threads_forked(void);
/* Creates a thread by a call that is not recorded. Returns what pthread_create or, with
 * function_c11, thrd_create returns. */
int foreign_thread_create(pthread_t *id, const pthread_attr_t *attributes, bool detached,
                          void *(*function)(void *), thrd_start_t function_c11, void *argument);
/* Gives a line to the calling thread, which has none. Returns NULL if it must not have one. */
struct traced_thread *thread_adopt(void);
/* Does the same for a thread with a recorded creation, except in a signal handler that runs
 * before the thread has begun its line. */
struct traced_thread *thread_adopt_known(void);
/* Sets whether the calling thread may get no line; returns the previous value. */
bool foreign_thread_block(bool shut);
/* The calling thread has waited for the end of another one. If it has no line to record that on,
 * its start event will be marked as uncertain. */
void foreign_thread_note_missed(void);

#pragma GCC visibility pop
#endif
