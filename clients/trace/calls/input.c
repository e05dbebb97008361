/* Calls that bring something from outside: what they return is recorded (POET_INPUT), and given back in a run that is
 * repeated.
 *
 * Pipes and socketpairs that the run made itself bring nothing from outside.  Calls in signal handlers pass through, and are
 * counted: when a signal comes is not repeated.  Only what the program itself calls is looked at.
 * Where nothing is wanted a call goes on by a jump: whoever stands behind us sees who made it.  Not in static programs. */
#define _GNU_SOURCE
#include "clients/trace/calls/input.h"

#include "clients/trace/core/environ.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/likely.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/text.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/given.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#if defined(POET_STATIC)

void input_find(void) {}
void input_begin(bool first) {}
void input_handler(int enters) {}

#else

#undef read /* libc.h */
#undef clock_gettime

#define INHERITED 3u /* descriptors that may be pipes from outside: the standard ones */
#define PIPES 0x50495045 /* what statfs(2) calls the file system of pipes without names */

static bool looks, gives, records; /* set at the start and never changed */
static struct {
    dev_t device;
    ino_t inode;
    bool is;
} inherited[INHERITED];
static _Atomic uint64_t recorded_bytes; /* by this process */
static __thread struct {
    int handlers; /* that the thread is in */
    uint32_t life; /* of which the next is so: a child tells it anew */
    bool looking_up;
    bool cut, told; /* nothing more is recorded; which the server knows */
    uint64_t passed;
} mine __attribute__((tls_model("initial-exec")));

/* ---- what we stand before ---- */

/* clang-format off */
#define CALLS(C)                                                                                   \
    C(ssize_t, read, (int, void *, size_t))                                                        \
    C(ssize_t, recv, (int, void *, size_t, int))                                                   \
    C(ssize_t, __read_chk, (int, void *, size_t, size_t))                                          \
    C(ssize_t, __recv_chk, (int, void *, size_t, size_t, int))                                     \
    C(ssize_t, getrandom, (void *, size_t, unsigned))                                              \
    C(time_t, time, (time_t *))                                                                    \
    C(int, gettimeofday, (struct timeval *, void *))                                               \
    C(int, clock_gettime, (clockid_t, struct timespec *))                                          \
    C(int, rand, (void))
/* clang-format on */

static struct {
#define C(result, name, parameters) result(*name) parameters;
    CALLS(C)
#undef C
} next;

/* Whoever comes here while a symbol is looked up gets the bare system call. */
static ssize_t bare_read(int fd, void *bytes, size_t size)
{
    return syscall(SYS_read, fd, bytes, size);
}
static ssize_t bare_recv(int fd, void *bytes, size_t size, int flags)
{
    return syscall(SYS_recvfrom, fd, bytes, size, flags, NULL, NULL);
}
/* (what the compiler checks: there is room for so many bytes) */
static ssize_t bare___read_chk(int fd, void *bytes, size_t size, size_t room)
{
    return bare_read(fd, bytes, size < room ? size : room);
}
static ssize_t bare___recv_chk(int fd, void *bytes, size_t size, size_t room, int flags)
{
    return bare_recv(fd, bytes, size < room ? size : room, flags);
}
static ssize_t bare_getrandom(void *bytes, size_t size, unsigned flags)
{
    return syscall(SYS_getrandom, bytes, size, flags);
}
static int bare_clock_gettime(clockid_t clock, struct timespec *ts)
{
    return (int)syscall(SYS_clock_gettime, clock, ts);
}
static int bare_gettimeofday(struct timeval *tv, void *zone)
{
    return (int)syscall(SYS_gettimeofday, tv, zone);
}
static time_t bare_time(time_t *to)
{
    struct timespec ts = {0};
    bare_clock_gettime(CLOCK_REALTIME, &ts);
    if (to)
        *to = ts.tv_sec;
    return ts.tv_sec;
}
static int bare_rand(void) { return 0; }

void input_find(void)
{
    int saved = errno;
    mine.looking_up = true;
#define C(result, name, parameters) *(void **)&next.name = dlsym(RTLD_NEXT, #name);
    CALLS(C)
#undef C
    mine.looking_up = false;
    errno = saved;
}

