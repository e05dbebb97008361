/* Variants of a call: which form of it was made. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_CALL_VARIANT_H
#define CLIENTS_LIBPOET_INTERPOSE_CALL_VARIANT_H

#include <stdbool.h>
#include <time.h>

#pragma GCC visibility push(hidden)

enum call_variant { CALL_VARIANT_LOCK, CALL_VARIANT_TRY, CALL_VARIANT_TIMED, CALL_VARIANT_CLOCK };

/* Returns whether the time is valid; otherwise the call fails. */
static inline bool call_variant_is_valid_time(const struct timespec *ts)
{
    return ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000;
}

#pragma GCC visibility pop
#endif
