/* Calls that get input from outside of the run: their results are recorded (POET_INPUT) and
 * replayed. Calls in signal handlers are passed through, and counted: the time of a signal is not
 * replayed. Only calls of the program itself are recorded. If nothing is recorded, a call is passed
 * on by a jump, so that the next interposing library sees the original caller. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/input_calls.h"

#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/libc_calls.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/replay/replayed_input.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the next definitions ----
 *
 * They are looked up once. In a static program nothing can be looked up. There the interposed calls
 * are weak, so that a program may define its own (their names are ordinary words), and the C
 * library's are called by their other names. */

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

/* Looks all of them up. */
static void next_input_find(void)
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

/* ---- descriptors that get input from outside of the run ---- They are files, devices, named
 * objects, connections to other machines, and the descriptors that the first program of a run
 * inherited; but not pipes and socketpairs that the run created itself. */

#define INHERITED 3u /* descriptors that may be pipes from outside: the standard ones */
#define PIPES 0x50495045 /* what statfs(2) calls the file system of pipes without names */

static struct {
    dev_t device;
    ino_t inode;
    bool is;
} inherited[INHERITED];

/* Called by the first program of a run: its standard descriptors are external. */
static void external_fd_add_inherited(void)
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

static bool external_fd_is_inherited(const struct stat *st)
{
    for (unsigned i = 0; i < INHERITED; i++)
        if (inherited[i].is && inherited[i].device == st->st_dev &&
            inherited[i].inode == st->st_ino)
            return true;
    return false;
}

static bool external_fd_is_named_pipe(int fd)
{
    struct statfs fs;
    return syscall(SYS_fstatfs, fd, &fs) == 0 && fs.f_type != PIPES;
}

bool external_fd_is_remote_sender(const struct sockaddr_storage *sender)
{
    const struct sockaddr_in *four = (const void *)sender;
    const struct sockaddr_in6 *six = (const void *)sender;
    if (sender->ss_family == AF_INET)
        return ntohl(four->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
    return sender->ss_family == AF_INET6 && !IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) &&
           !(IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) && six->sin6_addr.s6_addr[12] == IN_LOOPBACKNET);
}

static bool external_fd_get_peer(int fd, struct sockaddr_storage *peer)
{
    socklen_t size = sizeof *peer;
    *peer = (struct sockaddr_storage){0};
    return getpeername(fd, (struct sockaddr *)peer, &size) == 0;
}

static bool external_fd_is_remote(int fd)
{
    struct sockaddr_storage peer;
    return external_fd_get_peer(fd, &peer) && external_fd_is_remote_sender(&peer);
}

/* Returns -1 if it is not a socket. */
static int external_fd_socket_number(int fd, int option)
{
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool external_fd_is_per_sender(int fd)
{
    struct sockaddr_storage peer;
    int saved = errno, domain = external_fd_socket_number(fd, SO_DOMAIN);
    bool is = (domain == AF_INET || domain == AF_INET6) &&
              external_fd_socket_number(fd, SO_TYPE) == SOCK_DGRAM &&
              !external_fd_get_peer(fd, &peer);
    errno = saved;
    return is;
}

bool external_fd_is_external(int fd)
{
    struct stat st;
    int saved = errno;
    bool is =
        fstat(fd, &st) == 0 &&
        (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) ||
         (S_ISFIFO(st.st_mode) &&
          (external_fd_is_inherited(&st) || external_fd_is_named_pipe(fd))) ||
         (S_ISSOCK(st.st_mode) && (external_fd_is_inherited(&st) || external_fd_is_remote(fd))));
    errno = saved;
    return is;
}

void external_fd_skip(int fd, int64_t bytes)
{
    struct stat st;
    int saved = errno;
    off_t at =
        bytes > 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    if (at >= 0 && at < st.st_size)
        lseek(fd, at + bytes < st.st_size ? at + (off_t)bytes : st.st_size, SEEK_SET);
    errno = saved;
}

