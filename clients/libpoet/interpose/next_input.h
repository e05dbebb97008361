/* The next definitions of interposed input calls: the C library's, or those of another interposing
 * library. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_NEXT_INPUT_H
#define CLIENTS_LIBPOET_INTERPOSE_NEXT_INPUT_H

#include "base/likely.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* Result, name, parameters, and what a static C library calls it as well. */
/* clang-format off */
#define NEXT_INPUT_CALLS(C)                                                        \
    C(ssize_t, read, (int, void *, size_t), __libc_read)                           \
    C(ssize_t, readv, (int, const struct iovec *, int), __readv)                   \
    C(ssize_t, pread, (int, void *, size_t, off_t), __libc_pread)                  \
    C(ssize_t, pread64, (int, void *, size_t, off64_t), __libc_pread64)            \
    C(ssize_t, recv, (int, void *, size_t, int), __libc_recv)                      \
    C(ssize_t, recvfrom,                                                           \
      (int, void *, size_t, int, struct sockaddr *, socklen_t *), __libc_recvfrom) \
    C(ssize_t, recvmsg, (int, struct msghdr *, int), __libc_recvmsg)               \
    C(ssize_t, getrandom, (void *, size_t, unsigned), __getrandom)                 \
    C(int, clock_gettime, (clockid_t, struct timespec *), __clock_gettime)         \
    C(long, random, (void), __random)                                              \
    C(unsigned, arc4random, (void), __arc4random)                                  \
    C(void, arc4random_buf, (void *, size_t), __arc4random_buf)                    \
    C(unsigned, arc4random_uniform, (unsigned), __arc4random_uniform)
/* Calls that are derived from those above where they have no other name. */
#define NEXT_INPUT_DERIVED(C)                                             \
    C(ssize_t, __read_chk, (int, void *, size_t, size_t))                 \
    C(ssize_t, __pread_chk, (int, void *, size_t, off_t, size_t))         \
    C(ssize_t, __pread64_chk, (int, void *, size_t, off64_t, size_t))     \
    C(ssize_t, __recv_chk, (int, void *, size_t, size_t, int))            \
    C(ssize_t, __recvfrom_chk,                                            \
      (int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *)) \
    C(int, getentropy, (void *, size_t))                                  \
    C(time_t, time, (time_t *))                                           \
    C(int, gettimeofday, (struct timeval *, void *))                      \
    C(int, timespec_get, (struct timespec *, int))                        \
    C(clock_t, clock, (void))                                             \
    C(clock_t, times, (struct tms *))                                     \
    C(int, getrusage, (int, struct rusage *))                             \
    C(int, rand, (void))
/* Neither: there are none in static programs. */
#define NEXT_INPUT_SHARED(C) \
    C(long, lrand48, (void)) \
    C(long, mrand48, (void)) \
    C(double, drand48, (void))
/* clang-format on */

extern struct next_input_calls {
#define C(result, name, parameters) result(*name) parameters;
#define WITH_OTHER(result, name, parameters, other) C(result, name, parameters)
    NEXT_INPUT_CALLS(WITH_OTHER)
    NEXT_INPUT_DERIVED(C)
    NEXT_INPUT_SHARED(C)
#undef WITH_OTHER
#undef C
} next_input;

void next_input_find(void); /* Looks all of them up. */

/* find_read() and so on return the function to call. */
#define C(result, name, parameters)                                                                \
    result(*behind_##name(void)) parameters;                                                       \
    static inline result(*find_##name(void)) parameters                                            \
    {                                                                                              \
        return LIKELY(next_input.name) ? next_input.name : behind_##name();                        \
    }
#define WITH_OTHER(result, name, parameters, other) C(result, name, parameters)
NEXT_INPUT_CALLS(WITH_OTHER)
NEXT_INPUT_DERIVED(C)
NEXT_INPUT_SHARED(C)
#undef WITH_OTHER
#undef C

#pragma GCC visibility pop
#endif
