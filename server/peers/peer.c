/* Peers: bytes in, messages out.  A bad one is answered, flushed and dropped alone. */
#define _GNU_SOURCE
#include "server/peers/server.h"
#include "server/loop/log.h"

#include "memory/memory.h"
#include "wire/endpoint.h"
#include "wire/limits.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES (64u << 10)
#define DESCRIPTORS_MAX 64

static void on_writable(struct ev_loop *loop, ev_io *io, int events);
static void on_readable(struct ev_loop *loop, ev_io *io, int events);

struct peer *peer_new(struct server *server, int fd, const char *name, bool far)
{
    struct peer *peer = memory_zeroed(1, sizeof *peer);
    peer->server = server;
    peer->fd = fd;
    peer->owes_token = far;
    peer->since = ev_now(server->loop);
    snprintf(peer->name, sizeof peer->name, "%s", name);
    peer->previous = server->last_peer; /* in the order of their coming, as their lines are to be */
    if (peer->previous)
        peer->previous->next = peer;
    else
        server->peers = peer;
    server->last_peer = peer;
    server->had_peer = true;
    ev_io_init(&peer->readable, on_readable, fd, EV_READ);
    ev_io_init(&peer->writable, on_writable, fd, EV_WRITE);
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
    if (peer->program)
        program_gone(peer);
    viewer_gone(peer);
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
    for (size_t i = 0; i < peer->descriptor_count; i++)
        close(peer->descriptors[i]);
    free(peer->descriptors);
    close(peer->fd);
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
    viewer_refill(peer);
    if (peer->out.size) {
        ssize_t n = send(peer->fd, peer->out.data, peer->out.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            if (peer->program && !peer->ending) { /* what it left behind is read in turn */
                peer->closed += !peer->closed;
                peer->out.size = 0;
                ev_io_stop(loop, io);
                return;
            }
            peer_drop(peer, peer->role == ROLE_VIEWER || peer->ending ? NULL : strerror(errno));
            return;
        }
        out_drop(&peer->out, n > 0 ? (size_t)n : 0);
    }
    if (peer->out.size || viewer_has_more(peer))
        return;
    ev_io_stop(loop, io);
    if (peer->ending)
        peer_drop(peer, NULL);
}

int peer_take_descriptor(struct peer *peer)
{
    if (!peer->descriptor_count)
        return -1;
    int fd = peer->descriptors[0];
    memmove(peer->descriptors, peer->descriptors + 1,
            --peer->descriptor_count * sizeof *peer->descriptors);
    return fd;
}

static void keep_descriptors(struct peer *peer, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (peer->descriptor_count < DESCRIPTORS_MAX)
                PUSH(peer->descriptors, peer->descriptor_count, fd);
            else
                close(fd);
        }
    }
}

/* Takes the same time wherever they differ. */
static bool same_token(const char *said, const char *wanted)
{
    size_t n = strlen(said), m = wanted ? strlen(wanted) : 0;
    unsigned differ = n != m || !m;
    for (size_t i = 0; i < n && m; i++)
        differ |= (unsigned char)(said[i] ^ wanted[i % m]);
    return !differ;
}

#define GUESS_SECONDS 0.1 /* after a wrong secret, until any other is looked at */

/* Where there is a secret, it comes first.  Who has none to tell tells it all the same. */
static bool token_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    char *said = type == MESSAGE_TOKEN ? get_string(&in, 256) : NULL;
    bool good = said && in_done(&in) && (!peer->owes_token || same_token(said, endpoint_token()));
    free(said);
    if (!good) {
        peer->server->guess = ev_now(peer->server->loop) + GUESS_SECONDS;
        peer_refuse(peer, "POET_TOKEN is not the server's");
    }
    peer->owes_token = false;
    return good;
}

static bool must_wait(const struct peer *peer)
{
    return peer->owes_token && ev_now(peer->server->loop) < peer->server->guess;
}

