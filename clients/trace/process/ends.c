/* Which streams a descriptor is an end of, whatever its number is: a pipe by its inode, a socketpair by
 * the cookies of its two sockets, a TCP connection by its two addresses. */
#define _GNU_SOURCE
#include "clients/trace/process/ends.h"

#include "clients/trace/mix.h"
#include "clients/trace/poet.h"
#include "clients/trace/process/counts.h"
#include "clients/trace/process/entry.h"
#include "clients/trace/process/named.h"
#include "clients/trace/process/socket.h"
#include "clients/trace/process/streams.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>

enum { PIPE = 1, PAIR, PEER, CONNECTION, LISTENER, CONNECTING };

/* Addresses mean something within one network namespace. */
static uint64_t network(void)
{
    static uint64_t known;
    struct stat st;
    if (!known)
        known = stat("/proc/self/ns/net", &st) == 0 ? mix(st.st_dev, st.st_ino) : 1;
    return known;
}

struct place {
    uint64_t high, low;
    uint16_t port;
    bool local; /* on this machine's own network */
};

/* An IPv4 address, also one within IPv6, or an IPv6 one. */
static bool read_place(const struct sockaddr_storage *from, struct place *p)
{
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)from;
        uint32_t address = ntohl(in->sin_addr.s_addr);
        *p = (struct place){0, address, in->sin_port, address >> 24 == 127};
        return true;
    }
    const struct sockaddr_in6 *in6 = (const void *)from;
    if (from->ss_family != AF_INET6)
        return false;
    if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
        uint32_t address;
        memcpy(&address, &in6->sin6_addr.s6_addr[12], sizeof address);
        address = ntohl(address);
        *p = (struct place){0, address, in6->sin6_port, address >> 24 == 127};
        return true;
    }
    memcpy(&p->high, in6->sin6_addr.s6_addr, 8);
    memcpy(&p->low, in6->sin6_addr.s6_addr + 8, 8);
    p->port = in6->sin6_port;
    p->local = IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
    return true;
}

static uint64_t key_of(uint64_t kind, const struct place *p)
{
    return mix(mix(mix(mix(kind, network()), p->high), p->low), p->port);
}

/* Both ends of a connection on this machine. */
static bool tcp_ends(int fd, struct place *here, struct place *there)
{
    struct sockaddr_storage a, b;
    socklen_t a_size = sizeof a, b_size = sizeof b;
    return getsockname(fd, (struct sockaddr *)&a, &a_size) == 0 &&
           getpeername(fd, (struct sockaddr *)&b, &b_size) == 0 && read_place(&a, here) &&
           read_place(&b, there) &&
           (here->local || (here->high == there->high && here->low == there->low));
}

static uint64_t way(const struct place *from, const struct place *to)
{
    return mix(key_of(CONNECTION, from), key_of(CONNECTION, to));
}

static uint64_t socket_end(int fd, bool out)
{
    int domain = 0, type = 0;
    socklen_t size = sizeof domain;
    uint64_t cookie;
    struct place here, there;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        (domain != AF_UNIX && domain != AF_INET && domain != AF_INET6))
        return 0;
    if (type != SOCK_STREAM) {
        poet_unseen("datagrams and packets");
        return 0;
    }
    if (domain == AF_UNIX && cookie_of(fd, &cookie)) {
        const uint64_t *peer = poet_counter(mix(PEER, cookie), false);
        return peer ? mix(PAIR, out ? cookie : LOAD(peer)) : named_end(cookie, out);
    }
    if (domain == AF_UNIX || !tcp_ends(fd, &here, &there))
        return 0;
    return out ? way(&here, &there) : way(&there, &here);
}

uint64_t end_of_status(int fd, const struct stat *st, bool out)
{
    return S_ISFIFO(st->st_mode)   ? mix(mix(PIPE, st->st_dev), st->st_ino)
           : S_ISSOCK(st->st_mode) ? socket_end(fd, out)
                                   : 0;
}

