/* The life of a thread. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_THREAD_LIFETIME_H
#define CLIENTS_LIBPOET_INTERPOSE_THREAD_LIFETIME_H

#include "clients/libpoet/core/thread.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* threads were created by calls that are not recorded */
extern _Atomic bool untraced_threads_exist;
void thread_lifetime_begin_main(void);
void thread_lifetime_end_main(void);
/* The calling thread is recorded from here on, and busy; NULL: it is not. */
struct traced_thread *thread_lifetime_begin(struct thread_info *task);
/* Its line ends here, also where its end was dropped. */
bool thread_lifetime_existed(const struct thread_info *task);
void thread_lifetime_close(struct traced_thread *thread, struct thread_info *task, unsigned type,
                           uintptr_t site);
/* Gives the calling thread a line, and leaves it busy until its start is told; NULL: it gets
 * none. */
struct traced_thread *thread_lifetime_begin_thread(struct thread_info *task, const char *name);
void thread_lifetime_at_end(
    void *p); /* what the thread's end is told by, in each round of its specific data */
void thread_lifetime_bind(struct thread_info *task,
                          const pthread_t *id); /* it is found by its id from here on */
/* It has ended without a line; nothing of it is looked at here any more. */
void thread_lifetime_ended(struct thread_info *task);
bool thread_lifetime_renew(
    struct traced_thread *thread); /* under another server; call while busy */
struct traced_thread *
thread_lifetime_begin_child(uint64_t high, uint64_t low); /* after the message with this key */

unsigned thread_lifetime_count(void); /* how many are recorded now */

#pragma GCC visibility pop
#endif
