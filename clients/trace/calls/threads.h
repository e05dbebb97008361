/* The life of a thread. */
#ifndef CLIENTS_TRACE_CALLS_THREADS_H
#define CLIENTS_TRACE_CALLS_THREADS_H

#include "clients/trace/core/thread.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern _Atomic bool library_threads; /* threads were created by calls that are not recorded */
void life_begin_main(void);
void life_end_main(void);
/* The calling thread is recorded from here on, and busy; NULL: it is not. */
struct thread *life_begin(struct task *task);
/* Its line ends here, also where its end was dropped. */
bool life_was(const struct task *task);
void life_close(struct thread *thread, struct task *task, unsigned type, uintptr_t site);
/* Gives the calling thread a line, and leaves it busy until its start is told; NULL: it gets none. */
struct thread *life_begin_thread(struct task *task, const char *name);
void life_at_end(
    void *p); /* what the thread's end is told by, in each round of its specific data */
void life_bind(struct task *task, const pthread_t *id); /* it is found by its id from here on */
/* It has ended without a line; nothing of it is looked at here any more. */
void life_ended(struct task *task);
bool life_renew(struct thread *thread); /* under another server; call while busy */
struct thread *life_begin_child(uint64_t high, uint64_t low); /* after the message with this key */

unsigned life_threads(void); /* how many are recorded now */

#pragma GCC visibility pop
#endif
