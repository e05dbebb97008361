/* The calls that bytes go through. */
#define _GNU_SOURCE
#include "clients/process/inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#define SITE __builtin_extract_return_addr(__builtin_return_address(0))

struct real real;
static __thread bool inside __attribute__((tls_model("initial-exec")));
static uintptr_t ours_start, ours_end; /* libpoet's code: its calls are none of the program's */

/* ---- beginning ---- */

static int find_ours(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t wanted = (uintptr_t)context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_LOAD && wanted >= start && wanted < start + h->p_memsz) {
            ours_start = start;
            ours_end = start + h->p_memsz;
            return 1;
        }
    }
    return 0;
}

static void look_up(void)
{
#define FIND(name) *(void **)(&real.name) = dlsym(RTLD_NEXT, #name)
    FIND(read), FIND(write), FIND(readv), FIND(writev), FIND(recv), FIND(send), FIND(recvfrom);
    FIND(sendto), FIND(recvmsg), FIND(sendmsg), FIND(pipe), FIND(pipe2), FIND(socketpair);
    FIND(listen), FIND(connect), FIND(accept), FIND(accept4);
    FIND(poll), FIND(dl_iterate_phdr); /* a runtime may define its own */
    real.dl_iterate_phdr(find_ours, (void *)(uintptr_t)poet_record);
}

static void find(void)
{
    if (!__atomic_load_n(&ours_end, __ATOMIC_ACQUIRE))
        look_up();
}

/* Whether a call is to be looked at; our own are not. */
static bool looks(const void *site)
{
    find();
    return !inside && !((uintptr_t)site >= ours_start && (uintptr_t)site < ours_end);
}

/* ---- events ---- */

enum event { WRITE, READ, FULL, EMPTY, WOKEN, EVENTS };

static poet_type_t type_of(enum event event)
{
    static const char *const names[EVENTS] = {"write", "read", "full", "empty", "woken"};
    static poet_type_t types[EVENTS];
    static bool described;
    if (!types[event]) {
        if (!described)
            poet_environment("process");
        described = true;
        types[event] = poet_type(names[event], NULL);
    }
    return types[event];
}

/* The stream as a line, for events to be about: listed, not drawn. */
static poet_line_t line_of(const struct stream *s)
{
    static struct {
        uint64_t key;
        poet_line_t line;
    } known[64];
    static char busy; /* nobody waits for it: who finds it taken does without */
    size_t at = s->key % 64;
    uint64_t identity[2];
    poet_line_t line = 0;
    if (!__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
        line = known[at].key == s->key ? known[at].line : 0;
        __atomic_clear(&busy, __ATOMIC_RELEASE);
    }
    if (line && poet_identity(line, identity)) /* not one of the process that forked this one */
        return line;
    line = poet_line_of("stream", "", (const uint64_t[]){s->key, 0x706f65742e707273u});
    if (!__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
        known[at].key = s->key;
        known[at].line = line;
        __atomic_clear(&busy, __ATOMIC_RELEASE);
    }
    return line;
}

static void tell(const struct stream *s, enum event event, const void *site)
{
    poet_record(&(poet_record_t){.type = type_of(event), .about = line_of(s), .site = site});
}

static void tell_bytes(const struct stream *s, enum event event, uint64_t from, size_t bytes, const void *site)
{
    poet_record(&(poet_record_t){.type = type_of(event), .about = line_of(s), .site = site,
                                 .flags = (event == WRITE ? POET_SEND : POET_RECEIVE) | POET_STREAM,
                                 .high = s->key, .low = &from, .keys = 1, .count = (uint32_t)bytes});
}

/* ---- a call under way ---- */

struct transfer {
    struct stream stream;
    uint64_t side;
    const void *site;
    bool followed, waits;
};

#define LOAD(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)
#define MOST_BYTES (1u << 30)

static bool would_block(int fd, short events, int flags)
{
    struct pollfd p = {.fd = fd, .events = events};
    return !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK) && real.poll(&p, 1, 0) == 0;
}

