/* Eventfds: a number that is added to and taken from. */
#ifndef CLIENTS_TRACE_PROCESS_COUNTS_H
#define CLIENTS_TRACE_PROCESS_COUNTS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

uint64_t count_key(int fd); /* 0: none that was seen from its beginning */
void count_made(int fd);
void count_add(uint64_t key, const void *site);  /* before, */
void count_took(uint64_t key, const void *site); /* and after the call */
void count_seen(uint64_t key, const void *site); /* there is something to be taken */

#pragma GCC visibility pop
#endif
