/* Threads whose creation is not recorded, as those that libraries make. */
#ifndef CLIENTS_LIBPOET_CORE_FOREIGN_THREADS_H
#define CLIENTS_LIBPOET_CORE_FOREIGN_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

void foreign_threads_begin(void); /* once thread_lifetime_at_end() may be called */
#define FOREIGN_THREAD_BIT                                                                         \
    ((uintptr_t)1) /* in what thread_lifetime_at_end() was given: it is for this */
void foreign_thread_end(void *p);
void foreign_threads_forked(void);
/* Creates a thread by a call that is not recorded: what pthread_create or, with function_c11,
 * thrd_create returns. */
int foreign_thread_create(pthread_t *id, const pthread_attr_t *attributes, bool detached,
                          void *(*function)(void *), thrd_start_t function_c11, void *argument);
/* The calling thread, which has no line, gets one; NULL: it must not. */
struct traced_thread *thread_adopt(void);
/* The same of one whose creation was seen: not where a signal comes before a thread has begun its
 * line. */
struct traced_thread *thread_adopt_known(void);
/* It gets none from here on, or again; whether it got none before. */
bool foreign_thread_block(bool shut);
/* The calling thread has waited for another's end: if it has no line that could tell, its start
 * will. */
void foreign_thread_note_missed(void);

#pragma GCC visibility pop
#endif
