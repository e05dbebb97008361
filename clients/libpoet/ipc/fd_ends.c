#define _GNU_SOURCE
#include "clients/libpoet/ipc/fd_ends.h"

#include "clients/libpoet/ipc/byte_streams.h"
#include "clients/libpoet/ipc/ipc_tracer.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/socket_info.h"
#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/poet.h"

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Returns STREAM_CONNECTION for a connection to a process of the run, so that only processes of the
 * run have its ends, unless they inherit them; 0 if that process has exited: an untraced one may
 * have the address now. */
static uint64_t fd_end_connection_kind(const uint64_t *listener)
{
    char process[32];
    struct stat st;
    snprintf(process, sizeof process, "/proc/%" PRIu64, listener ? LOAD(listener) : 0);
    return stat(process, &st) == 0 ? STREAM_CONNECTION : 0;
}

/* ---- Unix sockets by name ---- Both streams of a connection are identified by the inode of the
 * connecting socket: that side knows it, and the other side asks the kernel for its peer
 * (sock_diag(7)). */

enum { UNIX_NAME_LISTENER = 20, UNIX_NAME_END, UNIX_NAME_STREAM };

static uint64_t unix_name_direction_key(uint64_t inode, bool to_listener)
{
    return key_mix(key_mix(UNIX_NAME_STREAM, inode), to_listener);
}

/* Returns a key of the file of its address, or of its abstract name; 0: none. */
static uint64_t unix_name_get(const struct sockaddr *at, socklen_t size)
{
    const struct sockaddr_un *un = (const void *)at;
    char path[sizeof un->sun_path + 1] = "";
    struct stat st;
    size_t length = size > offsetof(struct sockaddr_un, sun_path)
                        ? size - offsetof(struct sockaddr_un, sun_path)
                        : 0;
    if (length == 0 || length > sizeof un->sun_path)
        return 0;
    memcpy(path, un->sun_path, length);
    if (*path)
        return stat(path, &st) == 0 ? key_mix(key_mix(UNIX_NAME_LISTENER, st.st_dev), st.st_ino)
                                    : 0;
    uint64_t key = UNIX_NAME_LISTENER;
    for (size_t i = 1; i < length; i++)
        key = key_mix(key, (unsigned char)path[i]);
    return key;
}

static void unix_name_set_end(int fd, uint64_t inode, bool connects)
{
    uint64_t cookie;
    uint64_t *end =
        socket_cookie(fd, &cookie) ? poet_counter(key_mix(UNIX_NAME_END, cookie), true) : NULL;
    if (end)
        STORE(end, inode << 1 | connects);
}

/* Returns the stream; 0: none. */
static uint64_t unix_name_end(uint64_t cookie, bool out)
{
    const uint64_t *end = poet_counter(key_mix(UNIX_NAME_END, cookie), false);
    uint64_t is = end ? LOAD(end) : 0;
    return is ? unix_name_direction_key(is >> 1, (is & 1) == (out ? 1 : 0)) : 0;
}

static void unix_name_listen(const struct sockaddr *at, socklen_t size)
{
    uint64_t key = unix_name_get(at, size);
    uint64_t *there = key ? poet_counter(key, true) : NULL;
    if (there)
        STORE(there, (uint64_t)getpid());
}

/* Returns the process that listens there, if it is of the run, or did so; NULL: there is none. */
static const uint64_t *unix_name_listener(const struct sockaddr *at, socklen_t size)
{
    uint64_t key = unix_name_get(at, size);
    return key ? poet_counter(key, false) : NULL;
}

