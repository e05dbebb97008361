/* What the names of C11 stand for, too: a call as each of its names makes it. */
#ifndef CLIENTS_TRACE_CALLS_FOLLOW_H
#define CLIENTS_TRACE_CALLS_FOLLOW_H

#include "clients/trace/core/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#pragma GCC visibility push(hidden)

enum how { HOW_LOCK, HOW_TRY, HOW_TIMED, HOW_CLOCK };
int follow_join(uintptr_t site, pthread_t id, void **result, const clockid_t *clock,
                const struct timespec *deadline);
int follow_detach(uintptr_t site, pthread_t id);
int follow_lock(uintptr_t site, enum how how, pthread_mutex_t *m, clockid_t clock,
                const struct timespec *ts);
int follow_unlock(uintptr_t site, pthread_mutex_t *m);
/* A mutex that the thread holds though its lock was not recorded: from here on it is; NULL: it does not. */
struct hold *follow_held(uintptr_t site, struct thread *thread, pthread_mutex_t *m);
void follow_mutex_made(uintptr_t site, pthread_mutex_t *m);
int follow_wait(uintptr_t site, pthread_cond_t *c, pthread_mutex_t *m, const clockid_t *clock,
                const struct timespec *ts);
int follow_signal(uintptr_t site, pthread_cond_t *c, bool broadcast);
int follow_once(uintptr_t site, pthread_once_t *flag, void (*function)(void));

#pragma GCC visibility pop
#endif
