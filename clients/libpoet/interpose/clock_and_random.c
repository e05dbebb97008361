/* Clocks and random numbers: calls with other results in each run. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/input_calls.h"
#include "clients/libpoet/core/interposer.h"
#include "base/likely.h"
#include "clients/libpoet/core/modules.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#undef clock_gettime /* libc_calls.h */
#undef getrandom
#undef getrusage

/* ---- clocks ---- */

INPUT_EXPORTED time_t time(time_t *to)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t))
        return find_time()(to);
    struct input call = {.call = INPUT_TIME};
    time_t result =
        input_call_replay_bytes(t, &call, NULL, 0) ? (time_t)call.result : find_time()(NULL);
    input_call_end(t, &call, result, NULL, 0);
    if (to)
        *to = result;
    return result;
}

INPUT_EXPORTED int gettimeofday(struct timeval *tv, void *zone)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    void *to = tv;
    __asm__("" : "+r"(to)); /* (declared nonnull, but may be NULL) */
    if (LIKELY(!t) || !to)
        return find_gettimeofday()(tv, zone);
    struct input call = {.call = INPUT_GETTIMEOFDAY};
    int result = input_call_replay_bytes(t, &call, tv, sizeof *tv) ? (int)call.result
                                                                   : find_gettimeofday()(tv, zone);
    input_call_end(t, &call, result, tv, result < 0 ? 0 : sizeof *tv);
    return result;
}

INPUT_EXPORTED int clock_gettime(clockid_t clock, struct timespec *ts)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t))
        return find_clock_gettime()(clock, ts);
    struct input call = {.call = INPUT_CLOCK, .asked = (uint32_t)clock};
    int result = input_call_replay_bytes(t, &call, ts, sizeof *ts)
                     ? (int)call.result
                     : find_clock_gettime()(clock, ts);
    input_call_end(t, &call, result, ts, result < 0 ? 0 : sizeof *ts);
    return result;
}

INPUT_EXPORTED int timespec_get(struct timespec *ts, int base)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t))
        return find_timespec_get()(ts, base);
    struct input call = {.call = INPUT_TIMESPEC_GET, .asked = (uint32_t)base};
    int result = input_call_replay_bytes(t, &call, ts, sizeof *ts) ? (int)call.result
                                                                   : find_timespec_get()(ts, base);
    input_call_end(t, &call, result, ts, result > 0 ? sizeof *ts : 0);
    return result;
}

INPUT_EXPORTED clock_t clock(void)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t))
        return find_clock()();
    struct input call = {.call = INPUT_PROCESSOR};
    clock_t result =
        input_call_replay_bytes(t, &call, NULL, 0) ? (clock_t)call.result : find_clock()();
    input_call_end(t, &call, result, NULL, 0);
    return result;
}

INPUT_EXPORTED clock_t times(struct tms *to)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t))
        return find_times()(to);
    struct input call = {.call = INPUT_TIMES};
    size_t room = to ? sizeof *to : 0;
    clock_t result =
        input_call_replay_bytes(t, &call, to, room) ? (clock_t)call.result : find_times()(to);
    input_call_end(t, &call, result, to, result < 0 ? 0 : room);
    return result;
}

INPUT_EXPORTED int getrusage(__rusage_who_t whose, struct rusage *to)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t))
        return find_getrusage()((int)whose, to);
    struct input call = {.call = INPUT_GETRUSAGE, .asked = (uint32_t)(int)whose};
    int result = input_call_replay_bytes(t, &call, to, sizeof *to)
                     ? (int)call.result
                     : find_getrusage()((int)whose, to);
    input_call_end(t, &call, result, to, result < 0 ? 0 : sizeof *to);
    return result;
}

/* ---- bytes ---- */

INPUT_EXPORTED ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t))
        return find_getrandom()(bytes, size, flags);
    struct input call = {.call = INPUT_GETRANDOM, .asked = size};
    ssize_t result = input_call_replay_bytes(t, &call, bytes, size)
                         ? (ssize_t)call.result
                         : find_getrandom()(bytes, size, flags);
    input_call_end(t, &call, result, bytes, result < 0 ? 0 : (size_t)result);
    return result;
}

INPUT_EXPORTED int getentropy(void *bytes, size_t size)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t))
        return find_getentropy()(bytes, size);
    struct input call = {.call = INPUT_GETENTROPY, .asked = size};
    int result = input_call_replay_bytes(t, &call, bytes, size) ? (int)call.result
                                                                : find_getentropy()(bytes, size);
    input_call_end(t, &call, result, bytes, result < 0 ? 0 : size);
    return result;
}

INPUT_EXPORTED void arc4random_buf(void *bytes, size_t size);
INPUT_EXPORTED void arc4random_buf(void *bytes, size_t size)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t)) {
        find_arc4random_buf()(bytes, size);
        return;
    }
    struct input call = {.call = INPUT_ARC4RANDOM_BUF, .asked = size};
    if (!input_call_replay_bytes(t, &call, bytes, size))
        find_arc4random_buf()(bytes, size);
    input_call_end(t, &call, 0, bytes, size);
}

/* ---- numbers ---- */

/* (as a nonnegative integer, since a negative one would be an error) */
#define NUMBER(type, bits, name, which)                                                            \
    INPUT_EXPORTED type name(void);                                                                \
    INPUT_EXPORTED type name(void)                                                                 \
    {                                                                                              \
        struct traced_thread *t = INPUT_CALL_THREAD;                                               \
        if (LIKELY(!t))                                                                            \
            return find_##name()();                                                                \
        struct input call = {.call = which};                                                       \
        type number = input_call_replay_bytes(t, &call, NULL, 0) ? (type)(bits)call.result         \
                                                                 : find_##name()();                \
        input_call_end(t, &call, (uint32_t)number, NULL, 0);                                       \
        return number;                                                                             \
    }
NUMBER(int, int32_t, rand, INPUT_RAND)
NUMBER(long, int32_t, random, INPUT_RANDOM)
NUMBER(unsigned, uint32_t, arc4random, INPUT_ARC4RANDOM)

INPUT_EXPORTED unsigned arc4random_uniform(unsigned below);
INPUT_EXPORTED unsigned arc4random_uniform(unsigned below)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t))
        return find_arc4random_uniform()(below);
    struct input call = {.call = INPUT_ARC4RANDOM_UNIFORM, .asked = below};
    unsigned number = input_call_replay_bytes(t, &call, NULL, 0) ? (unsigned)call.result
                                                                 : find_arc4random_uniform()(below);
    input_call_end(t, &call, number, NULL, 0);
    return number;
}

#if !defined(POET_STATIC) /* (in static programs the C library has no other names for them) */
NUMBER(long, int32_t, lrand48, INPUT_LRAND48)
NUMBER(long, int32_t, mrand48, INPUT_MRAND48)

INPUT_EXPORTED double drand48(void)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t))
        return find_drand48()();
    struct input call = {.call = INPUT_DRAND48};
    double number = 0;
    if (!input_call_replay_bytes(t, &call, &number, sizeof number))
        number = find_drand48()();
    input_call_end(t, &call, 0, &number, sizeof number);
    return number;
}
#endif