/* ---- C's stdio: its reads within the C library are not traced ---- */

#if defined(POET_STATIC)
/* A static program contains what it calls; what the C library itself calls (getline) is
 * excluded. */
#define CALLS(C)                                                                                   \
    C(fgetc)                                                                                       \
    C(getchar)                                                                                     \
    C(fgets)                                                                                       \
    C(fread)                                                                                       \
    C(scanf) C(fscanf) C(__isoc99_scanf) C(__isoc99_fscanf) C(__isoc23_scanf) C(__isoc23_fscanf)
#define C(name) extern const char there_##name[] __asm__(#name) __attribute__((weak));
CALLS(C)
#undef C

static bool stdio_use_is_imported(void)
{
    bool any = false;
#define C(name) any |= there_##name != NULL;
    CALLS(C)
#undef C
    return any;
}
#else
static bool stdio_use_is_imported(void)
{
    static const char *const names[] = {/* clang-format off */
        "fgetc", "getc", "getchar", "fgetc_unlocked", "getc_unlocked", "getchar_unlocked",
        "_IO_getc", "__uflow", "fgets", "fgets_unlocked", "__fgets_chk", "__fgets_unlocked_chk",
        "gets", "__gets_chk", "fread", "fread_unlocked", "__fread_chk", "__fread_unlocked_chk",
        "getline", "getdelim", "__getdelim", "getw", "scanf", "fscanf", "vscanf", "vfscanf",
        "__isoc99_scanf", "__isoc99_fscanf", "__isoc99_vscanf", "__isoc99_vfscanf",
        "__isoc23_scanf", "__isoc23_fscanf", "__isoc23_vscanf", "__isoc23_vfscanf", "fgetwc",
        "getwc", "getwchar", "fgetws",
        NULL}; /* clang-format on */
    return poet_imports(names);
}
#endif

/* ---- calls ---- */

static bool input_call_records;
static _Atomic uint64_t recorded_bytes; /* by this process */
static __thread struct {
    int handlers; /* that the thread is in */
    uint32_t life; /* for which `cut` and `told` hold: a child reports it again */
    bool cut, reported; /* nothing more is recorded, which was reported to the server */
    uint64_t passed;
} input_call_mine __attribute__((tls_model("initial-exec")));

void input_call_find_functions(void) { next_input_find(); }

/* ---- recording ---- */

static bool input_call_send(struct traced_thread *t, const struct input *input)
{
    busy_begin(t);
    struct encoder body = message_text_buffer(t, NULL, 0, INPUT_HEAD_BYTES + input->size);
    if (!body.failed)
        encode_input(&body, input);
    bool sent = !body.failed && message_queue_send(t, MESSAGE_INPUT, &body);
    busy_end(t);
    return sent;
}

static void input_call_send_rest(struct traced_thread *t)
{
    if (input_call_mine.passed &&
        input_call_send(
            t, &(struct input){.flags = INPUT_PASSED, .result = (int64_t)input_call_mine.passed}))
        input_call_mine.passed = 0;
    if (input_call_mine.cut && !input_call_mine.reported)
        input_call_mine.reported = input_call_send(t, &(struct input){.flags = INPUT_CUT});
}

/* Gets one of the scattered buffers. Returns false if there are no more. */
static bool input_call_get_buffer(const struct input_buffers *brought, size_t i, struct iovec *at)
{
    if (i >= INPUT_FRONT + brought->count)
        return false;
    *at = i < INPUT_FRONT ? brought->front[i] : brought->iov[i - INPUT_FRONT];
    return true;
}

static bool input_call_send_pieces(struct traced_thread *t, struct input call,
                                   const struct input_buffers *brought)
{
    struct iovec at;
    size_t left = brought->size;
    for (size_t i = 0; left && input_call_get_buffer(brought, i, &at); i++)
        for (size_t done = 0; left && done < at.iov_len; done += call.size) {
            size_t most = at.iov_len - done < left ? at.iov_len - done : left;
            call.size = most < INPUT_PIECE_BYTES ? (uint32_t)most : INPUT_PIECE_BYTES;
            call.bytes = (const uint8_t *)at.iov_base + done;
            left -= call.size;
            call.flags = left ? INPUT_MORE : 0;
            if (!input_call_send(t, &call))
                return false;
        }
    return true;
}

