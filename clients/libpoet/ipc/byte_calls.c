/* Calls that read and write bytes. */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/ipc_tracer.h"

#include "clients/libpoet/ipc/byte_streams.h"
#include "clients/libpoet/ipc/fd_ends.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/ipc_events.h"
#include "clients/libpoet/ipc/socket_info.h"
#include "clients/libpoet/ipc/tcp_peers.h"
#include "clients/libpoet/poet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

REAL(ssize_t, read, (int, void *, size_t))
REAL(ssize_t, write, (int, const void *, size_t))
REAL(ssize_t, readv, (int, const struct iovec *, int))
REAL(ssize_t, writev, (int, const struct iovec *, int))
REAL(ssize_t, recv, (int, void *, size_t, int))
REAL(ssize_t, send, (int, const void *, size_t, int))
REAL(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, socklen_t *))
REAL(ssize_t, sendto, (int, const void *, size_t, int, const struct sockaddr *, socklen_t))
REAL(ssize_t, recvmsg, (int, struct msghdr *, int))
REAL(ssize_t, sendmsg, (int, const struct msghdr *, int))
REAL(int, eventfd_read, (int, eventfd_t *))
REAL(int, eventfd_write, (int, eventfd_t))

/* ---- a call under way ---- */

/* A thread's pending write into a stream. Kept by value, not on the stack, which a handler may
 * leave by a jump. */
struct byte_write {
    struct ipc_stream stream; /* key 0: it writes nothing */
    const void *site;
    uint64_t from;  /* the first byte, */
    uint64_t asked; /* how many bytes it writes, */
    uint64_t recorded;  /*   and how many of them are recorded */
    bool telling;   /* recording is in progress */
};

static __thread struct byte_write byte_call_current_write
    __attribute__((tls_model("initial-exec")));

struct transfer {
    struct ipc_stream stream;
    /* the write that was interrupted by the handler that makes this call */
    struct byte_write outer;
    struct tcp_peer peer;
    uint64_t side;
    const void *site;
    uint64_t count;      /* the key of an eventfd */
    uint64_t unknown;    /* the key of a stream that a read found unknown; 0: none */
    enum ipc_event wait; /* how the call would wait, */
    poet_line_t line;    /* what for, */
    poet_type_t type;    /* and the event type of the wait; 0: it does not wait */
    bool followed, waits;
    bool is_tcp; /* uses `peer`, not `stream` */
    bool peeks;      /* the data are not consumed */
    uint64_t began;  /*   nanoseconds */
    bool adds_after; /* to an eventfd: it may fail */
    size_t asked; /* bytes */
    size_t bytes; /* of them: in a replayed run, as many as were moved in the recorded one */
    bool refused; /* it found nothing in the recorded run */
    bool expected; /* it found something there */
    unsigned tries;
};

#define MOST_BYTES (1u << 30)

static bool byte_call_waits_for_all(int fd, int flags)
{
    return !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/* Returns whether a pipe or Unix socket that has some space has less than that: poll() finds a free
 * page. (A socket has a little less space than its buffer is large.) */
static bool byte_call_exceeds_space(int fd, size_t bytes)
{
    int there = 0, room = bytes > PIPE_BUF ? fcntl(fd, F_GETPIPE_SZ) : -1;
    bool pipe = room > 0;
    if (!pipe && bytes > PIPE_BUF)
        room = socket_unix_room(fd);
    return room > 0 && ioctl(fd, pipe ? FIONREAD : SIOCOUTQ, &there) == 0 &&
           (there >= room || bytes > (size_t)(room - there));
}

static bool byte_call_read_would_block(int fd, int flags)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return byte_call_waits_for_all(fd, flags) && poll_result_query(&p, 1, 0) == 0;
}

static bool byte_call_write_would_block(int fd, size_t bytes, int flags)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return byte_call_waits_for_all(fd, flags) &&
           (poll_result_query(&p, 1, 0) == 0 ||
            (!(p.revents & POLLERR) && byte_call_exceeds_space(fd, bytes)));
}