static uint64_t unix_name_inode(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* Called before the other side can write. */
static void unix_name_connecting(int fd, const struct sockaddr *to, socklen_t size)
{
    const uint64_t *listener = unix_name_listener(to, size);
    uint64_t inode = listener ? unix_name_inode(fd) : 0, kind = fd_end_connection_kind(listener);
    if (!inode)
        return;
    stream_make(unix_name_direction_key(inode, true), kind);
    stream_make(unix_name_direction_key(inode, false), kind);
    unix_name_set_end(fd, inode, true);
}

static void unix_name_accepted(const struct sockaddr *at, socklen_t size, int fd)
{
    if (!unix_name_listener(at, size))
        return;
    uint64_t inode = socket_peer(unix_name_inode(fd));
    if (inode)
        unix_name_set_end(fd, inode, false);
    else
        poet_untraced("named Unix sockets with peers that the kernel does not report");
}

/* ---- descriptors ---- A pipe is identified by its inode, a socketpair by the cookies of its two
 * sockets, a TCP connection by its two addresses. */

enum { PIPE = 1, PAIR, PEER, CONNECTION, LISTENER, CONNECTING };

/* Addresses are valid within one network namespace. */
static uint64_t fd_end_network_id(void)
{
    static uint64_t known;
    struct stat st;
    if (!known)
        known = stat("/proc/self/ns/net", &st) == 0 ? key_mix(st.st_dev, st.st_ino) : 1;
    return known;
}

/* (the address as numbers) */
static poet_place_t fd_end_place(const struct in6_addr *address, uint16_t port)
{
    poet_place_t p;
    memcpy(&p.high, address->s6_addr, 8);
    memcpy(&p.low, address->s6_addr + 8, 8);
    return (poet_place_t){be64toh(p.high), be64toh(p.low), ntohs(port)};
}

#define V4_MAPPED (UINT64_C(0xffff) << 32)

/* Reads an IPv4 address, also one mapped into IPv6, or an IPv6 address. */
static bool fd_end_read_place(const struct sockaddr_storage *from, poet_place_t *p)
{
    const struct sockaddr_in *in = (const void *)from;
    const struct sockaddr_in6 *in6 = (const void *)from;
    if (from->ss_family == AF_INET)
        *p = (poet_place_t){0, V4_MAPPED | ntohl(in->sin_addr.s_addr), ntohs(in->sin_port)};
    else if (from->ss_family == AF_INET6)
        *p = fd_end_place(&in6->sin6_addr, in6->sin6_port);
    return from->ss_family == AF_INET || from->ss_family == AF_INET6;
}

static bool fd_end_is_loopback(const poet_place_t *p)
{
    return p->high == 0 && (p->low == 1 || p->low >> 24 == (V4_MAPPED >> 24 | 127));
}

static uint64_t fd_end_key(uint64_t kind, const poet_place_t *p)
{
    return key_mix(key_mix(key_mix(key_mix(kind, fd_end_network_id()), p->high), p->low), p->port);
}

static bool fd_end_tcp_keys(int fd, poet_place_t *here, poet_place_t *there)
{
    struct sockaddr_storage a, b;
    socklen_t a_size = sizeof a, b_size = sizeof b;
    return getsockname(fd, (struct sockaddr *)&a, &a_size) == 0 &&
           getpeername(fd, (struct sockaddr *)&b, &b_size) == 0 && fd_end_read_place(&a, here) &&
           fd_end_read_place(&b, there);
}

/* Returns whether both ends are on this machine. */
static bool fd_end_is_local(const poet_place_t *here, const poet_place_t *there)
{
    return fd_end_is_loopback(here) || (here->high == there->high && here->low == there->low);
}

static uint64_t fd_end_direction_key(const poet_place_t *from, const poet_place_t *to)
{
    return key_mix(fd_end_key(CONNECTION, from), fd_end_key(CONNECTION, to));
}

static int fd_end_socket_option(int fd, int what)
{
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, what, &value, &size) == 0 ? value : -1;
}

static struct fd_end fd_end_stream(uint64_t key)
{
    return (struct fd_end){.kind = key ? FD_END_STREAM : FD_END_NONE, .key = key};
}