static void begin(struct transfer *t, int fd, bool writes, size_t bytes, int flags, const void *site)
{
    *t = (struct transfer){.side = writes ? STREAM_WRITER : STREAM_READER, .site = site};
    if (!looks(site) || bytes == 0 || bytes > MOST_BYTES || (flags & (MSG_PEEK | MSG_OOB)))
        return;
    int saved = errno;
    inside = true;
    t->stream = stream_find(writes ? end_out(fd) : end_in(fd));
    t->followed = t->stream.key && stream_enter(&t->stream, t->side);
    if (t->followed && writes && !poet_here()) { /* a thread that is not recorded: nobody could tell who wrote */
        stream_break(&t->stream, "");
        stream_leave(&t->stream, t->side);
        t->followed = false;
    }
    if (t->followed && writes)
        STORE(t->stream.claimed, LOAD(t->stream.written) + bytes);
    t->waits = t->followed && would_block(fd, writes ? POLLOUT : POLLIN, flags);
    if (t->waits)
        tell(&t->stream, writes ? FULL : EMPTY, site);
    inside = false;
    errno = saved;
}

static void wrote(struct transfer *t, size_t bytes)
{
    uint64_t from = LOAD(t->stream.written);
    if (bytes)
        tell_bytes(&t->stream, WRITE, from, bytes, t->site);
    STORE(t->stream.written, from + bytes);
    STORE(t->stream.claimed, from + bytes);
}

/* More bytes there than were written, while nobody writes: somebody unseen did. */
static bool adds_up(const struct stream *s, int fd, uint64_t read)
{
    int there = 0;
    uint64_t written = LOAD(s->written);
    bool quiet = !(LOAD(s->flags) / STREAM_WRITER & 0xff);
    if (!quiet || ioctl(fd, FIONREAD, &there) != 0)
        return true;
    return read + (uint64_t)there <= written || written != LOAD(s->written) ||
           LOAD(s->flags) / STREAM_WRITER & 0xff;
}

static void has_read(struct transfer *t, int fd, size_t bytes)
{
    uint64_t from = LOAD(t->stream.read);
    struct stream *s = &t->stream;
    if (from + bytes > LOAD(s->claimed) || !adds_up(s, fd, from + bytes)) {
        stream_break(s, "there were bytes that no call wrote which is seen (stdio, splice, ...)");
        return;
    }
    if (bytes)
        tell_bytes(s, READ, from, bytes, t->site);
    STORE(s->read, from + bytes);
}

static void end(struct transfer *t, int fd, ssize_t bytes)
{
    if (!t->followed)
        return;
    int saved = errno;
    inside = true;
    size_t n = bytes > 0 ? (size_t)bytes : 0;
    if (t->side == STREAM_WRITER)
        wrote(t, n);
    else
        has_read(t, fd, n);
    if (t->waits && (n == 0 || !t->stream.key))
        tell(&t->stream, WOKEN, t->site);
    stream_leave(&t->stream, t->side);
    inside = false;
    errno = saved;
}

static void cancelled(void *p)
{
    struct transfer *t = p;
    if (t->followed)
        stream_leave(&t->stream, t->side);
}

#define TRANSFER(fd, writes, bytes, flags, call)                \
    struct transfer t;                                          \
    ssize_t n;                                                  \
    begin(&t, fd, writes, bytes, flags, SITE);                  \
    pthread_cleanup_push(cancelled, &t);                        \
    n = call;                                                   \
    pthread_cleanup_pop(0);                                     \
    end(&t, fd, n);                                             \
    return n

static size_t all(const struct iovec *iov, int count)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += iov[i].iov_len;
    return bytes;
}