/* Returns whether the call has to wait; sets with which event it would. */
static bool byte_call_would_block(struct transfer *t, int fd, bool writes, size_t bytes, int flags)
{
    bool blocks = writes ? byte_call_write_would_block(fd, bytes, flags)
                         : byte_call_read_would_block(fd, flags),
         timed = (blocks || ipc_replay_is_active()) && socket_has_timeout(fd, writes);
    t->wait = writes ? (timed ? TIMED_FULL : FULL) : timed ? TIMED_EMPTY : EMPTY;
    return blocks;
}

static bool byte_call_has_failed(int fd)
{
    struct pollfd p = {.fd = fd};
    return poll_result_query(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLNVAL);
}

static void byte_call_enter_stream(struct transfer *t, bool writes, size_t bytes)
{
    struct ipc_stream *s = &t->stream;
    t->followed = s->state == STREAM_FOLLOWED && (t->peeks || stream_enter(s, t->side));
    /* a thread that is not recorded: the writer would be unknown */
    if (t->followed && writes && !poet_current_line()) {
        stream_break(s, "");
        stream_leave(s, t->side);
        t->followed = false;
    }
    if (!t->followed || !writes)
        return;
    uint64_t from = LOAD(s->written);
    STORE(s->claimed, from + bytes);
    stream_written_by(s, (uint32_t)getpid());
    t->outer = byte_call_current_write;
    byte_call_current_write =
        (struct byte_write){.stream = *s, .site = t->site, .from = from, .asked = bytes};
}

#define MUCH (1ull << 32)

/* Bytes that are written are recorded before the call, unless it may fail. */
static void byte_call_begin_count(struct transfer *t, int fd, bool writes, const void *given)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    uint64_t value = MUCH;
    if (given)
        memcpy(&value, given, sizeof value);
    t->adds_after = writes && (value >= MUCH || poll_result_query(&room, 1, 0) <= 0);
    if (writes && !t->adds_after)
        eventfd_counter_add(t->count, t->site);
}

/* In a replayed run. */
static void byte_call_begin_replay(struct transfer *t, int fd, bool writes, int flags)
{
    if (!ipc_replay_is_active())
        return;
    t->bytes =
        ipc_replay_byte_count(writes ? WRITE : READ, &t->stream, stream_line(&t->stream), t->bytes);
    t->expected = ipc_replay_next_is(writes ? WRITE : READ, &t->stream) > 0 ||
                  (!writes && ipc_replay_next_is(ENDED, &t->stream) > 0);
    t->refused = !writes && !byte_call_waits_for_all(fd, flags) && !byte_call_has_failed(fd) &&
                 ipc_replay_finds_nothing(&t->stream);
}

static void byte_call_begin_stream(struct transfer *t, const struct fd_end *end, int fd,
                                   bool writes, size_t bytes, int flags)
{
    t->stream = stream_find(end->key);
    if (t->stream.state == STREAM_UNKNOWN && writes)
        stream_never(end->key);
    t->unknown = t->stream.state == STREAM_UNKNOWN && !writes && !t->peeks ? end->key : 0;
    byte_call_enter_stream(t, writes, bytes);
    bool blocks = t->followed && byte_call_would_block(t, fd, writes, bytes, flags);
    t->waits = t->followed && ipc_replay_must_wait(t->wait, &t->stream, blocks);
    t->line = t->waits ? stream_line(&t->stream) : 0;
    if (t->waits)
        ipc_replay_commit(t->wait, &t->stream);
}

static void byte_call_begin_remote(struct transfer *t, const struct fd_end *end, int fd,
                                   bool writes, int flags)
{
    t->is_tcp = tcp_peer_find(fd, end, &t->peer);
    t->waits = t->is_tcp && byte_call_would_block(t, fd, writes, t->asked, flags);
    t->line = t->waits ? tcp_peer_line(&t->peer, writes) : 0;
    if (t->waits)
        ipc_replay_commit(t->wait, &(struct ipc_stream){.key = writes ? t->peer.out : t->peer.in});
    if (t->is_tcp && writes)
        tcp_peer_enter(&t->peer);
}

