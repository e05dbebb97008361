/* A destination that is a server itself: poet://HOST:PORT through TLS, or unix:PATH.  Where it goes
 * away it is tried again, after a tenth of a second and then less and less often. */
#define _GNU_SOURCE
#include "server/forwarding/destination.h"

#include "base/alloc.h"
#include "server/transport/tls_channel.h"
#include "server/eventloop/event_loop.h"
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
#define TIMEOUT_SECONDS 20.0 /* for an answer to the first words */

struct direct_destination {
    struct destination to;
    struct ev_loop *loop;
    char *where, *host;
    struct sockaddr_storage address;
    size_t address_size;
    bool remote; /* with TLS */
    struct network_key key;
    const struct destination_callbacks *hears;
    void *context;
    int fd; /* -1 none */
    bool connected, welcome;
    struct tls *tls;
    struct encoder in, out;
    ev_io io;
    ev_timer again, timeout;
    double wait;
};

static void direct_connect(struct direct_destination *d);

static void direct_disconnect(struct direct_destination *d)
{
    ev_io_stop(d->loop, &d->io);
    ev_timer_stop(d->loop, &d->timeout);
    tls_free(d->tls);
    d->tls = NULL;
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
    d->connected = d->welcome = false;
    d->in.size = d->out.size = 0;
}

static void direct_fail(struct direct_destination *d, const char *why)
{
    char text[1024];
    direct_disconnect(d);
    snprintf(text, sizeof text, "%s: %s", d->where, why);
    d->wait = d->wait * 2 < AGAIN_MOST ? d->wait * 2 : AGAIN_MOST;
    ev_timer_set(&d->again, d->wait, 0);
    ev_timer_start(d->loop, &d->again);
    d->hears->disconnected(d->context, text);
}

static void fail_with(struct direct_destination *d, int e)
{
    char text[600];
    if (e == EPROTO && d->tls && tls_is_authenticated(d->tls))
        snprintf(text, sizeof text, "%s", tls_error_text(d->tls));
    else if (e == EPROTO && d->tls)
        snprintf(text, sizeof text,
                 "%s: the key file must be a copy of the server's (poet key; POET_KEY_FILE)",
                 tls_error_text(d->tls));
    else if (e == ECONNREFUSED || e == ENOENT)
        snprintf(text, sizeof text, "no server is listening; start: poet server --listen %s",
                 d->where);
    else
        snprintf(text, sizeof text, "%s", e ? strerror(e) : "connection closed by server");
    direct_fail(d, text);
}

/* ---- bytes ---- */

static void listen_for(struct direct_destination *d)
{
    int wanted = EV_READ;
    if (!d->connected || (d->out.size && (!d->tls || tls_is_authenticated(d->tls))) ||
        (d->tls && tls_wants_to_write(d->tls)))
        wanted |= EV_WRITE;
    if ((d->io.events & (EV_READ | EV_WRITE)) == wanted)
        return;
    ev_io_stop(d->loop, &d->io);
    ev_io_set(&d->io, d->fd, wanted);
    ev_io_start(d->loop, &d->io);
}

static ssize_t direct_receive_bytes(struct direct_destination *d, void *bytes, size_t size)
{
    return d->tls ? tls_read(d->tls, bytes, size) : recv(d->fd, bytes, size, MSG_DONTWAIT);
}

static ssize_t direct_send_bytes(struct direct_destination *d)
{
    return d->tls ? tls_write(d->tls, d->out.data, d->out.size)
                  : send(d->fd, d->out.data, d->out.size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- messages ---- */

static void answer_clock(struct direct_destination *d, struct decoder *in)
{
    uint64_t asked = decode_u64(in), heard = loop_clock_ns();
    if (!decoder_finish(in))
        return;
    encoder_begin_message(&d->out, MESSAGE_CLOCK_REPLY);
    encode_u64(&d->out, asked);
    encode_u64(&d->out, heard);
    encode_u64(&d->out, loop_clock_ns());
    encoder_end_message(&d->out);
}

static void direct_receive_error(struct direct_destination *d, struct decoder *in)
{
    char *text = decode_string(in, LIMIT_TEXT_BYTES);
    direct_fail(d, text);
    free(text);
}

static void direct_receive_message(struct direct_destination *d, unsigned type, const uint8_t *body,
                                   size_t size)
{
    struct decoder in = decoder_init(body, size);
    if (type == MESSAGE_ERROR) {
        direct_receive_error(d, &in);
    } else if (type == MESSAGE_WELCOME && !d->welcome) {
        d->welcome = true;
        d->wait = AGAIN_LEAST / 2;
        ev_timer_stop(d->loop, &d->timeout);
        d->hears->here(d->context);
    } else if (type == MESSAGE_CLOCK) {
        answer_clock(d, &in);
    } else if (d->welcome && (type == MESSAGE_ACK || type == MESSAGE_COMPLETE)) {
        uint32_t stream = decode_u32(&in);
        uint64_t next = decode_u64(&in);
        if (!decoder_finish(&in))
            return;
        (type == MESSAGE_ACK ? d->hears->expects : d->hears->complete)(d->context, stream, next);
    }
}

/* False: the connection is gone. */
static bool use_messages(struct direct_destination *d)
{
    size_t used = 0;
    while (d->fd >= 0) {
        unsigned type;
        size_t length;
        const char *error;
        const uint8_t *at = used ? d->in.data + used : d->in.data;
        int got = frame_read(at, d->in.size - used, LIMIT_MESSAGE_BYTES, &type, &length, &error);
        if (got < 0)
            direct_fail(d, error);
        if (got <= 0)
            break;
        used += MESSAGE_FRAME_BYTES + length;
        direct_receive_message(d, type, at + MESSAGE_FRAME_BYTES, length);
    }
    if (d->fd >= 0)
        encoder_consume(&d->in, used);
    return d->fd >= 0;
}

/* False: the connection is gone. */
static bool read_some(struct direct_destination *d)
{
    static uint8_t bytes[READ_BYTES];
    for (;;) {
        ssize_t n = direct_receive_bytes(d, bytes, sizeof bytes);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n <= 0) {
            fail_with(d, n < 0 ? errno : 0);
            return false;
        }
        encode_bytes(&d->in, bytes, (size_t)n);
        if (!use_messages(d))
            return false;
    }
}

static bool write_some(struct direct_destination *d)
{
    while (d->out.size) {
        ssize_t n = direct_send_bytes(d);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n <= 0) {
            fail_with(d, errno);
            return false;
        }
        encoder_consume(&d->out, (size_t)n);
    }
    return true;
}

