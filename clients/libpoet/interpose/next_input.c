/* The next definitions of interposed input calls, looked up once. In a static program nothing can
 * be looked up. There the interposed calls are weak, so that a program may define its own (their
 * names are ordinary words), and the C library's are called by their other names. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/next_input.h"

#include "clients/libpoet/core/libc_calls.h"
#include "clients/libpoet/next_symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

struct next_input_calls next_input;
static __thread bool looking_up __attribute__((tls_model("initial-exec")));

/* ---- without the C library ---- */

/* A call that arrives here during a symbol lookup makes the bare system call. */
static ssize_t bare_read(int fd, void *bytes, size_t size)
{
    return syscall(SYS_read, fd, bytes, size);
}
static ssize_t bare_readv(int fd, const struct iovec *iov, int count)
{
    return syscall(SYS_readv, fd, iov, count);
}
static ssize_t bare_pread64(int fd, void *bytes, size_t size, off64_t at)
{
    return syscall(SYS_pread64, fd, bytes, size, at);
}
static ssize_t bare_pread(int fd, void *bytes, size_t size, off_t at)
{
    return bare_pread64(fd, bytes, size, at);
}
static ssize_t bare_recvfrom(int fd, void *bytes, size_t size, int flags, struct sockaddr *from,
                             socklen_t *room)
{
    return syscall(SYS_recvfrom, fd, bytes, size, flags, from, room);
}
static ssize_t bare_recv(int fd, void *bytes, size_t size, int flags)
{
    return bare_recvfrom(fd, bytes, size, flags, NULL, NULL);
}
static ssize_t bare_recvmsg(int fd, struct msghdr *m, int flags)
{
    return syscall(SYS_recvmsg, fd, m, flags);
}
static ssize_t bare_getrandom(void *bytes, size_t size, unsigned flags)
{
    return syscall(SYS_getrandom, bytes, size, flags);
}
static int bare_clock_gettime(clockid_t clock, struct timespec *ts)
{
    return (int)syscall(SYS_clock_gettime, clock, ts);
}
static void bare_arc4random_buf(void *bytes, size_t size)
{
    for (uint8_t *at = bytes; size;) {
        ssize_t n = bare_getrandom(at, size, 0);
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}
static unsigned bare_arc4random(void)
{
    unsigned number;
    bare_arc4random_buf(&number, sizeof number);
    return number;
}
static unsigned bare_arc4random_uniform(unsigned below)
{
    unsigned number, uneven = below ? -below % below : 0;
    do
        number = bare_arc4random();
    while (number < uneven);
    return below ? number % below : 0;
}
static long bare_random(void) { return 0; }

/* ---- derived from other calls ---- */

/* the C library's: terminates the program */
extern void __chk_fail(void) __attribute__((noreturn));

static size_t next_input_checked_size(size_t size, size_t room)
{
    if (size > room)
        __chk_fail();
    return size;
}
static ssize_t bare___read_chk(int fd, void *bytes, size_t size, size_t room)
{
    return find_read()(fd, bytes, next_input_checked_size(size, room));
}
static ssize_t bare___pread_chk(int fd, void *bytes, size_t size, off_t at, size_t room)
{
    return find_pread()(fd, bytes, next_input_checked_size(size, room), at);
}
static ssize_t bare___pread64_chk(int fd, void *bytes, size_t size, off64_t at, size_t room)
{
    return find_pread64()(fd, bytes, next_input_checked_size(size, room), at);
}
static ssize_t bare___recv_chk(int fd, void *bytes, size_t size, size_t room, int flags)
{
    return find_recv()(fd, bytes, next_input_checked_size(size, room), flags);
}
static ssize_t bare___recvfrom_chk(int fd, void *bytes, size_t size, size_t room, int flags,
                                   struct sockaddr *from, socklen_t *from_room)
{
    return find_recvfrom()(fd, bytes, next_input_checked_size(size, room), flags, from, from_room);
}
static int bare_getentropy(void *bytes, size_t size)
{
    if (size > 256) {
        errno = EIO;
        return -1;
    }
    bare_arc4random_buf(bytes, size);
    return 0;
}
static time_t bare_time(time_t *to)
{
    struct timespec ts = {0};
    find_clock_gettime()(CLOCK_REALTIME_COARSE, &ts);
    if (to)
        *to = ts.tv_sec;
    return ts.tv_sec;
}
static int bare_gettimeofday(struct timeval *tv, void *zone)
{
    struct timespec ts = {0};
    if (zone)
        memset(zone, 0, sizeof(struct timezone));
    int result = find_clock_gettime()(CLOCK_REALTIME, &ts);
    if (result == 0)
        *tv = (struct timeval){ts.tv_sec, ts.tv_nsec / 1000};
    return result;
}
static int bare_timespec_get(struct timespec *ts, int base)
{
    return base == TIME_UTC && find_clock_gettime()(CLOCK_REALTIME, ts) == 0 ? base : 0;
}
static clock_t bare_clock(void)
{
    struct timespec ts;
    if (find_clock_gettime()(CLOCK_PROCESS_CPUTIME_ID, &ts) != 0)
        return -1;
    return ts.tv_sec * CLOCKS_PER_SEC + ts.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}
static clock_t bare_times(struct tms *to) { return syscall(SYS_times, to); }
static int bare_getrusage(int whose, struct rusage *to)
{
    return (int)syscall(SYS_getrusage, whose, to);
}
static int bare_rand(void) { return (int)find_random()(); }
static long bare_lrand48(void) { return 0; }
static long bare_mrand48(void) { return 0; }
static double bare_drand48(void) { return 0; }

/* ---- found ---- */

#if defined(POET_STATIC)
/* (a program with a sanitizer links libpoet dynamically, and is not static) */
#pragma weak dlsym
static void *look_up(const char *name)
{
    return getauxval(AT_BASE) && dlsym ? dlsym(RTLD_NEXT, name) : NULL;
}
#define C(result, name, parameters, other) extern result other parameters __attribute__((weak));
NEXT_INPUT_CALLS(C)
#undef C
#define OTHER(other) other
#else
static void *look_up(const char *name) { return next_call(name); }
#define OTHER(other) NULL
#endif

/* Sets the functions that libpoet itself calls, which must not be interposed ones. */
static void next_input_set_own_calls(void)
{
#if defined(POET_STATIC)
    libc_calls.read = next_input.read;
    libc_calls.pread = next_input.pread;
    libc_calls.recvmsg = next_input.recvmsg;
    libc_calls.getrandom = next_input.getrandom;
    libc_calls.getrusage = next_input.getrusage;
    libc_calls.clock_gettime = next_input.clock_gettime;
#else
    libc_calls_find();
#endif
}

void next_input_find(void)
{
    void *found;
    int saved = errno;
    looking_up = true;
#define C(result, name, parameters, other)                                                         \
    if ((found = look_up(#name)) != NULL)                                                          \
        *(void **)&next_input.name = found;                                                        \
    else                                                                                           \
        next_input.name = OTHER(other) ? OTHER(other) : bare_##name;
    NEXT_INPUT_CALLS(C)
#undef C
#define C(result, name, parameters)                                                                \
    if ((found = look_up(#name)) != NULL)                                                          \
        *(void **)&next_input.name = found;                                                        \
    else                                                                                           \
        next_input.name = bare_##name;
    NEXT_INPUT_DERIVED(C)
    NEXT_INPUT_SHARED(C)
#undef C
    next_input_set_own_calls();
    looking_up = false;
    errno = saved;
}

#define C(result, name, parameters)                                                                \
    result(*behind_##name(void)) parameters                                                        \
    {                                                                                              \
        if (!looking_up)                                                                           \
            next_input_find();                                                                     \
        return next_input.name ? next_input.name : bare_##name;                                    \
    }
#define WITH_OTHER(result, name, parameters, other) C(result, name, parameters)
NEXT_INPUT_CALLS(WITH_OTHER)
NEXT_INPUT_DERIVED(C)
NEXT_INPUT_SHARED(C)
#undef WITH_OTHER
#undef C