API ssize_t read(int fd, void *data, size_t bytes)
{
    TRANSFER(fd, false, bytes, 0, real.read(fd, data, bytes));
}
API ssize_t write(int fd, const void *data, size_t bytes)
{
    TRANSFER(fd, true, bytes, 0, real.write(fd, data, bytes));
}
API ssize_t readv(int fd, const struct iovec *iov, int count)
{
    TRANSFER(fd, false, all(iov, count), 0, real.readv(fd, iov, count));
}
API ssize_t writev(int fd, const struct iovec *iov, int count)
{
    TRANSFER(fd, true, all(iov, count), 0, real.writev(fd, iov, count));
}
API ssize_t recv(int fd, void *data, size_t bytes, int flags)
{
    TRANSFER(fd, false, bytes, flags, real.recv(fd, data, bytes, flags));
}
API ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    TRANSFER(fd, true, bytes, flags, real.send(fd, data, bytes, flags));
}
API ssize_t recvfrom(int fd, void *data, size_t bytes, int flags, struct sockaddr *from, socklen_t *size)
{
    TRANSFER(fd, false, bytes, flags, real.recvfrom(fd, data, bytes, flags, from, size));
}
API ssize_t sendto(int fd, const void *data, size_t bytes, int flags, const struct sockaddr *to, socklen_t size)
{
    TRANSFER(fd, true, bytes, flags, real.sendto(fd, data, bytes, flags, to, size));
}
API ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    TRANSFER(fd, false, all(m->msg_iov, (int)m->msg_iovlen), flags, real.recvmsg(fd, m, flags));
}
API ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    TRANSFER(fd, true, all(m->msg_iov, (int)m->msg_iovlen), flags, real.sendmsg(fd, m, flags));
}

/* As compilers with -D_FORTIFY_SOURCE call them. */
API ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room);
API ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room)
{
    if (bytes > room)
        abort();
    TRANSFER(fd, false, bytes, 0, real.read(fd, data, bytes));
}
API ssize_t __recv_chk(int fd, void *data, size_t bytes, size_t room, int flags);
API ssize_t __recv_chk(int fd, void *data, size_t bytes, size_t room, int flags)
{
    if (bytes > room)
        abort();
    TRANSFER(fd, false, bytes, flags, real.recv(fd, data, bytes, flags));
}

/* ---- where streams are made ---- */

#define QUIETLY(what)                   \
    do {                                \
        int saved = errno;              \
        inside = true;                  \
        what;                           \
        inside = false;                 \
        errno = saved;                  \
    } while (0)

API int pipe2(int fds[2], int flags)
{
    bool look = looks(SITE);
    int e = real.pipe2(fds, flags);
    if (e == 0 && look)
        QUIETLY(ends_pipe(fds));
    return e;
}

API int pipe(int fds[2])
{
    bool look = looks(SITE);
    int e = real.pipe(fds);
    if (e == 0 && look)
        QUIETLY(ends_pipe(fds));
    return e;
}

API int socketpair(int domain, int type, int protocol, int fds[2])
{
    bool look = looks(SITE) && domain == AF_UNIX && (type & 0xf) == SOCK_STREAM;
    int e = real.socketpair(domain, type, protocol, fds);
    if (e == 0 && look)
        QUIETLY(ends_socketpair(fds));
    return e;
}

API int listen(int fd, int backlog)
{
    bool look = looks(SITE);
    int e = real.listen(fd, backlog);
    if (e == 0 && look)
        QUIETLY(ends_listen(fd));
    return e;
}

API int connect(int fd, const struct sockaddr *to, socklen_t size)
{
    bool look = looks(SITE) && to && size >= sizeof(struct sockaddr_in);
    if (look)
        QUIETLY(ends_connecting(to));
    int e = real.connect(fd, to, size);
    if (look)
        QUIETLY(ends_connected(fd, to, e == 0 || saved == EINPROGRESS));
    return e;
}

API int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
    bool look = looks(SITE);
    int e = real.accept4(fd, from, size, flags);
    if (e >= 0 && look)
        QUIETLY(ends_accepted(fd, e));
    return e;
}

API int accept(int fd, struct sockaddr *from, socklen_t *size)
{
    bool look = looks(SITE);
    int e = real.accept(fd, from, size);
    if (e >= 0 && look)
        QUIETLY(ends_accepted(fd, e));
    return e;
}
