#define _GNU_SOURCE
#include "server/peers/peer.h"

#include "memory/memory.h"
#include "server/loop/log.h"
#include "server/loop/turn.h"
#include "server/peers/server.h"
#include "wire/limits.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES (64u << 10)

static void on_writable(struct ev_loop *loop, ev_io *io, int events);
static void on_readable(struct ev_loop *loop, ev_io *io, int events);

struct peer *peer_new(struct server *server, struct channel channel, const char *name,
                      const struct talk *talk)
{
    struct peer *peer = memory_zeroed(1, sizeof *peer);
    peer->server = server;
    peer->channel = channel;
    peer->limit = LIMIT_MESSAGE_BYTES;
    peer->talk = talk;
    peer->since = ev_now(server->loop);
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

void peer_drop(struct peer *peer, const char *why)
{
    struct server *server = peer->server;
    if (why && !server->quiet)
        log_line("%s: %s, at byte %llu: dropped", peer->name, why,
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
    out_free(&peer->in);
    out_free(&peer->out);
    free(peer);
    if (!server->peers)
        ev_timer_again(server->loop, &server->idle);
}

void peer_refuse(struct peer *peer, const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (!peer->server->quiet)
        log_line("%s: %s, at byte %llu", peer->name, text, (unsigned long long)peer->in_bytes);
    out_begin(&peer->out, MESSAGE_ERROR);
    put_string(&peer->out, text);
    out_end(&peer->out);
    peer->ending = true;
    peer_send(peer);
}

void peer_send(struct peer *peer)
{
    if (peer->out.failed || peer->out.size > LIMIT_VIEWER_BYTES + LIMIT_ANSWER_BYTES) {
        peer->out.size = 0;
        peer->out.failed = false;
        peer->ending = true;
    }
    ev_io_start(peer->server->loop, &peer->writable);
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
    struct peer *peer = io->data;
    (void)events;
    if (peer->talk->refill)
        peer->talk->refill(peer);
    if (peer->out.size) {
        ssize_t n = channel_write(&peer->channel, peer->out.data, peer->out.size, -1);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            if (peer->talk->whole && !peer->ending) { /* what it left behind is read in turn */
                peer->closed += !peer->closed;
                peer->out.size = 0;
                ev_io_stop(loop, io);
                return;
            }
            peer_drop(peer, peer->role == ROLE_VIEWER || peer->ending ? NULL
                            : errno == EPROTO                         ? channel_why(&peer->channel)
                                                                      : strerror(errno));
            return;
        }
        out_drop(&peer->out, n > 0 ? (size_t)n : 0);
    }
    if (peer->out.size || (peer->talk->has_more && peer->talk->has_more(peer)))
        return;
    ev_io_stop(loop, io);
    if (peer->ending)
        peer_drop(peer, NULL);
}

/* What is left of its messages is read in the next turn; nothing more is taken from it until then. */
static void put_off(struct peer *peer)
{
    peer->unread = true;
    peer->server->behind = true;
    ev_io_stop(peer->server->loop, &peer->readable);
}

/* Uses up whole messages, as many as the turn has time for. */
static void use_messages(struct peer *peer)
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
            peer_refuse(peer, "%s", error);
        if (got <= 0)
            break;
        enum readiness ready = !turn_may_read() && used ? READY_LATER : peer->talk->ready(peer);
        if (ready == READY_LATER)
            put_off(peer);
        if (ready == NOT_READY)
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
    out_drop(&peer->in, used);
}

void peer_listen(struct peer *peer)
{
    ev_io_start(peer->server->loop, &peer->readable);
    use_messages(peer);
}

void peer_read_rest(struct peer *peer)
{
    static uint8_t bytes[READ_BYTES];
    ssize_t n;
    while (!peer->in.failed && peer->in.size < LIMIT_VIEWER_BYTES &&
           (n = channel_read(&peer->channel, bytes, sizeof bytes)) > 0)
        put_bytes(&peer->in, bytes, (size_t)n);
}

void peer_retry(struct server *server)
{
    for (struct peer *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (!peer->stalled || peer->closed)
            continue;
        peer->stalled = false;
        use_messages(peer);
        if (!peer->stalled) {
            ev_io_start(server->loop, &peer->readable);
            continue;
        }
        peer_read_rest(peer); /* else its end would never come in */
        if (channel_has_ended(&peer->channel))
            peer->closed = 1;
        else if (peer->in.size >= LIMIT_VIEWER_BYTES)
            peer_refuse(peer, "the disk is full");
    }
}

void peer_hung_up(struct peer *peer)
{
    bool half = peer->in.size > 0 && !peer->ending && !peer->stalled;
    peer_drop(peer, half ? "hung up in the middle of a message" : NULL);
}

/* One read; true if there may be more. */
static bool read_some(struct peer *peer)
{
    static uint8_t bytes[READ_BYTES];
    ssize_t n = channel_read(&peer->channel, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n < 0 && errno == EPROTO) {
        peer_drop(peer, channel_why(&peer->channel));
        return false;
    }
    if (n <= 0) {
        ev_io_stop(peer->server->loop, &peer->readable);
        peer->closed = 1;
        if (!peer->talk->whole)
            peer_hung_up(peer);
        return false;
    }
    if (peer->ending)
        return false; /* it was refused: what it says does not matter any more */
    put_bytes(&peer->in, bytes, (size_t)n);
    if (peer->in.failed) {
        peer_refuse(peer, "no memory for its message");
        return false;
    }
    use_messages(peer);
    return peer->talk->whole && !peer->ending && !peer->stalled;
}

/* A program's new threads must be known before its queues are emptied: what one thread did waits for
 * what another did before.  So all that it has sent is read first. */
#define READS 256

/* Reads on, beginning with what is there already; as much as the turn has time for. */
static void read_peer(struct peer *peer)
{
    bool whole = peer->talk->whole, more = true;
    if (peer->unread)
        use_messages(peer);
    for (int i = 0; more && i < READS && !peer->unread && turn_may_read(); i++) {
        more = read_some(peer); /* false: it may be gone */
        whole |= more;
    }
    if (!whole)
        return;
    if (more && !peer->unread)
        put_off(peer);
    if (!peer->ending && peer->talk->was_read)
        peer->talk->was_read(peer);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct peer *peer = io->data;
    (void)loop;
    (void)events;
    turn_doing(peer->talk->doing);
    if (turn_may_read())
        read_peer(peer);
    else
        put_off(peer);
}

void peer_go_on(struct server *server)
{
    size_t count = 0;
    for (struct peer *peer = server->peers; peer; peer = peer->next)
        count++;
    turn_doing("messages that were put off");
    for (; count && server->peers && turn_may_read(); count--) {
        struct peer *peer = server->reader ? server->reader : server->peers;
        server->reader = peer->next;
        if (peer->unread) {
            ev_io_start(server->loop, &peer->readable);
            read_peer(peer);
        }
    }
}