static struct fd_end fd_end_tcp(int fd, bool out)
{
    struct fd_end end = {.kind = FD_END_NONE};
    /* not yet connected; or no more, and the end may be to be read */
    if (!fd_end_tcp_keys(fd, &end.here, &end.there)) {
        if (poet_is_distributed())
            end = (struct fd_end){.kind = FD_END_TCP};
        return end;
    }
    if (fd_end_is_local(&end.here, &end.there))
        return fd_end_stream(out ? fd_end_direction_key(&end.here, &end.there)
                                 : fd_end_direction_key(&end.there, &end.here));
    if (poet_is_distributed() && fd_end_socket_option(fd, SO_PROTOCOL) == IPPROTO_TCP)
        end.kind = FD_END_TCP;
    return end;
}

static struct fd_end fd_end_socket(int fd, bool out)
{
    int domain = fd_end_socket_option(fd, SO_DOMAIN), type = fd_end_socket_option(fd, SO_TYPE);
    uint64_t cookie;
    if (type < 0 || (domain != AF_UNIX && domain != AF_INET && domain != AF_INET6))
        return fd_end_stream(0);
    if (type != SOCK_STREAM) {
        poet_untraced("datagrams and packets");
        return fd_end_stream(0);
    }
    if (domain != AF_UNIX)
        return fd_end_tcp(fd, out);
    if (!socket_cookie(fd, &cookie))
        return fd_end_stream(0);
    const uint64_t *peer = poet_counter(key_mix(PEER, cookie), false);
    return fd_end_stream(peer ? key_mix(PAIR, out ? cookie : LOAD(peer))
                              : unix_name_end(cookie, out));
}

struct fd_end fd_end_of_status(int fd, const struct stat *st, bool out)
{
    return S_ISFIFO(st->st_mode)   ? fd_end_stream(key_mix(key_mix(PIPE, st->st_dev), st->st_ino))
           : S_ISSOCK(st->st_mode) ? fd_end_socket(fd, out)
                                   : fd_end_stream(0);
}

struct fd_end fd_end_find(int fd, bool out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fd_end_stream(0);
    if ((st.st_mode & S_IFMT) != 0) /* 0: what the kernel calls an anonymous inode */
        return fd_end_of_status(fd, &st, out);
    struct fd_end end = fd_end_stream(eventfd_counter_key(fd));
    end.kind = end.key ? FD_END_EVENTFD : FD_END_NONE;
    return end;
}

bool fd_end_writes(int fd, const struct stat *st)
{
    return S_ISSOCK(st->st_mode) ||
           (S_ISFIFO(st->st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY);
}

static uint64_t fd_end_out(int fd) { return fd_end_find(fd, true).key; }

/* ---- where they are made ---- */

void fd_end_pipe(const int fds[2]) { stream_make(fd_end_out(fds[1]), STREAM_PIPE); }

void fd_end_fifo(int fd)
{
    struct stat st;
    int there = 0;
    if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode) || ioctl(fd, FIONREAD, &there) != 0)
        return;
    stream_open(fd_end_of_status(fd, &st, false).key, there == 0);
    poet_untraced("opening a FIFO, which blocks until both ends are open");
}

void fd_end_begin_opening(struct fifo_opening *o, int at, const char *path, int flags,
                          const void *site)
{
    struct stat st;
    bool writes = (flags & O_ACCMODE) == O_WRONLY;
    *o = (struct fifo_opening){.site = site};
    if (flags & (O_NONBLOCK | O_PATH | O_DIRECTORY) || (flags & O_ACCMODE) == O_RDWR || !path ||
        !ipc_entry_is_traced(site) || !ipc_entry_is_own_process())
        return;
    int saved = errno;
    ipc_inside_library = true;
    if (fstatat(at, path, &st, 0) == 0 && S_ISFIFO(st.st_mode) && poet_current_line())
        o->line = stream_fifo_line(key_mix(key_mix(PIPE, st.st_dev), st.st_ino), path);
    if (o->line) {
        o->type = event_type(writes ? OPEN_WRITING : OPEN_READING);
        ipc_event_about(writes ? OPEN_WRITING : OPEN_READING, o->line, 0, site);
        poet_wait_begin(o->type);
    }
    ipc_inside_library = false;
    errno = saved;
}

