/* Eventfds: counters that are added to and consumed. */
#ifndef CLIENTS_LIBPOET_IPC_EVENTFDS_H
#define CLIENTS_LIBPOET_IPC_EVENTFDS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Returns the key of an eventfd, 0 if it was not traced from its beginning. */
uint64_t eventfd_counter_key(int fd);
void eventfd_counter_created(int fd);
void eventfd_counter_add(uint64_t key, const void *site);  /* Called before, */
void eventfd_counter_taken(uint64_t key, const void *site); /* and after the call. */
void eventfd_counter_seen(uint64_t key, const void *site); /* The counter is not zero. */

#pragma GCC visibility pop
#endif
