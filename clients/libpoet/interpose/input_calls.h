/* Input: what calls of the program bring from outside of the run (wire/recorded_input.h), and which
 * descriptors it comes from. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_INPUT_CALLS_H
#define CLIENTS_LIBPOET_INTERPOSE_INPUT_CALLS_H

#include "base/likely.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/replay/replayed_input.h"
#include "wire/recorded_input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* ---- the next definitions: the C library's, or those of another interposing library ---- */

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

/* ---- input ---- */

struct traced_thread;

/* ---- descriptors ---- */

/* Returns whether the descriptor gets input from outside of the run. */
bool external_fd_is_external(int fd);
/* Returns whether the socket receives datagrams from any sender, so that each must be checked. */
bool external_fd_is_per_sender(int fd);
/* Returns whether the sender is outside of the run. */
bool external_fd_is_remote_sender(const struct sockaddr_storage *sender);
/* Skips replayed input, so that it is not read again. */
void external_fd_skip(int fd, int64_t bytes);

/* ---- the beginning ---- */

/* Finds the interposed functions; must be called before signals arrive. */
void input_call_find_functions(void);
/* Reads POET_INPUT and POET_REPLAY_INPUT. first: this is the first program of the run; its pipes
 * are external. */
void input_call_begin(bool first);
/* Reports what will not be recorded, once there is a thread that can. */
void input_call_report_stdio(void);
/* The calling thread enters a signal handler, or leaves it (-1). */
void input_call_enter_handler(int enters);

/* ---- for the calls ---- */

/* Returns the thread that calls from a site of the program; NULL if the call is not recorded. */
struct traced_thread *input_call_thread(uintptr_t site);

/* Replays the call. Returns true, with result and errno set, if it was recorded. */
bool input_call_replay(struct traced_thread *thread, struct input *call,
                       struct replayed_input *given);
/* Does the same and copies up to `room` bytes of its input. */
bool input_call_replay_bytes(struct traced_thread *thread, struct input *call, void *bytes,
                             size_t room);
/* Records the call when it has returned: its result, or errno if negative, and its bytes. */
void input_call_end(struct traced_thread *thread, struct input *call, int64_t result,
                    const void *bytes, size_t size);

/* Input of a call that is scattered: in leading buffers, then in the program's, up to `size`
 * bytes. */
#define INPUT_FRONT 3
struct input_buffers {
    struct iovec front[INPUT_FRONT];
    const struct iovec *iov;
    size_t count, size;
};
void input_call_end_vector(struct traced_thread *thread, struct input *call, int64_t result,
                           const struct input_buffers *brought);

/* Ends the call without recording: its input was sent on this machine. */
void input_call_end_local(struct traced_thread *thread, struct input *call);

#if defined(POET_STATIC) /* the program may define functions of that name (poetcc) */
#define INPUT_EXPORTED __attribute__((visibility("default"), weak))
#else
#define INPUT_EXPORTED __attribute__((visibility("default")))
#endif
#define INPUT_CALL_THREAD                                                                          \
    (LIKELY(!tracer.input.is_traced) ? NULL : input_call_thread(site_of_program(SITE)))

#pragma GCC visibility pop
#endif
