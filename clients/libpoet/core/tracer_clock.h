/* The clock of timestamps in slots. */
#ifndef CLIENTS_LIBPOET_CORE_TRACER_CLOCK_H
#define CLIENTS_LIBPOET_CORE_TRACER_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The time-stamp counter, where there is one that can be read. */
#if defined(__x86_64__)
#define CLOCK_TICKS() __builtin_ia32_rdtsc()
#else
#define CLOCK_TICKS() 0
#endif

uint64_t tracer_clock_now(void); /* Returns the monotonic time in ns. */
/* Returns the host name that a test gives to this machine, or NULL. */
const char *tracer_clock_host(void);
/* Returns the time in the unit of a queue (QUEUE_CLOCK_...), without the counter. */
uint64_t tracer_clock_now_in_unit(uint32_t unit);
void tracer_clock_begin(void);
void tracer_clock_forbidden(
    void); /* From here on neither the counter is read, nor anything that reads it. */

#pragma GCC visibility pop
#endif
