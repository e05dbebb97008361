/* Locking and unlocking mutexes, by whichever name. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_MUTEXES_H
#define CLIENTS_LIBPOET_INTERPOSE_MUTEXES_H

#include "clients/libpoet/interpose/call_variant.h"
#include "clients/libpoet/core/thread.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#pragma GCC visibility push(hidden)

int follow_lock(uintptr_t site, enum call_variant how, pthread_mutex_t *m, clockid_t clock,
                const struct timespec *ts);
int follow_unlock(uintptr_t site, pthread_mutex_t *m);
/* Returns the hold of a mutex whose acquisition was not recorded, which is tracked from here on;
 * NULL if the thread does not hold it. */
struct object_hold *follow_held(uintptr_t site, struct traced_thread *thread, pthread_mutex_t *m);
void follow_mutex_made(uintptr_t site, pthread_mutex_t *m);

#pragma GCC visibility pop
#endif