struct end end_find(int fd, bool out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return (struct end){END_NONE, 0};
    bool nameless = (st.st_mode & S_IFMT) == 0; /* what the kernel calls an anonymous inode */
    uint64_t key = nameless ? count_key(fd) : end_of_status(fd, &st, out);
    return (struct end){!key ? END_NONE : nameless ? END_EVENTFD : END_STREAM, key};
}

bool end_writes(int fd, const struct stat *st)
{
    return S_ISSOCK(st->st_mode) ||
           (S_ISFIFO(st->st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY);
}

static uint64_t end_out(int fd) { return end_find(fd, true).key; }

/* ---- where they are made ---- */

void ends_pipe(const int fds[2]) { stream_make(end_out(fds[1])); }

void ends_fifo(int fd)
{
    struct stat st;
    int there = 0;
    if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode) || ioctl(fd, FIONREAD, &there) != 0)
        return;
    stream_open(end_of_status(fd, &st, false), there == 0);
    poet_unseen("the opening of both ends of a FIFO, which waits for each other");
}

void ends_socketpair(const int fds[2])
{
    uint64_t cookies[2];
    if (!cookie_of(fds[0], &cookies[0]) || !cookie_of(fds[1], &cookies[1]))
        return;
    for (int i = 0; i < 2; i++) {
        uint64_t *peer = poet_counter(mix(PEER, cookies[i]), true);
        if (!peer)
            return;
        __atomic_store_n(peer, cookies[!i], __ATOMIC_SEQ_CST);
    }
    for (int i = 0; i < 2; i++)
        stream_make(mix(PAIR, cookies[i]));
}

/* Only connections between two traced processes are followed: who listens says so by its port, or by the
 * file that stands for it. */
void ends_listen(int fd)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    struct place p;
    if (getsockname(fd, (struct sockaddr *)&at, &size) != 0)
        return;
    if (at.ss_family == AF_UNIX)
        named_listen((const struct sockaddr *)&at, size);
    if (!read_place(&at, &p))
        return;
    uint64_t *there = poet_counter(mix(mix(LISTENER, network()), p.port), true);
    if (there)
        __atomic_store_n(there, 1, __ATOMIC_SEQ_CST);
}

static uint64_t *connecting(const struct sockaddr *to, bool make)
{
    struct sockaddr_storage at = {0};
    struct place p;
    if (to->sa_family != AF_INET && to->sa_family != AF_INET6)
        return NULL;
    memcpy(&at, to,
           to->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
    if (!read_place(&at, &p) || !poet_counter(mix(mix(LISTENER, network()), p.port), false))
        return NULL;
    return poet_counter(mix(mix(CONNECTING, network()), p.port), make);
}

void ends_connecting(int fd, const struct sockaddr *to, socklen_t size)
{
    uint64_t *count = connecting(to, true);
    if (to->sa_family == AF_UNIX)
        named_connecting(fd, to, size);
    if (count)
        __atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
}

void ends_connected(int fd, const struct sockaddr *to, bool done)
{
    uint64_t *count = connecting(to, false);
    struct place here, there;
    if (!count)
        return;
    if (done && tcp_ends(fd, &here, &there)) {
        stream_make(way(&here, &there));
        stream_make(way(&there, &here));
    }
    __atomic_fetch_sub(count, 1, __ATOMIC_SEQ_CST);
}

#define PATIENCE_NS 2000000u

/* Who connects makes the streams, just after: the accepting side must not write before. */
void ends_accepted(int listener, int fd)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    if (getsockname(listener, (struct sockaddr *)&at, &size) != 0)
        return;
    if (at.ss_family == AF_UNIX)
        named_accepted((const struct sockaddr *)&at, size, fd);
    uint64_t *count = connecting((const struct sockaddr *)&at, false);
    if (count || at.ss_family == AF_UNIX)
        poet_unseen("a connection that is accepted, before it brings bytes");
    uint64_t begin = now_ns();
    while (count && __atomic_load_n(count, __ATOMIC_SEQ_CST) &&
           stream_find(end_out(fd)).state == STREAM_UNKNOWN) {
        sched_yield();
        if (now_ns() - begin > PATIENCE_NS)
            return;
    }
}