void fd_end_end_opening(const struct fifo_opening *o, int fd)
{
    if (!o->line)
        return;
    poet_wait_done(o->type);
    ipc_event_about(fd >= 0 ? OPENED : WOKEN, o->line, 0, o->site);
}

void fd_end_socketpair(const int fds[2])
{
    uint64_t cookies[2];
    if (!socket_cookie(fds[0], &cookies[0]) || !socket_cookie(fds[1], &cookies[1]))
        return;
    for (int i = 0; i < 2; i++) {
        uint64_t *peer = poet_counter(key_mix(PEER, cookies[i]), true);
        if (!peer)
            return;
        __atomic_store_n(peer, cookies[!i], __ATOMIC_SEQ_CST);
    }
    for (int i = 0; i < 2; i++)
        stream_make(key_mix(PAIR, cookies[i]), STREAM_PAIR);
}

/* Only connections between two traced processes are traced: a listener publishes its port, or the
 * file of its address. */
void fd_end_listen(int fd)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    poet_place_t p;
    if (getsockname(fd, (struct sockaddr *)&at, &size) != 0)
        return;
    if (at.ss_family == AF_UNIX)
        unix_name_listen((const struct sockaddr *)&at, size);
    if (!fd_end_read_place(&at, &p))
        return;
    uint64_t *there = poet_counter(key_mix(key_mix(LISTENER, fd_end_network_id()), p.port), true);
    if (there)
        STORE(there, (uint64_t)getpid());
}

/* listener: set to the process that listens there; NULL: not requested */
static uint64_t *fd_end_connecting_counter(const struct sockaddr *to, bool make,
                                           const uint64_t **listener)
{
    struct sockaddr_storage at = {0};
    poet_place_t p;
    if (to->sa_family != AF_INET && to->sa_family != AF_INET6)
        return NULL;
    memcpy(&at, to,
           to->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
    const uint64_t *there =
        fd_end_read_place(&at, &p)
            ? poet_counter(key_mix(key_mix(LISTENER, fd_end_network_id()), p.port), false)
            : NULL;
    if (!there)
        return NULL;
    if (listener)
        *listener = there;
    return poet_counter(key_mix(key_mix(CONNECTING, fd_end_network_id()), p.port), make);
}

void fd_end_connecting(int fd, const struct sockaddr *to, socklen_t size)
{
    uint64_t *count = fd_end_connecting_counter(to, true, NULL);
    if (to->sa_family == AF_UNIX)
        unix_name_connecting(fd, to, size);
    if (count)
        __atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
}

void fd_end_connected(int fd, const struct sockaddr *to, bool done)
{
    const uint64_t *listener = NULL;
    uint64_t *count = fd_end_connecting_counter(to, false, &listener);
    poet_place_t here, there;
    if (!count)
        return;
    if (done && fd_end_tcp_keys(fd, &here, &there) && fd_end_is_local(&here, &there)) {
        uint64_t kind = fd_end_connection_kind(listener);
        stream_make(fd_end_direction_key(&here, &there), kind);
        stream_make(fd_end_direction_key(&there, &here), kind);
    }
    __atomic_fetch_sub(count, 1, __ATOMIC_SEQ_CST);
}

#define TIMEOUT_NS 2000000u

/* The connecting side creates the streams, just after: the accepting side must not write before. */
void fd_end_accepted(int listener, int fd)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    if (getsockname(listener, (struct sockaddr *)&at, &size) != 0)
        return;
    if (at.ss_family == AF_UNIX)
        unix_name_accepted((const struct sockaddr *)&at, size, fd);
    uint64_t *count = fd_end_connecting_counter((const struct sockaddr *)&at, false, NULL);
    if (count || at.ss_family == AF_UNIX)
        poet_untraced("accepting a connection, before data arrives");
    uint64_t begin = now_ns();
    while (count && __atomic_load_n(count, __ATOMIC_SEQ_CST) &&
           stream_find(fd_end_out(fd)).state == STREAM_UNKNOWN) {
        sched_yield();
        if (now_ns() - begin > TIMEOUT_NS)
            return;
    }
}
