/* Eventfds: a number that is added to and taken from. */
#ifndef CLIENTS_LIBPOET_IPC_EVENTFDS_H
#define CLIENTS_LIBPOET_IPC_EVENTFDS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

uint64_t eventfd_counter_key(int fd); /* 0: none that was seen from its beginning */
void eventfd_counter_created(int fd);
void eventfd_counter_add(uint64_t key, const void *site);  /* before, */
void eventfd_counter_taken(uint64_t key, const void *site); /* and after the call */
void eventfd_counter_seen(uint64_t key, const void *site); /* there is something to be taken */

#pragma GCC visibility pop
#endif