static void byte_call_begin(struct transfer *t, int fd, bool writes, const void *given,
                            size_t bytes, int flags, const void *site)
{
    *t = (struct transfer){.side = writes ? STREAM_WRITER : STREAM_READER,
                           .site = site,
                           .asked = bytes,
                           .bytes = bytes,
                           .peeks = !writes && (flags & MSG_PEEK)};
    t->began = t->peeks ? now_ns() : 0;
    if (!ipc_entry_is_traced(site) || bytes == 0 || bytes > MOST_BYTES ||
        (flags & (MSG_OOB | MSG_ERRQUEUE)))
        return;
    int saved = errno;
    ipc_inside_library = true;
    struct fd_end end = fd_end_find(fd, writes);
    if (end.kind == FD_END_STREAM) {
        byte_call_begin_stream(t, &end, fd, writes, bytes, flags);
    } else if (end.kind == FD_END_TCP) {
        byte_call_begin_remote(t, &end, fd, writes, flags);
    } else if (end.kind == FD_END_EVENTFD && bytes >= sizeof(uint64_t)) {
        t->count = end.key;
        t->line = ipc_event_line(IPC_OBJECT_EVENTFD, end.key, "");
        bool blocks = byte_call_would_block(t, fd, writes, bytes, flags);
        t->waits = ipc_replay_must_wait(t->wait, NULL, blocks);
    }
    if (t->waits && writes)
        poet_untraced("a write that blocked until a reader made room");
    if (t->waits)
        ipc_event_about(t->wait, t->line, 0, site);
    t->type = t->waits ? event_type(t->wait) : 0;
    if (t->count) {
        t->expected = !writes && ipc_replay_next_is(TAKE, NULL) == 1;
        if (t->expected)
            poet_replay_wait_turn(t->line, event_type(DRAINED));
        byte_call_begin_count(t, fd, writes, given);
    } else if (t->followed && !t->peeks)
        byte_call_begin_replay(t, fd, writes, flags);
    if (t->type)
        poet_wait_begin(t->type);
    ipc_inside_library = false;
    errno = saved;
}

/* asked: how many were requested, if it was more. */
static poet_event_t byte_call_record_bytes(const struct ipc_stream *s, enum ipc_event event,
                                           uint64_t from, size_t bytes, size_t asked,
                                           const void *site)
{
    ipc_replay_commit(event, s);
    return poet_record(
        &(poet_record_t){.type = event_type(event),
                         .about = stream_line(s),
                         .site = site,
                         .flags = (event == WRITE ? POET_SEND : POET_RECEIVE) | POET_STREAM,
                         .high = s->key,
                         .low = &from,
                         .keys = 1,
                         .count = (uint32_t)bytes,
                         .asked = bytes < asked ? (uint32_t)asked : 0,
                         .got = (uint32_t)bytes});
}

static void byte_call_record_written_part(struct byte_write *w, uint64_t bytes, uint64_t asked)
{
    uint64_t from = w->from + w->recorded;
    stream_wrote(
        &w->stream,
        byte_call_record_bytes(&w->stream, WRITE, from, (size_t)bytes, (size_t)asked, w->site),
        from, (size_t)bytes);
    w->recorded += bytes;
}

static void byte_call_record_written(struct transfer *t, size_t bytes)
{
    struct byte_write *w = &byte_call_current_write;
    w->telling = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (bytes > w->recorded)
        byte_call_record_written_part(w, bytes - w->recorded, w->asked - w->recorded);
    STORE(t->stream.claimed, w->from + w->recorded);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    byte_call_current_write = t->outer;
}

void byte_calls_forked(void) { byte_call_current_write = (struct byte_write){.telling = false}; }

bool byte_calls_interrupted(void)
{
    struct byte_write *w = &byte_call_current_write;
    if (!w->stream.key || LOAD(w->stream.flags) & STREAM_BROKEN)
        return true;
    if (w->telling)
        return false;
    uint64_t read = LOAD(w->stream.read), end = w->from + w->asked,
             recorded = w->from + w->recorded;
    read = read < end ? read : end;
    bool was_inside = ipc_inside_library;
    ipc_inside_library = true;
    if (read > recorded)
        byte_call_record_written_part(w, read - recorded, 0);
    ipc_inside_library = was_inside;
    return true;
}

