/* Waiting on condition variables and waking, by whichever name. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_CONDITIONS_H
#define CLIENTS_LIBPOET_INTERPOSE_CONDITIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#pragma GCC visibility push(hidden)

int follow_wait(uintptr_t site, pthread_cond_t *c, pthread_mutex_t *m, const clockid_t *clock,
                const struct timespec *ts);
int follow_signal(uintptr_t site, pthread_cond_t *c, bool broadcast);

#pragma GCC visibility pop
#endif