/* ---- connecting ---- */

static bool direct_send_hello(struct direct_destination *d)
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
    if (d->remote) {
        struct network_key key; /* another one may be there since it was refused */
        if (network_key_read(NULL, &key, &error))
            d->key = key;
        setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        d->tls = tls_new(d->fd, false, &d->key, &error);
        if (!d->tls) {
            direct_fail(d, error.text);
            return false;
        }
    }
    encoder_begin_message(&d->out, MESSAGE_AGENT);
    encode_forwarded_agent(&d->out, d->host);
    encoder_end_message(&d->out);
    return true;
}

static void on_ready(struct ev_loop *loop, ev_io *io, int events)
{
    struct direct_destination *d = io->data;
    (void)loop;
    (void)events;
    loop_turn_set_activity("what is forwarded");
    if (!d->connected && !direct_send_hello(d))
        return;
    bool had = d->out.size >= OUT_MOST / 2;
    if (!read_some(d) || !write_some(d))
        return;
    if (had && d->out.size < OUT_MOST / 2)
        d->hears->room(d->context);
    listen_for(d);
}

static void direct_on_retry(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    direct_connect(timer->data);
}

static void direct_on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    direct_fail(timer->data, "no answer; is it a Poet server?");
}

static void direct_connect(struct direct_destination *d)
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
    ev_timer_set(&d->timeout, TIMEOUT_SECONDS, 0);
    ev_timer_start(d->loop, &d->timeout);
}

/* ---- the interface ---- */

static void close_direct(struct destination *to);

static struct destination *open_direct(struct ev_loop *loop, const char *where, const char *host,
                                       const struct destination_callbacks *hears, void *context,
                                       struct error *error)
{
    bool remote = endpoint_is_remote(where);
    if (!remote && strncmp(where, "unix:", 5) != 0) {
        error_set(error, "%s: an agent forwards to poet://HOST:PORT, or unix:PATH", where);
        return NULL;
    }
    if (remote && !tls_is_available()) {
        tls_new(-1, false, NULL, error); /* it says so, key or not */
        return NULL;
    }
    struct direct_destination *d = xcalloc(1, sizeof *d);
    *d = (struct direct_destination){.to = {&destination_direct},
                                     .loop = loop,
                                     .where = xstrdup(where),
                                     .host = xstrdup(host),
                                     .remote = remote,
                                     .hears = hears,
                                     .context = context,
                                     .fd = -1,
                                     .wait = AGAIN_LEAST / 2};
    ev_init(&d->io, on_ready);
    ev_init(&d->again, direct_on_retry);
    ev_init(&d->timeout, direct_on_timeout);
    d->io.data = d->again.data = d->timeout.data = d;
    struct tls *probe = NULL;
    bool good = address_resolve(where, &d->address, &d->address_size, error) &&
                (!remote || (network_key_read(NULL, &d->key, error) &&
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

static void direct_offer_stream(struct destination *to, uint32_t stream, const uint8_t *id,
                                const char *run)
{
    struct direct_destination *d = (struct direct_destination *)to;
    if (!d->welcome)
        return;
    encoder_begin_message(&d->out, MESSAGE_STREAM);
    encode_forwarded_stream(&d->out, stream, id, run);
    encoder_end_message(&d->out);
    listen_for(d);
}

static bool direct_publish_batch(struct destination *to, const struct forwarded_batch *batch)
{
    struct direct_destination *d = (struct direct_destination *)to;
    if (!d->welcome || d->out.size >= OUT_MOST)
        return false;
    encoder_begin_message(&d->out, MESSAGE_FORWARD);
    encode_forwarded_batch(&d->out, batch);
    encode_bytes(&d->out, batch->packed, batch->packed_bytes);
    encoder_end_message(&d->out);
    listen_for(d);
    return true;
}

static void close_direct(struct destination *to)
{
    struct direct_destination *d = (struct direct_destination *)to;
    ev_timer_stop(d->loop, &d->again);
    direct_disconnect(d);
    encoder_free(&d->in);
    encoder_free(&d->out);
    free(d->where);
    free(d->host);
    explicit_bzero(d, sizeof *d);
    free(d);
}

const struct destination_kind destination_direct = {open_direct, direct_offer_stream,
                                                    direct_publish_batch, close_direct};
