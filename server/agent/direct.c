/* A destination that is a server itself: poet://HOST:PORT through TLS, or unix:PATH.  Where it goes away it is tried again, after
 * a tenth of a second and then less and less often. */
#define _GNU_SOURCE
#include "server/agent/destination.h"

#include "memory/memory.h"
#include "server/far/tls.h"
#include "server/loop/turn.h"
#include "wire/address.h"
#include "wire/limits.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OUT_MOST (4u << 20) /* bytes that wait to go out */
#define READ_BYTES (4 * TLS_RECORD_BYTES)
#define AGAIN_LEAST 0.1
#define AGAIN_MOST 5.0
#define PATIENCE_SECONDS 20.0 /* for an answer to the first words */

struct direct {
    struct destination to;
    struct ev_loop *loop;
    char *where, *host;
    struct sockaddr_storage address;
    size_t address_size;
    bool far; /* with TLS */
    struct key key;
    const struct destination_hears *hears;
    void *context;
    int fd; /* -1 none */
    bool connected, welcome;
    struct tls *tls;
    struct out in, out;
    ev_io io;
    ev_timer again, patience;
    double wait;
};

static void begin(struct direct *d);

static void hang_up(struct direct *d)
{
    ev_io_stop(d->loop, &d->io);
    ev_timer_stop(d->loop, &d->patience);
    tls_free(d->tls);
    d->tls = NULL;
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
    d->connected = d->welcome = false;
    d->in.size = d->out.size = 0;
}

static void fail(struct direct *d, const char *why)
{
    char text[1024];
    hang_up(d);
    snprintf(text, sizeof text, "%s: %s", d->where, why);
    d->wait = d->wait * 2 < AGAIN_MOST ? d->wait * 2 : AGAIN_MOST;
    ev_timer_set(&d->again, d->wait, 0);
    ev_timer_start(d->loop, &d->again);
    d->hears->away(d->context, text);
}

static void fail_with(struct direct *d, int e)
{
    char text[600];
    if (e == EPROTO && d->tls && tls_knows(d->tls))
        snprintf(text, sizeof text, "%s", tls_why(d->tls));
    else if (e == EPROTO && d->tls)
        snprintf(text, sizeof text,
                 "%s: the key file must be the server's (poet key makes one; POET_KEY_FILE)",
                 tls_why(d->tls));
    else if (e == ECONNREFUSED || e == ENOENT)
        snprintf(text, sizeof text, "nobody listens there: start poet server --listen %s there",
                 d->where);
    else
        snprintf(text, sizeof text, "%s", e ? strerror(e) : "the server has hung up");
    fail(d, text);
}

/* ---- bytes ---- */

static void listen_for(struct direct *d)
{
    int wanted = EV_READ;
    if (!d->connected || (d->out.size && (!d->tls || tls_knows(d->tls))) ||
        (d->tls && tls_wants_to_write(d->tls)))
        wanted |= EV_WRITE;
    if ((d->io.events & (EV_READ | EV_WRITE)) == wanted)
        return;
    ev_io_stop(d->loop, &d->io);
    ev_io_set(&d->io, d->fd, wanted);
    ev_io_start(d->loop, &d->io);
}

static ssize_t receive(struct direct *d, void *bytes, size_t size)
{
    return d->tls ? tls_read(d->tls, bytes, size) : recv(d->fd, bytes, size, MSG_DONTWAIT);
}

static ssize_t transmit(struct direct *d)
{
    return d->tls ? tls_write(d->tls, d->out.data, d->out.size)
                  : send(d->fd, d->out.data, d->out.size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- messages ---- */

static void answer_clock(struct direct *d, struct in *in)
{
    uint64_t asked = get_u64(in), heard = turn_clock_ns();
    if (!in_done(in))
        return;
    out_begin(&d->out, MESSAGE_TIMED);
    put_u64(&d->out, asked);
    put_u64(&d->out, heard);
    put_u64(&d->out, turn_clock_ns());
    out_end(&d->out);
}

static void take_error(struct direct *d, struct in *in)
{
    char *text = get_string(in, LIMIT_TEXT_BYTES);
    fail(d, text);
    free(text);
}

static void take_message(struct direct *d, unsigned type, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    if (type == MESSAGE_ERROR) {
        take_error(d, &in);
    } else if (type == MESSAGE_WELCOME && !d->welcome) {
        d->welcome = true;
        d->wait = AGAIN_LEAST / 2;
        ev_timer_stop(d->loop, &d->patience);
        d->hears->here(d->context);
    } else if (type == MESSAGE_CLOCK) {
        answer_clock(d, &in);
    } else if (d->welcome && (type == MESSAGE_EXPECTED || type == MESSAGE_COMPLETE)) {
        uint32_t stream = get_u32(&in);
        uint64_t next = get_u64(&in);
        if (!in_done(&in))
            return;
        (type == MESSAGE_EXPECTED ? d->hears->expects : d->hears->complete)(d->context, stream,
                                                                            next);
    }
}

/* False: the connection is gone. */
static bool use_messages(struct direct *d)
{
    size_t used = 0;
    while (d->fd >= 0) {
        unsigned type;
        size_t length;
        const char *error;
        const uint8_t *at = used ? d->in.data + used : d->in.data;
        int got = frame_read(at, d->in.size - used, LIMIT_MESSAGE_BYTES, &type, &length, &error);
        if (got < 0)
            fail(d, error);
        if (got <= 0)
            break;
        used += MESSAGE_FRAME_BYTES + length;
        take_message(d, type, at + MESSAGE_FRAME_BYTES, length);
    }
    if (d->fd >= 0)
        out_drop(&d->in, used);
    return d->fd >= 0;
}

/* False: the connection is gone. */
static bool read_some(struct direct *d)
{
    static uint8_t bytes[READ_BYTES];
    for (;;) {
        ssize_t n = receive(d, bytes, sizeof bytes);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n <= 0) {
            fail_with(d, n < 0 ? errno : 0);
            return false;
        }
        put_bytes(&d->in, bytes, (size_t)n);
        if (!use_messages(d))
            return false;
    }
}

static bool write_some(struct direct *d)
{
    while (d->out.size) {
        ssize_t n = transmit(d);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n <= 0) {
            fail_with(d, errno);
            return false;
        }
        out_drop(&d->out, (size_t)n);
    }
    return true;
}