#define FIND(result, name, parameters)                                                             \
    static result(*find_##name(void)) parameters                                                   \
    {                                                                                              \
        if (!LIKELY(next.name != NULL) && !mine.looking_up)                                        \
            input_find();                                                                          \
        return LIKELY(next.name != NULL) ? next.name : bare_##name;                                \
    }
CALLS(FIND)
#undef FIND

/* ---- recording ---- */

static bool tell(struct thread *t, const struct input *input)
{
    busy_begin(t);
    struct out body = message_room(t, NULL, 0, INPUT_HEAD_BYTES + input->size);
    if (!body.failed)
        put_input(&body, input);
    bool told = !body.failed && tell_control(t, MESSAGE_INPUT, &body);
    busy_end(t);
    return told;
}

static void tell_rest(struct thread *t)
{
    if (mine.passed &&
        tell(t, &(struct input){.flags = INPUT_PASSED, .result = (int64_t)mine.passed}))
        mine.passed = 0;
    if (mine.cut && !mine.told)
        mine.told = tell(t, &(struct input){.flags = INPUT_CUT});
}

static bool tell_pieces(struct thread *t, struct input call, const uint8_t *bytes, size_t size)
{
    size_t done = 0;
    do {
        call.size = size - done < INPUT_PIECE_BYTES ? (uint32_t)(size - done) : INPUT_PIECE_BYTES;
        call.bytes = bytes + done;
        done += call.size;
        call.flags = done < size ? INPUT_MORE : 0;
        if (!tell(t, &call))
            return false;
    } while (done < size);
    return true;
}

static void record(struct thread *t, const struct input *call, const void *bytes, size_t size)
{
    uint64_t all = size + (size / INPUT_PIECE_BYTES + 1) * INPUT_HEAD_BYTES;
    static const uint8_t nothing[1];
    int saved = errno;
    if (mine.life != t->life) {
        mine.life = t->life;
        mine.cut = mine.told = false;
    }
    if (!mine.cut)
        mine.cut = atomic_fetch_add(&recorded_bytes, all) + all > LIMIT_INPUT_BYTES ||
                   !tell_pieces(t, *call, size ? bytes : nothing, size);
    if (mine.passed || (mine.cut && !mine.told))
        tell_rest(t);
    errno = saved;
}

/* ---- which calls ---- */

void input_handler(int enters) { mine.handlers += enters; }

/* NULL: it is not looked at. */
static struct thread *who(uintptr_t site)
{
    struct thread *t = site ? thread_recording() : NULL;
    if (t && !mine.handlers)
        return t;
    mine.passed += t != NULL && records;
    return NULL;
}

static bool is_inherited(const struct stat *st)
{
    for (unsigned i = 0; i < INHERITED; i++)
        if (inherited[i].is && inherited[i].device == st->st_dev &&
            inherited[i].inode == st->st_ino)
            return true;
    return false;
}

static bool is_named_pipe(int fd)
{
    struct statfs fs;
    return syscall(SYS_fstatfs, fd, &fs) == 0 && fs.f_type != PIPES;
}

static bool is_far(int fd)
{
    struct sockaddr_storage peer = {0};
    socklen_t size = sizeof peer;
    if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0)
        return false;
    const struct sockaddr_in *four = (const void *)&peer;
    const struct sockaddr_in6 *six = (const void *)&peer;
    if (peer.ss_family == AF_INET)
        return ntohl(four->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
    return peer.ss_family == AF_INET6 && !IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) &&
           !(IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) && six->sin6_addr.s6_addr[12] == IN_LOOPBACKNET);
}

/* Bytes of it come from outside of the run. */
static bool is_outside(int fd)
{
    struct stat st;
    int saved = errno;
    bool is = fstat(fd, &st) == 0 &&
              (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) ||
               (S_ISFIFO(st.st_mode) && (is_inherited(&st) || is_named_pipe(fd))) ||
               (S_ISSOCK(st.st_mode) && (is_inherited(&st) || is_far(fd))));
    errno = saved;
    return is;
}

/* What was read is not there to be read again. */
static void move_on(int fd, int64_t bytes)
{
    struct stat st;
    int saved = errno;
    off_t at =
        bytes > 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    if (at >= 0 && at < st.st_size)
        lseek(fd, at + bytes < st.st_size ? at + (off_t)bytes : st.st_size, SEEK_SET);
    errno = saved;
}

/* Was it given back?  Then result and errno are there. */
static bool give(struct thread *t, struct input *call, void *bytes, size_t room)
{
    int saved = errno;
    bool given = gives && given_take(t, call, bytes, room);
    errno = given && call->result < 0 ? (int)call->error : saved;
    return given;
}

static void end(struct thread *t, struct input *call, int64_t result, const void *bytes,
                size_t room)
{
    call->result = result;
    call->error = result < 0 ? (uint32_t)errno : 0;
    uint64_t there = result < 0 ? 0 : (uint64_t)result < room ? (uint64_t)result : room;
    if (records)
        record(t, call, bytes, (size_t)there);
}

/* ---- the calls ---- */

#define EXPORTED __attribute__((visibility("default")))

static ssize_t transfer(struct thread *t, struct input *call, int fd, void *bytes, size_t size,
                        int flags)
{
    ssize_t result;
    if (give(t, call, bytes, size)) {
        result = (ssize_t)call->result;
        move_on(fd, call->result);
    } else if (call->call == INPUT_READ) {
        result = find_read()(fd, bytes, size);
    } else {
        result = find_recv()(fd, bytes, size, flags);
    }
    end(t, call, result, bytes, size);
    return result;
}