/* More bytes are there than were written, while no traced thread writes: an untraced call wrote
 * them. */
static bool byte_call_adds_up(const struct ipc_stream *s, int fd, uint64_t read)
{
    int there = 0;
    uint64_t written = LOAD(s->written);
    bool quiet = !(LOAD(s->flags) / STREAM_WRITER & 0xff);
    if (!quiet || ioctl(fd, FIONREAD, &there) != 0)
        return true;
    return read + (uint64_t)there <= written || written != LOAD(s->written) ||
           LOAD(s->flags) / STREAM_WRITER & 0xff;
}

static void byte_call_record_read(struct transfer *t, int fd, size_t bytes)
{
    struct ipc_stream *s = &t->stream;
    uint64_t from = LOAD(s->read);
    if (LOAD(s->flags) & STREAM_BROKEN)
        s->state = STREAM_LOST;
    else if (t->peeks) {
        stream_polled(fd, s, t->began, t->site);
        return;
    } else if (from + bytes > LOAD(s->claimed) || !byte_call_adds_up(s, fd, from + bytes))
        stream_break(s, "bytes were written by an untraced call (stdio, splice, ...)");
    if (s->state == STREAM_LOST) {
        ipc_replay_commit(t->peeks ? READABLE : READ, s);
        ipc_event_about(t->peeks ? READABLE : READ, stream_line(s), POET_DOUBT_STREAM, t->site);
        return;
    }
    byte_call_record_bytes(s, READ, from, bytes, t->asked, t->site);
    STORE(s->changed, now_ns());
    STORE(s->read, from + bytes);
}

/* A connection may be accepted, and a read of it begin, before the connecting thread has recorded
 * it: the read got the first bytes, unless the kernel has counted others. */
static void byte_call_enter_late(struct transfer *t, int fd, size_t bytes)
{
    struct ipc_stream *s = &t->stream;
    uint64_t end;
    *s = stream_find(t->unknown);
    t->followed = s->state == STREAM_FOLLOWED && stream_enter(s, t->side);
    if (t->followed && (LOAD(s->read) != 0 || !socket_read(fd, bytes, &end) || end != bytes))
        stream_break(s, "it was read before it was recorded");
}

static void byte_call_end_stream(struct transfer *t, int fd, ssize_t bytes)
{
    if (t->side == STREAM_WRITER && t->followed)
        byte_call_record_written(t, bytes > 0 ? (size_t)bytes : 0);
    else if (t->side == STREAM_READER && bytes > 0)
        byte_call_record_read(t, fd, (size_t)bytes);
    else if (t->side == STREAM_READER && bytes == 0)
        stream_ended(&t->stream, t->peeks ? HANGUP : ENDED, t->site);
    if (t->followed && !t->peeks)
        stream_leave(&t->stream, t->side);
}

static void byte_call_end_remote(struct transfer *t, int fd, ssize_t bytes)
{
    if (t->side == STREAM_WRITER && bytes > 0)
        tcp_peer_record_written(fd, &t->peer, (size_t)bytes, t->asked, t->site);
    else if (t->side == STREAM_WRITER)
        tcp_peer_leave(&t->peer);
    else if (bytes == 0)
        tcp_peer_ended(&t->peer, t->peeks ? HANGUP : ENDED, t->site);
    else if (bytes > 0 && t->peeks)
        tcp_peer_looked(fd, &t->peer, t->site);
    else if (bytes > 0)
        tcp_peer_record_read(fd, &t->peer, (size_t)bytes, t->asked, t->site);
}

static void byte_call_end(struct transfer *t, int fd, ssize_t bytes)
{
    if (t->unknown && bytes >= 0)
        QUIETLY(byte_call_enter_late(t, fd, (size_t)bytes));
    bool looked = t->count || t->is_tcp || t->stream.state == STREAM_FOLLOWED ||
                  (t->stream.state == STREAM_LOST && t->side == STREAM_READER);
    if (!looked)
        return;
    int saved = errno;
    ipc_inside_library = true;
    if (t->type)
        poet_wait_done(t->type);
    if (t->waits && bytes < 0)
        ipc_event_about(WOKEN, t->line, 0, t->site);
    if (t->is_tcp)
        byte_call_end_remote(t, fd, bytes);
    else if (!t->count)
        byte_call_end_stream(t, fd, bytes);
    else if (t->side == STREAM_READER && bytes > 0)
        eventfd_counter_taken(t->count, t->site);
    else if (t->adds_after && bytes > 0)
        eventfd_counter_add(t->count, t->site);
    ipc_inside_library = false;
    errno = saved;
}

