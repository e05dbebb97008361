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

#include <endian.h>
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

/* (the address as numbers) */
static poet_place_t place_of(const struct in6_addr *address, uint16_t port)
{
    poet_place_t p;
    memcpy(&p.high, address->s6_addr, 8);
    memcpy(&p.low, address->s6_addr + 8, 8);
    return (poet_place_t){be64toh(p.high), be64toh(p.low), ntohs(port)};
}

#define V4_MAPPED (UINT64_C(0xffff) << 32)

/* An IPv4 address, also one within IPv6, or an IPv6 one. */
static bool read_place(const struct sockaddr_storage *from, poet_place_t *p)
{
    const struct sockaddr_in *in = (const void *)from;
    const struct sockaddr_in6 *in6 = (const void *)from;
    if (from->ss_family == AF_INET)
        *p = (poet_place_t){0, V4_MAPPED | ntohl(in->sin_addr.s_addr), ntohs(in->sin_port)};
    else if (from->ss_family == AF_INET6)
        *p = place_of(&in6->sin6_addr, in6->sin6_port);
    return from->ss_family == AF_INET || from->ss_family == AF_INET6;
}

static bool is_loopback(const poet_place_t *p)
{
    return p->high == 0 && (p->low == 1 || p->low >> 24 == (V4_MAPPED >> 24 | 127));
}

static uint64_t key_of(uint64_t kind, const poet_place_t *p)
{
    return mix(mix(mix(mix(kind, network()), p->high), p->low), p->port);
}

static bool tcp_ends(int fd, poet_place_t *here, poet_place_t *there)
{
    struct sockaddr_storage a, b;
    socklen_t a_size = sizeof a, b_size = sizeof b;
    return getsockname(fd, (struct sockaddr *)&a, &a_size) == 0 &&
           getpeername(fd, (struct sockaddr *)&b, &b_size) == 0 && read_place(&a, here) &&
           read_place(&b, there);
}

/* Both ends are on this machine. */
static bool is_near(const poet_place_t *here, const poet_place_t *there)
{
    return is_loopback(here) || (here->high == there->high && here->low == there->low);
}

static uint64_t way(const poet_place_t *from, const poet_place_t *to)
{
    return mix(key_of(CONNECTION, from), key_of(CONNECTION, to));
}

static int option(int fd, int what)
{
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, what, &value, &size) == 0 ? value : -1;
}

static struct end stream_end(uint64_t key)
{
    return (struct end){.kind = key ? END_STREAM : END_NONE, .key = key};
}

static struct end tcp_end(int fd, bool out)
{
    struct end end = {.kind = END_NONE};
    /* not yet connected; or no more, and the end may be to be read */
    if (!tcp_ends(fd, &end.here, &end.there)) {
        if (poet_far())
            end = (struct end){.kind = END_FAR};
        return end;
    }
    if (is_near(&end.here, &end.there))
        return stream_end(out ? way(&end.here, &end.there) : way(&end.there, &end.here));
    if (poet_far() && option(fd, SO_PROTOCOL) == IPPROTO_TCP)
        end.kind = END_FAR;
    return end;
}

static struct end socket_end(int fd, bool out)
{
    int domain = option(fd, SO_DOMAIN), type = option(fd, SO_TYPE);
    uint64_t cookie;
    if (type < 0 || (domain != AF_UNIX && domain != AF_INET && domain != AF_INET6))
        return stream_end(0);
    if (type != SOCK_STREAM) {
        poet_unseen("datagrams and packets");
        return stream_end(0);
    }
    if (domain != AF_UNIX)
        return tcp_end(fd, out);
    if (!cookie_of(fd, &cookie))
        return stream_end(0);
    const uint64_t *peer = poet_counter(mix(PEER, cookie), false);
    return stream_end(peer ? mix(PAIR, out ? cookie : LOAD(peer)) : named_end(cookie, out));
}

struct end end_of_status(int fd, const struct stat *st, bool out)
{
    return S_ISFIFO(st->st_mode)   ? stream_end(mix(mix(PIPE, st->st_dev), st->st_ino))
           : S_ISSOCK(st->st_mode) ? socket_end(fd, out)
                                   : stream_end(0);
}

struct end end_find(int fd, bool out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return stream_end(0);
    if ((st.st_mode & S_IFMT) != 0) /* 0: what the kernel calls an anonymous inode */
        return end_of_status(fd, &st, out);
    struct end end = stream_end(count_key(fd));
    end.kind = end.key ? END_EVENTFD : END_NONE;
    return end;
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
    stream_open(end_of_status(fd, &st, false).key, there == 0);
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
    poet_place_t p;
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
    poet_place_t p;
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
    poet_place_t here, there;
    if (!count)
        return;
    if (done && tcp_ends(fd, &here, &there) && is_near(&here, &there)) {
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
