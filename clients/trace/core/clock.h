/* The clock of the slots. */
#ifndef CLIENTS_TRACE_CORE_CLOCK_H
#define CLIENTS_TRACE_CORE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

uint64_t clock_now(void);
extern _Atomic bool clock_ticks; /* slots of new queues bear the time-stamp counter */
void clock_begin(void);
void clock_forbidden(void); /* from here on the counter is not read, nor anything that reads it */

#pragma GCC visibility pop
#endif
