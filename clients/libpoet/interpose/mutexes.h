/* Mutexes and spin locks, by whichever name. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_MUTEXES_H
#define CLIENTS_LIBPOET_INTERPOSE_MUTEXES_H

#include "clients/libpoet/core/thread.h"

#include <pthread.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Returns the hold of a mutex without a recorded acquisition, which is tracked from here on;
 * NULL if the thread does not hold it. */
struct object_hold *mutex_held(uintptr_t site, struct traced_thread *thread, pthread_mutex_t *m);

#pragma GCC visibility pop
#endif