static bool input_call_send_call(struct traced_thread *t, const struct input *call,
                                 const struct input_buffers *brought)
{
    static const uint8_t nothing[1];
    struct input bare = *call;
    bare.bytes = nothing;
    return brought->size ? input_call_send_pieces(t, bare, brought) : input_call_send(t, &bare);
}

static void input_call_record(struct traced_thread *t, const struct input *call,
                              const struct input_buffers *brought)
{
    uint64_t pieces = brought->size / INPUT_PIECE_BYTES + INPUT_FRONT + brought->count;
    uint64_t all = brought->size + pieces * INPUT_HEAD_BYTES;
    int saved = errno;
    if (input_call_mine.life != t->life) {
        input_call_mine.life = t->life;
        input_call_mine.cut = input_call_mine.reported = false;
    }
    if (!input_call_mine.cut)
        input_call_mine.cut = atomic_fetch_add(&recorded_bytes, all) + all > LIMIT_INPUT_BYTES ||
                              !input_call_send_call(t, call, brought);
    if (input_call_mine.passed || (input_call_mine.cut && !input_call_mine.reported))
        input_call_send_rest(t);
    errno = saved;
}

/* ---- which calls ---- */

void input_call_enter_handler(int enters) { input_call_mine.handlers += enters; }

struct traced_thread *input_call_thread(uintptr_t site)
{
    struct traced_thread *t = site ? thread_recording() : NULL;
    if (t && !input_call_mine.handlers)
        return t;
    input_call_mine.passed += t != NULL && input_call_records;
    return NULL;
}

bool input_call_replay(struct traced_thread *t, struct input *call, struct replayed_input *g)
{
    int saved = errno;
    bool given = tracer.input.is_replayed && replayed_input_find(t, call, g);
    errno = given && call->result < 0 ? (int)call->error : saved;
    return given;
}

bool input_call_replay_bytes(struct traced_thread *t, struct input *call, void *bytes, size_t room)
{
    struct replayed_input g;
    if (!input_call_replay(t, call, &g))
        return false;
    replayed_input_read(&g, bytes, room);
    return true;
}

void input_call_end_vector(struct traced_thread *t, struct input *call, int64_t result,
                           const struct input_buffers *brought)
{
    call->result = result;
    call->error = result < 0 ? (uint32_t)errno : 0;
    if (input_call_records)
        input_call_record(t, call, brought);
}

void input_call_end(struct traced_thread *t, struct input *call, int64_t result, const void *bytes,
                    size_t size)
{
    struct input_buffers brought = {.front = {{(void *)(uintptr_t)bytes, size}}, .size = size};
    input_call_end_vector(t, call, result, &brought);
}

void input_call_end_local(struct traced_thread *t, struct input *call)
{
    call->flags = INPUT_OWN;
    input_call_end_vector(t, call, 0, &(struct input_buffers){.size = 0});
}

/* ---- the beginning ---- */

void input_call_begin(bool first)
{
    const char *wanted = environment_get("POET_INPUT");
    input_call_records = wanted && *wanted && strcmp(wanted, "0") != 0;
    tracer.input.is_replayed = replayed_input_begin();
    if (first && (input_call_records || tracer.input.is_replayed))
        external_fd_add_inherited();
    tracer.input.is_traced = input_call_records || tracer.input.is_replayed;
}

void input_call_report_stdio(void)
{
    struct traced_thread *t =
        input_call_records && stdio_use_is_imported() ? thread_recording() : NULL;
    if (t)
        input_call_send(t, &(struct input){.flags = INPUT_STREAMS});
}