/* ---- connecting ---- */

static bool greet(struct direct *d)
{
    struct error error;
    int e = 0, on = 1;
    socklen_t size = sizeof e;
    getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &e, &size);
    if (e) {
        fail_with(d, e);
        return false;
    }
    d->connected = true;
    if (d->far) {
        struct key key; /* another one may be there since it was refused */
        if (key_read(NULL, &key, &error))
            d->key = key;
        setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        d->tls = tls_new(d->fd, false, &d->key, &error);
        if (!d->tls) {
            fail(d, error.text);
            return false;
        }
    }
    out_begin(&d->out, MESSAGE_AGENT);
    put_forwarded_agent(&d->out, d->host);
    out_end(&d->out);
    return true;
}

static void on_ready(struct ev_loop *loop, ev_io *io, int events)
{
    struct direct *d = io->data;
    (void)loop;
    (void)events;
    turn_doing("what is forwarded");
    if (!d->connected && !greet(d))
        return;
    bool had = d->out.size >= OUT_MOST / 2;
    if (!read_some(d) || !write_some(d))
        return;
    if (had && d->out.size < OUT_MOST / 2)
        d->hears->room(d->context);
    listen_for(d);
}

static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    begin(timer->data);
}

static void on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    fail(timer->data, "there is no answer: is it a Poet server?");
}

static void begin(struct direct *d)
{
    d->fd = socket(d->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (d->fd < 0 ||
        (connect(d->fd, (struct sockaddr *)&d->address, (socklen_t)d->address_size) < 0 &&
         errno != EINPROGRESS)) {
        fail_with(d, errno);
        return;
    }
    ev_io_set(&d->io, d->fd, EV_READ | EV_WRITE);
    ev_io_start(d->loop, &d->io);
    ev_timer_set(&d->patience, PATIENCE_SECONDS, 0);
    ev_timer_start(d->loop, &d->patience);
}

/* ---- the interface ---- */

static void close_direct(struct destination *to);

static struct destination *open_direct(struct ev_loop *loop, const char *where, const char *host,
                                       const struct destination_hears *hears, void *context,
                                       struct error *error)
{
    bool far = endpoint_is_far(where);
    if (!far && strncmp(where, "unix:", 5) != 0) {
        error_set(error, "%s: an agent forwards to poet://HOST:PORT, or unix:PATH", where);
        return NULL;
    }
    if (far && !tls_is_there()) {
        tls_new(-1, false, NULL, error); /* it says so, key or not */
        return NULL;
    }
    struct direct *d = memory_zeroed(1, sizeof *d);
    *d = (struct direct){.to = {&destination_direct},
                         .loop = loop,
                         .where = memory_copied(where),
                         .host = memory_copied(host),
                         .far = far,
                         .hears = hears,
                         .context = context,
                         .fd = -1,
                         .wait = AGAIN_LEAST / 2};
    ev_init(&d->io, on_ready);
    ev_init(&d->again, on_again);
    ev_init(&d->patience, on_patience);
    d->io.data = d->again.data = d->patience.data = d;
    struct tls *probe = NULL;
    bool good = address_of(where, &d->address, &d->address_size, error) &&
                (!far || (key_read(NULL, &d->key, error) &&
                          (probe = tls_new(-1, false, &d->key, error)) != NULL));
    tls_free(probe);
    if (!good) {
        close_direct(&d->to);
        return NULL;
    }
    ev_timer_set(&d->again, 0, 0);
    ev_timer_start(loop, &d->again);
    return &d->to;
}

static void offer(struct destination *to, uint32_t stream, const uint8_t *id, const char *run)
{
    struct direct *d = (struct direct *)to;
    if (!d->welcome)
        return;
    out_begin(&d->out, MESSAGE_STREAM);
    put_forwarded_stream(&d->out, stream, id, run);
    out_end(&d->out);
    listen_for(d);
}

static bool publish(struct destination *to, const struct forwarded_batch *batch)
{
    struct direct *d = (struct direct *)to;
    if (!d->welcome || d->out.size >= OUT_MOST)
        return false;
    out_begin(&d->out, MESSAGE_FORWARD);
    put_forwarded_batch(&d->out, batch);
    put_bytes(&d->out, batch->packed, batch->packed_bytes);
    out_end(&d->out);
    listen_for(d);
    return true;
}

static void close_direct(struct destination *to)
{
    struct direct *d = (struct direct *)to;
    ev_timer_stop(d->loop, &d->again);
    hang_up(d);
    out_free(&d->in);
    out_free(&d->out);
    free(d->where);
    free(d->host);
    explicit_bzero(d, sizeof *d);
    free(d);
}

const struct destination_kind destination_direct = {open_direct, offer, publish, close_direct};