EXPORTED ssize_t read(int fd, void *bytes, size_t size)
{
    struct thread *t = LIKELY(!looks) ? NULL : who(site_of_program(SITE));
    if (LIKELY(!t) || !is_outside(fd))
        return find_read()(fd, bytes, size);
    return transfer(t, &(struct input){.call = INPUT_READ, .asked = size}, fd, bytes, size, 0);
}

EXPORTED ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
    struct thread *t = LIKELY(!looks) ? NULL : who(site_of_program(SITE));
    if (LIKELY(!t) || !is_outside(fd))
        return find_recv()(fd, bytes, size, flags);
    return transfer(t, &(struct input){.call = INPUT_RECV, .asked = size}, fd, bytes, size, flags);
}

/* The same as _FORTIFY_SOURCE calls them; where there is no room the real one ends the program. */
EXPORTED ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room);
EXPORTED ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room)
{
    struct thread *t = LIKELY(!looks) || size > room ? NULL : who(site_of_program(SITE));
    if (LIKELY(!t) || !is_outside(fd))
        return find___read_chk()(fd, bytes, size, room);
    return transfer(t, &(struct input){.call = INPUT_READ, .asked = size}, fd, bytes, size, 0);
}

EXPORTED ssize_t __recv_chk(int fd, void *bytes, size_t size, size_t room, int flags);
EXPORTED ssize_t __recv_chk(int fd, void *bytes, size_t size, size_t room, int flags)
{
    struct thread *t = LIKELY(!looks) || size > room ? NULL : who(site_of_program(SITE));
    if (LIKELY(!t) || !is_outside(fd))
        return find___recv_chk()(fd, bytes, size, room, flags);
    return transfer(t, &(struct input){.call = INPUT_RECV, .asked = size}, fd, bytes, size, flags);
}

EXPORTED ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    struct thread *t = LIKELY(!looks) ? NULL : who(site_of_program(SITE));
    if (LIKELY(!t))
        return find_getrandom()(bytes, size, flags);
    struct input call = {.call = INPUT_GETRANDOM, .asked = size};
    ssize_t result =
        give(t, &call, bytes, size) ? (ssize_t)call.result : find_getrandom()(bytes, size, flags);
    end(t, &call, result, bytes, size);
    return result;
}

EXPORTED time_t time(time_t *to)
{
    struct thread *t = LIKELY(!looks) ? NULL : who(site_of_program(SITE));
    if (LIKELY(!t))
        return find_time()(to);
    struct input call = {.call = INPUT_TIME};
    time_t result = give(t, &call, NULL, 0) ? (time_t)call.result : find_time()(NULL);
    end(t, &call, result, NULL, 0);
    if (to)
        *to = result;
    return result;
}

/* A moment, which a result of 0 says to be there. */
static int moment(struct thread *t, struct input *call, int result, void *bytes, size_t size)
{
    call->result = result;
    call->error = result < 0 ? (uint32_t)errno : 0;
    if (records)
        record(t, call, bytes, result < 0 ? 0 : size);
    return result;
}

EXPORTED int gettimeofday(struct timeval *tv, void *zone)
{
    struct thread *t = LIKELY(!looks) ? NULL : who(site_of_program(SITE));
    __asm__("" : "+r"(tv)); /* (said never to be NULL, which it may be) */
    if (LIKELY(!t) || !tv)
        return find_gettimeofday()(tv, zone);
    struct input call = {.call = INPUT_GETTIMEOFDAY};
    int result = give(t, &call, tv, sizeof *tv) ? (int)call.result : find_gettimeofday()(tv, zone);
    return moment(t, &call, result, tv, sizeof *tv);
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *ts)
{
    struct thread *t = LIKELY(!looks) ? NULL : who(site_of_program(SITE));
    if (LIKELY(!t))
        return find_clock_gettime()(clock, ts);
    struct input call = {.call = INPUT_CLOCK, .asked = (uint32_t)clock};
    int result =
        give(t, &call, ts, sizeof *ts) ? (int)call.result : find_clock_gettime()(clock, ts);
    return moment(t, &call, result, ts, sizeof *ts);
}

EXPORTED int rand(void)
{
    struct thread *t = LIKELY(!looks) ? NULL : who(site_of_program(SITE));
    if (LIKELY(!t))
        return find_rand()();
    struct input call = {.call = INPUT_RAND};
    int result = give(t, &call, NULL, 0) ? (int)call.result : find_rand()();
    end(t, &call, result, NULL, 0);
    return result;
}

/* ---- the beginning ---- */

static void look_at_inherited(void)
{
    struct stat st;
    int saved = errno;
    for (unsigned i = 0; i < INHERITED; i++)
        if (fstat((int)i, &st) == 0) {
            inherited[i].device = st.st_dev;
            inherited[i].inode = st.st_ino;
            inherited[i].is = true;
        }
    errno = saved;
}

void input_begin(bool first)
{
    const char *wanted = environment_get("POET_INPUT");
    records = wanted && *wanted && strcmp(wanted, "0") != 0;
    gives = given_begin();
    if (first && (records || gives))
        look_at_inherited();
    looks = records || gives;
}

#endif
