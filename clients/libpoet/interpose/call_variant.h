/* Variants of a call: which form of it was made. <threads.h> is in glibc the same implementation as
 * pthread.h under other names: results are translated as in glibc. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_CALL_VARIANT_H
#define CLIENTS_LIBPOET_INTERPOSE_CALL_VARIANT_H

#include <errno.h>
#include <stdbool.h>
#include <threads.h>
#include <time.h>

#pragma GCC visibility push(hidden)

enum call_variant { CALL_VARIANT_LOCK, CALL_VARIANT_TRY, CALL_VARIANT_TIMED, CALL_VARIANT_CLOCK };

/* Returns whether the time is valid; otherwise the call fails. */
static inline bool call_variant_is_valid_time(const struct timespec *ts)
{
    return ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000;
}

/* Returns the result of a call of <threads.h> for an error of its pthread call. */
static inline int call_variant_c11_result(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

#pragma GCC visibility pop
#endif
