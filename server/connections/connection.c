#define _GNU_SOURCE
#include "server/connections/connection.h"

#include "base/alloc.h"
#include "server/connections/event_server.h"
#include "server/eventloop/event_loop.h"
#include "server/transport/tls_channel.h"
#include "wire/limits.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 64

/* ---- a socket ---- */

static void keep_descriptors(struct channel *channel, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (channel->descriptor_count < DESCRIPTORS_MAX)
                ARRAY_PUSH(channel->descriptors, channel->descriptor_count, fd);
            else
                close(fd);
        }
    }
}

/* A message with a descriptor comes alone. */
static ssize_t socket_read(struct channel *channel, void *bytes, size_t size)
{
    char control[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    struct iovec iov = {bytes, size};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(channel->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n > 0)
        keep_descriptors(channel, &message);
    return n;
}

static ssize_t socket_write(struct channel *channel, const void *bytes, size_t size, int descriptor)
{
    struct iovec iov = {(void *)(uintptr_t)bytes, size};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
    }
    return sendmsg(channel->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool socket_has_ended(const struct channel *channel)
{
    struct pollfd p = {.fd = channel->fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0;
}

static void socket_close(struct channel *channel) { close(channel->fd); }
static const char *channel_socket_error_text(const struct channel *channel)
{
    return strerror(errno + !channel);
}

struct channel channel_on_socket(int fd)
{
    static const struct channel_kind kind = {socket_read, socket_write, socket_has_ended,
                                             socket_close, channel_socket_error_text};
    return (struct channel){.kind = &kind, .fd = fd};
}

/* ---- TLS ---- */

static ssize_t channel_tls_read(struct channel *channel, void *bytes, size_t size)
{
    return tls_read(channel->tls, bytes, size);
}

static ssize_t channel_tls_write(struct channel *channel, const void *bytes, size_t size,
                                 int descriptor)
{
    (void)descriptor; /* no use to another machine */
    return tls_write(channel->tls, bytes, size);
}

static void channel_tls_close(struct channel *channel)
{
    tls_free(channel->tls);
    close(channel->fd);
}

static const char *channel_tls_error_text(const struct channel *channel)
{
    return tls_error_text(channel->tls);
}

struct channel channel_on_tls(int fd, struct tls *tls)
{
    static const struct channel_kind kind = {channel_tls_read, channel_tls_write, socket_has_ended,
                                             channel_tls_close, channel_tls_error_text};
    return (struct channel){.kind = &kind, .fd = fd, .tls = tls};
}

/* ---- any ---- */

int channel_receive_descriptor(struct channel *channel)
{
    if (!channel->descriptor_count)
        return -1;
    int fd = channel->descriptors[0];
    memmove(channel->descriptors, channel->descriptors + 1,
            --channel->descriptor_count * sizeof *channel->descriptors);
    return fd;
}

void channel_close(struct channel *channel)
{
    for (size_t i = 0; i < channel->descriptor_count; i++)
        close(channel->descriptors[i]);
    free(channel->descriptors);
    channel->kind->close(channel);
}

#define READ_BYTES (64u << 10)

static void on_writable(struct ev_loop *loop, ev_io *io, int events);
static void on_readable(struct ev_loop *loop, ev_io *io, int events);

struct connection *connection_new(struct server *server, struct channel channel, const char *name,
                                  const struct connection_handler *talk)
{
    struct connection *peer = xcalloc(1, sizeof *peer);
    peer->server = server;
    peer->channel = channel;
    peer->limit = LIMIT_MESSAGE_BYTES;
    peer->talk = talk;
    peer->since = ev_now(server->loop);
    peer->read_at = server->accepted_at;
    snprintf(peer->name, sizeof peer->name, "%s", name);
    peer->previous = server->last_peer; /* in the order of their coming, as their lines are to be */
    if (peer->previous)
        peer->previous->next = peer;
    else
        server->peers = peer;
    server->last_peer = peer;
    server->had_peer = true;
    ev_io_init(&peer->readable, on_readable, channel.fd, EV_READ);
    ev_io_init(&peer->writable, on_writable, channel.fd, EV_WRITE);
    peer->readable.data = peer->writable.data = peer;
    ev_io_start(server->loop, &peer->readable);
    return peer;
}

void connection_close(struct connection *peer, const char *why)
{
    struct server *server = peer->server;
    if (why && !server->quiet)
        server_log("%s: %s, at byte %llu: dropped", peer->name, why,
                   (unsigned long long)peer->in_bytes);
    ev_io_stop(server->loop, &peer->readable);
    ev_io_stop(server->loop, &peer->writable);
    if (peer->talk->gone)
        peer->talk->gone(peer);
    if (server->reader == peer)
        server->reader = peer->next;
    if (peer->previous)
        peer->previous->next = peer->next;
    else
        server->peers = peer->next;
    if (peer->next)
        peer->next->previous = peer->previous;
    else
        server->last_peer = peer->previous;
    channel_close(&peer->channel);
    encoder_free(&peer->in);
    encoder_free(&peer->out);
    free(peer);
    if (!server->peers)
        ev_timer_again(server->loop, &server->idle);
}

void connection_reject(struct connection *peer, const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (!peer->server->quiet)
        server_log("%s: %s, at byte %llu", peer->name, text, (unsigned long long)peer->in_bytes);
    encoder_begin_message(&peer->out, MESSAGE_ERROR);
    encode_string(&peer->out, text);
    encoder_end_message(&peer->out);
    peer->ending = true;
    connection_send(peer);
}

void connection_send(struct connection *peer)
{
    if (peer->out.failed || peer->out.size > LIMIT_VIEWER_BYTES + LIMIT_ANSWER_BYTES) {
        peer->out.size = 0;
        peer->out.failed = false;
        peer->ending = true;
    }
    ev_io_start(peer->server->loop, &peer->writable);
}

static void connection_mark_closed(struct connection *peer)
{
    if (peer->closed)
        return;
    peer->closed = 1;
    peer->hangup = ++peer->server->hangups;
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
    struct connection *peer = io->data;
    (void)events;
    if (peer->talk->refill)
        peer->talk->refill(peer);
    if (peer->out.size) {
        ssize_t n = channel_write(&peer->channel, peer->out.data, peer->out.size, -1);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            if (peer->talk->whole && !peer->ending) { /* what it left behind is read in turn */
                connection_mark_closed(peer);
                peer->out.size = 0;
                ev_io_stop(loop, io);
                return;
            }
            connection_close(peer, peer->role == ROLE_VIEWER || peer->ending ? NULL
                                   : errno == EPROTO ? channel_error_text(&peer->channel)
                                                     : strerror(errno));
            return;
        }
        encoder_consume(&peer->out, n > 0 ? (size_t)n : 0);
    }
    if (peer->out.size || (peer->talk->has_more && peer->talk->has_more(peer)))
        return;
    ev_io_stop(loop, io);
    if (peer->ending)
        connection_close(peer, NULL);
}

/* What is left of its messages is read in the next turn; nothing more is taken from it until
 * then. */
static void connection_postpone(struct connection *peer)
{
    peer->unread = true;
    peer->server->behind = true;
    ev_io_stop(peer->server->loop, &peer->readable);
}

/* Uses up whole messages, as many as the turn has time for. */
static void use_messages(struct connection *peer)
{
    size_t used = 0;
    peer->unread = false;
    while (!peer->ending) {
        unsigned type;
        size_t length;
        const char *error;
        const uint8_t *at = used ? peer->in.data + used : peer->in.data; /* which may be NULL */
        int got = frame_read(at, peer->in.size - used, peer->limit, &type, &length, &error);
        if (got < 0)
            connection_reject(peer, "%s", error);
        if (got <= 0)
            break;
        enum readiness ready =
            !loop_turn_may_read() && used ? CONNECTION_READY_LATER : peer->talk->ready(peer);
        if (ready == CONNECTION_READY_LATER)
            connection_postpone(peer);
        if (ready == CONNECTION_NOT_READY)
            ev_io_stop(peer->server->loop, &peer->readable);
        if (ready != READY)
            break;
        peer->talk->message(peer, type, at + MESSAGE_FRAME_BYTES, length);
        if (peer->stalled) {
            ev_io_stop(peer->server->loop, &peer->readable);
            break;
        }
        used += MESSAGE_FRAME_BYTES + length;
        peer->in_bytes += MESSAGE_FRAME_BYTES + length;
    }
    encoder_consume(&peer->in, used);
}

void connection_resume_reading(struct connection *peer)
{
    ev_io_start(peer->server->loop, &peer->readable);
    use_messages(peer);
}

void connection_read_rest(struct connection *peer)
{
    static uint8_t bytes[READ_BYTES];
    ssize_t n;
    while (!peer->in.failed && peer->in.size < LIMIT_VIEWER_BYTES &&
           (n = channel_read(&peer->channel, bytes, sizeof bytes)) > 0)
        encode_bytes(&peer->in, bytes, (size_t)n);
}

void connection_retry(struct server *server)
{
    for (struct connection *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (!peer->stalled || peer->closed)
            continue;
        peer->stalled = false;
        use_messages(peer);
        if (!peer->stalled) {
            ev_io_start(server->loop, &peer->readable);
            continue;
        }
        connection_read_rest(peer); /* else its end would never come in */
        if (channel_has_ended(&peer->channel))
            connection_mark_closed(peer);
        else if (peer->in.size >= LIMIT_VIEWER_BYTES)
            connection_reject(peer, "the disk is full");
    }
}

void connection_on_disconnect(struct connection *peer)
{
    bool half = peer->in.size > 0 && !peer->ending && !peer->stalled;
    connection_close(peer, half ? "connection closed within a message" : NULL);
}

/* One read; true if there may be more. */
static bool read_some(struct connection *peer)
{
    static uint8_t bytes[READ_BYTES];
    ssize_t n = channel_read(&peer->channel, bytes, sizeof bytes);
    if (n < 0 && errno == EAGAIN)
        peer->read_at = peer->server->hangups;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n < 0 && errno == EPROTO) {
        connection_close(peer, channel_error_text(&peer->channel));
        return false;
    }
    if (n <= 0) {
        ev_io_stop(peer->server->loop, &peer->readable);
        connection_mark_closed(peer);
        peer->read_at = peer->server->hangups;
        if (!peer->talk->whole)
            connection_on_disconnect(peer);
        return false;
    }
    if (peer->ending)
        return false; /* it was refused: what it says does not matter any more */
    encode_bytes(&peer->in, bytes, (size_t)n);
    if (peer->in.failed) {
        connection_reject(peer, "out of memory for its message");
        return false;
    }
    use_messages(peer);
    return peer->talk->whole && !peer->ending && !peer->stalled;
}

/* A program's new threads must be known before its queues are emptied: what one thread did waits
 * for what another did before.  So all that it has sent is read first. */
#define READS 256

/* Reads on, beginning with what is there already; as much as the turn has time for. */
static void connection_read(struct connection *peer)
{
    bool whole = peer->talk->whole, more = true;
    if (peer->unread)
        use_messages(peer);
    for (int i = 0; more && i < READS && !peer->unread && loop_turn_may_read(); i++) {
        more = read_some(peer); /* false: it may be gone */
        whole |= more;
    }
    if (!whole)
        return;
    if (more && !peer->unread)
        connection_postpone(peer);
    if (!peer->ending && peer->talk->was_read)
        peer->talk->was_read(peer);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct connection *peer = io->data;
    (void)loop;
    (void)events;
    loop_turn_set_activity(peer->talk->doing);
    if (loop_turn_may_read())
        connection_read(peer);
    else
        connection_postpone(peer);
}

/* Whether the peer may have announced events that the program `gone` knew of. */
static bool connection_may_precede(const struct connection *peer, const struct connection *gone)
{
    bool may = !peer->role || (peer->role == ROLE_PROGRAM && peer->run == gone->run);
    return may && !peer->ending && !peer->stalled;
}

bool connection_read_earlier(struct connection *gone)
{
    if (gone->server->accepted_at < gone->hangup)
        return false;
    for (struct connection *peer = gone->server->peers, *next; peer; peer = next) {
        bool stays = peer->talk->whole;
        next = peer->next;
        if (!connection_may_precede(peer, gone) || peer->unread || peer->read_at >= gone->hangup)
            continue;
        read_some(peer); /* if that is not all, it is readable in the next turn, too */
        if (stays && !peer->ending && peer->talk->was_read)
            peer->talk->was_read(peer);
    }
    for (struct connection *peer = gone->server->peers; peer; peer = peer->next)
        if (connection_may_precede(peer, gone) && (peer->unread || peer->read_at < gone->hangup))
            return false;
    return true;
}

void connection_read_last(struct server *server, struct loop_share share)
{
    loop_turn_allow_reading(share);
    for (struct connection *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (!peer->talk->whole || peer->ending || peer->stalled)
            continue;
        if (peer->unread)
            use_messages(peer);
        bool more = !peer->closed;
        while (more && !peer->unread && loop_turn_may_read())
            more = read_some(peer); /* false: it may be gone */
    }
}

void connection_step(struct server *server)
{
    size_t count = 0;
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        count++;
    loop_turn_set_activity("messages that were put off");
    for (; count && server->peers && loop_turn_may_read(); count--) {
        struct connection *peer = server->reader ? server->reader : server->peers;
        server->reader = peer->next;
        if (peer->unread) {
            ev_io_start(server->loop, &peer->readable);
            connection_read(peer);
        }
    }
}
