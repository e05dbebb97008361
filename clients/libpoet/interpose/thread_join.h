/* Joining and detaching threads, by whichever name. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_THREAD_JOIN_H
#define CLIENTS_LIBPOET_INTERPOSE_THREAD_JOIN_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#pragma GCC visibility push(hidden)

int follow_join(uintptr_t site, pthread_t id, void **result, const clockid_t *clock,
                const struct timespec *deadline);
int follow_detach(uintptr_t site, pthread_t id);

#pragma GCC visibility pop
#endif