static void byte_call_cancelled(void *p)
{
    struct transfer *t = p;
    if (t->type)
        poet_wait_done(t->type);
    if (t->followed && t->side == STREAM_WRITER)
        byte_call_current_write = t->outer;
    if (t->followed && !t->peeks)
        stream_leave(&t->stream, t->side);
    if (t->is_tcp && t->side == STREAM_WRITER)
        tcp_peer_leave(&t->peer);
}

static ssize_t byte_call_refuse(void)
{
    errno = EAGAIN;
    return -1;
}

/* `call` moves at most t.bytes bytes. */
#define TRANSFER(find, fd, writes, given, size, flags, call)                                       \
    struct transfer t;                                                                             \
    ssize_t n;                                                                                     \
    find();                                                                                        \
    byte_call_begin(&t, fd, writes, given, size, flags, SITE);                                     \
    pthread_cleanup_push(byte_call_cancelled, &t);                                                 \
    do                                                                                             \
        n = t.refused ? byte_call_refuse() : (call);                                               \
    while (n < 0 && errno == EAGAIN && ipc_replay_retry(t.expected, &t.tries));                    \
    pthread_cleanup_pop(0);                                                                        \
    byte_call_end(&t, fd, n);                                                                      \
    return n

/* Returns 0 for arguments that the system will reject. */
static size_t byte_call_total_bytes(const struct iovec *iov, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; iov && count <= IOV_MAX && i < count; i++)
        bytes += iov[i].iov_len;
    return bytes;
}

static size_t byte_call_message_bytes(const struct msghdr *m)
{
    return m ? byte_call_total_bytes(m->msg_iov, m->msg_iovlen) : 0;
}

/* Copies those that hold the first bytes; returns how many. */
static int byte_call_shorten(struct iovec *some, const struct iovec *iov, int count, size_t bytes)
{
    int n = 0;
    while (n < count && n < IOV_MAX && bytes) {
        some[n] = iov[n];
        some[n].iov_len = some[n].iov_len < bytes ? some[n].iov_len : bytes;
        bytes -= some[n++].iov_len;
    }
    return n;
}

static ssize_t byte_call_part(ssize_t (*call)(int, const struct iovec *, int), int fd,
                              const struct iovec *iov, int count, size_t bytes)
{
    struct iovec some[IOV_MAX];
    return call(fd, some, byte_call_shorten(some, iov, count, bytes));
}

static ssize_t byte_call_part_received(int fd, struct msghdr *m, int flags, size_t bytes)
{
    struct iovec some[IOV_MAX], *before = m->msg_iov;
    size_t count = m->msg_iovlen;
    m->msg_iovlen = (size_t)byte_call_shorten(some, before, (int)count, bytes);
    m->msg_iov = some;
    ssize_t n = real_recvmsg(fd, m, flags);
    m->msg_iov = before;
    m->msg_iovlen = count;
    return n;
}

static ssize_t byte_call_part_sent(int fd, const struct msghdr *m, int flags, size_t bytes)
{
    struct iovec some[IOV_MAX];
    struct msghdr part = *m;
    part.msg_iovlen = (size_t)byte_call_shorten(some, m->msg_iov, (int)m->msg_iovlen, bytes);
    part.msg_iov = some;
    return real_sendmsg(fd, &part, flags);
}