/* The first message says who it is.  False: dropped or refused. */
static bool first_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    struct hello hello = {0};
    struct in in = in_from(body, size);
    if (peer->owes_token || type == MESSAGE_TOKEN)
        return token_message(peer, type, body, size);
    if (type != MESSAGE_HELLO) {
        peer_refuse(peer, "the first message is %s, not HELLO", message_name(type));
        return false;
    }
    if (!hello_read(&in, &hello)) {
        if (hello.version > WIRE_VERSION)
            peer_refuse(peer,
                        "this server speaks version %u of the protocol, the other side %u: "
                        "restart the server with the newer Poet",
                        WIRE_VERSION, hello.version);
        else if (hello.version && hello.version < WIRE_VERSION && hello.role == ROLE_VIEWER)
            peer_refuse(peer,
                        "this server speaks version %u of the protocol, the other side %u: "
                        "it is of an older Poet than the server",
                        WIRE_VERSION, hello.version);
        else
            peer_refuse(peer, "HELLO: %s", in.error);
        hello_free(&hello);
        return false;
    }
    peer->role = hello.role;
    bool ok = true;
    if (hello.role == ROLE_PROGRAM)
        ok = program_hello(peer, body, size, &hello);
    if (ok) {
        out_begin(&peer->out, MESSAGE_WELCOME);
        put_u32(&peer->out, WIRE_VERSION);
        if (hello.role == ROLE_PROGRAM)
            put_u32(&peer->out, WELCOME_FOLLOWS);
        out_end(&peer->out);
        if (hello.role == ROLE_PROGRAM)
            program_welcome(peer);
        peer_send(peer);
    }
    hello_free(&hello);
    return ok;
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
    while (!peer->ending && !must_wait(peer)) {
        unsigned type;
        size_t length;
        const char *error;
        const uint8_t *at = peer->in.data + used;
        int got = frame_read(at, peer->in.size - used, LIMIT_MESSAGE_BYTES, &type, &length, &error);
        if (got < 0)
            peer_refuse(peer, "%s", error);
        if (got <= 0)
            break;
        if ((!turn_may_read() && used) || (peer->program && program_must_wait(peer))) {
            put_off(peer);
            break;
        }
        if (peer->role == ROLE_VIEWER && !viewer_ready(peer)) {
            ev_io_stop(peer->server->loop, &peer->readable);
            break; /* until viewer_refill has told it everything */
        }
        const uint8_t *body = at + MESSAGE_FRAME_BYTES;
        if (!peer->role)
            first_message(peer, type, body, length);
        else if (peer->role == ROLE_PROGRAM)
            program_message(peer, type, body, length);
        else
            viewer_message(peer, type, body, length);
        if (peer->stalled) {
            ev_io_stop(peer->server->loop, &peer->readable);
            break;
        }
        used += MESSAGE_FRAME_BYTES + length;
        peer->in_bytes += MESSAGE_FRAME_BYTES + length;
    }
    out_drop(&peer->in, used);
}

void peer_read_rest(struct peer *peer)
{
    static uint8_t bytes[READ_BYTES];
    ssize_t n;
    while (!peer->in.failed && peer->in.size < LIMIT_VIEWER_BYTES &&
           (n = recv(peer->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        put_bytes(&peer->in, bytes, (size_t)n);
}

static bool is_gone(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0;
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
        if (is_gone(peer->fd))
            peer->closed = 1;
        else if (peer->in.size >= LIMIT_VIEWER_BYTES)
            peer_refuse(peer, "the disk is full");
    }
}

void peer_try_secrets(struct server *server)
{
    for (struct peer *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (peer->owes_token && peer->in.size && !must_wait(peer))
            use_messages(peer);
    }
}

void peer_hung_up(struct peer *peer)
{
    bool half = peer->in.size > 0 && !peer->ending && !peer->stalled;
    peer_drop(peer, half ? "hung up in the middle of a message" : NULL);
}

/* One read: a message with a descriptor comes alone.  True if there may be more. */
static bool read_some(struct peer *peer)
{
    static uint8_t bytes[READ_BYTES];
    char control[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    struct iovec iov = {bytes, sizeof bytes};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(peer->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n > 0)
        keep_descriptors(peer, &message);
    if (n <= 0) {
        ev_io_stop(peer->server->loop, &peer->readable);
        peer->closed = 1;
        if (peer->program)
            return false;
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
    return peer->program && !peer->ending && !peer->stalled;
}

/* A program's new threads must be known before its queues are emptied: what one thread did waits for
 * what another did before.  So all that it has sent is read first. */
#define READS 256

/* Reads on, beginning with what is there already; as much as the turn has time for. */
static void read_peer(struct peer *peer)
{
    bool program = peer->program != NULL, more = true;
    if (peer->unread)
        use_messages(peer);
    for (int i = 0; more && i < READS && !peer->unread && turn_may_read(); i++) {
        more = read_some(peer);
        program |= more;
    }
    if (program && more && !peer->unread)
        put_off(peer);
    if (program && peer->woken && !peer->ending)
        program_woken(peer);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct peer *peer = io->data;
    (void)loop;
    (void)events;
    turn_doing(peer->program ? "messages of programs" : "messages of viewers");
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
