/* One-time initialization (pthread_once, call_once), by whichever name. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_ONCE_CALLS_H
#define CLIENTS_LIBPOET_INTERPOSE_ONCE_CALLS_H

#include <pthread.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

int follow_once(uintptr_t site, pthread_once_t *flag, void (*function)(void));

#pragma GCC visibility pop
#endif