API ssize_t read(int fd, void *data, size_t bytes)
{
    TRANSFER(find_read, fd, false, NULL, bytes, 0, real_read(fd, data, t.bytes));
}
API ssize_t write(int fd, const void *data, size_t bytes)
{
    TRANSFER(find_write, fd, true, bytes >= 8 ? data : NULL, bytes, 0,
             real_write(fd, data, t.bytes));
}
API ssize_t readv(int fd, const struct iovec *iov, int count)
{
    TRANSFER(find_readv, fd, false, NULL, byte_call_total_bytes(iov, (size_t)count), 0,
             t.bytes < byte_call_total_bytes(iov, (size_t)count)
                 ? byte_call_part(real_readv, fd, iov, count, t.bytes)
                 : real_readv(fd, iov, count));
}
API ssize_t writev(int fd, const struct iovec *iov, int count)
{
    TRANSFER(find_writev, fd, true, iov && count > 0 && iov->iov_len >= 8 ? iov->iov_base : NULL,
             byte_call_total_bytes(iov, (size_t)count), 0,
             t.bytes < byte_call_total_bytes(iov, (size_t)count)
                 ? byte_call_part(real_writev, fd, iov, count, t.bytes)
                 : real_writev(fd, iov, count));
}
API ssize_t recv(int fd, void *data, size_t bytes, int flags)
{
    TRANSFER(find_recv, fd, false, NULL, bytes, flags, real_recv(fd, data, t.bytes, flags));
}
API ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    TRANSFER(find_send, fd, true, NULL, bytes, flags, real_send(fd, data, t.bytes, flags));
}
API ssize_t recvfrom(int fd, void *data, size_t bytes, int flags, struct sockaddr *from,
                     socklen_t *size)
{
    TRANSFER(find_recvfrom, fd, false, NULL, bytes, flags,
             real_recvfrom(fd, data, t.bytes, flags, from, size));
}
API ssize_t sendto(int fd, const void *data, size_t bytes, int flags, const struct sockaddr *to,
                   socklen_t size)
{
    TRANSFER(find_sendto, fd, true, NULL, bytes, flags,
             real_sendto(fd, data, t.bytes, flags, to, size));
}
API ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    TRANSFER(find_recvmsg, fd, false, NULL, byte_call_message_bytes(m), flags,
             t.bytes < byte_call_message_bytes(m) ? byte_call_part_received(fd, m, flags, t.bytes)
                                                  : real_recvmsg(fd, m, flags));
}
API ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    TRANSFER(find_sendmsg, fd, true, NULL, byte_call_message_bytes(m), flags,
             t.bytes < byte_call_message_bytes(m) ? byte_call_part_sent(fd, m, flags, t.bytes)
                                                  : real_sendmsg(fd, m, flags));
}

/* Names used by compilers with -D_FORTIFY_SOURCE. */
API ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room);
API ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room)
{
    if (bytes > room) /* the same check as in the C library */
        abort();
    TRANSFER(find_read, fd, false, NULL, bytes, 0, real_read(fd, data, t.bytes));
}
API ssize_t __recv_chk(int fd, void *data, size_t bytes, size_t room, int flags);
API ssize_t __recv_chk(int fd, void *data, size_t bytes, size_t room, int flags)
{
    if (bytes > room)
        abort();
    TRANSFER(find_recv, fd, false, NULL, bytes, flags, real_recv(fd, data, t.bytes, flags));
}

/* The C library's internal calls cannot be interposed: these two are implemented here. */
API int eventfd_read(int fd, eventfd_t *value)
{
    struct transfer t;
    int e;
    find_eventfd_read();
    byte_call_begin(&t, fd, false, NULL, sizeof *value, 0, SITE);
    pthread_cleanup_push(byte_call_cancelled, &t);
    e = real_eventfd_read(fd, value);
    pthread_cleanup_pop(0);
    byte_call_end(&t, fd, e == 0 ? (ssize_t)sizeof *value : -1);
    return e;
}

API int eventfd_write(int fd, eventfd_t value)
{
    struct transfer t;
    int e;
    find_eventfd_write();
    byte_call_begin(&t, fd, true, &value, sizeof value, 0, SITE);
    pthread_cleanup_push(byte_call_cancelled, &t);
    e = real_eventfd_write(fd, value);
    pthread_cleanup_pop(0);
    byte_call_end(&t, fd, e == 0 ? (ssize_t)sizeof value : -1);
    return e;
}
