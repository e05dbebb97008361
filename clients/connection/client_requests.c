#include "clients/connection/client_requests.h"

#include "base/alloc.h"
#include "base/map.h"
#include "clients/connection/session.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

bool session_send_message(struct session *source, struct encoder *out)
{
    size_t sent = 0;
    while (!out->failed && sent < out->size) {
        ssize_t n = send(source->fd, out->data + sent, out->size - sent, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            struct pollfd p = {.fd = source->fd, .events = POLLOUT};
            poll(&p, 1, 1000);
            continue;
        }
        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    bool ok = !out->failed && sent == out->size;
    encoder_free(out);
    return ok;
}

/* Sets the error from MESSAGE_ERROR, after which the server closes the connection. */
static void session_report_error(const struct session *source, struct decoder *in,
                                 struct error *error)
{
    char *text = decode_name(in, LIMIT_TEXT_BYTES);
    error_set(error, "%s: %s", source->name, text);
    free(text);
}

int session_receive(struct session *source, bool blocking, unsigned *type, struct decoder *in,
                    struct error *error)
{
    for (;;) {
        size_t length;
        const char *why;
        const uint8_t *at = source->in.data ? source->in.data + source->used : NULL;
        int got =
            frame_read(at, source->in.size - source->used, LIMIT_ANSWER_BYTES, type, &length, &why);
        if (got < 0) {
            error_set(error, "%s: %s", source->name, why);
            return -1;
        }
        if (got > 0) {
            source->used += MESSAGE_FRAME_BYTES + length;
            *in = decoder_init(at + MESSAGE_FRAME_BYTES, length);
            bool table = metadata_update(&source->book, *type, in);
            if (*type == MESSAGE_ERROR) {
                session_report_error(source, in, error);
                return -1;
            }
            if (in->error) {
                error_set(error, "%s: %s: %s", source->name, message_name(*type), in->error);
                return -1;
            }
            if (table && *type != MESSAGE_RUN_SELECTED)
                continue;
            return 1;
        }
        encoder_consume(&source->in, source->used);
        source->used = 0;
        uint8_t bytes[65536];
        ssize_t n = recv(source->fd, bytes, sizeof bytes, blocking ? 0 : MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN && blocking) {
            struct pollfd p = {.fd = source->fd, .events = POLLIN};
            poll(&p, 1, -1);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n <= 0) {
            error_set(error, "%s: connection closed by server", source->name);
            return -1;
        }
        encode_bytes(&source->in, bytes, (size_t)n);
    }
}

/* ---- requests ---- */

struct session_request {
    uint32_t id;
    source_take *take;
    void *user;
};

static size_t session_find_request(const struct session *source, uint32_t id)
{
    size_t i = 0;
    while (i < source->request_count && source->requests[i].id != id)
        i++;
    return i;
}

bool session_request_is_open(const struct session *source, uint32_t id)
{
    return id && session_find_request(source, id) < source->request_count;
}

bool session_is_busy(const struct session *source) { return source->request_count > 0; }

uint32_t session_send(struct session *source, enum request_type what, struct encoder *body,
                      source_take *take, void *user)
{
    struct encoder out = {0};
    uint32_t id = ++source->last_id ? source->last_id : ++source->last_id;
    encode_request(&out, id, what, body);
    if (body)
        encoder_free(body);
    if (!session_send_message(source, &out))
        return 0;
    source->requests = array_reserve(source->requests, &source->request_room,
                                     source->request_count + 1, sizeof *source->requests);
    source->requests[source->request_count++] = (struct session_request){id, take, user};
    return id;
}

static void session_drop_request(struct session *source, size_t i)
{
    source->request_count--;
    memmove(source->requests + i, source->requests + i + 1,
            (source->request_count - i) * sizeof *source->requests);
}

void session_cancel_request(struct session *source, uint32_t id)
{
    struct encoder out = {0};
    if (!session_request_is_open(source, id))
        return;
    session_drop_request(source, session_find_request(source, id));
    encode_cancel(&out, id);
    session_send_message(source, &out);
}

void session_forget_request(struct session *source) { source->request_count = 0; }

bool session_request_done(struct session *source, struct decoder *in, struct error *error)
{
    struct response_chunk answer;
    decode_response_chunk(in, &answer);
    size_t i = session_find_request(source, answer.id);
    if (!in->error && i < source->request_count) {
        struct session_request request = source->requests[i];
        if (answer.last)
            session_drop_request(source, i);
        if (answer.part == RESPONSE_ERROR && answer.id == source->waits_for)
            source->refused = decode_name(in, LIMIT_TEXT_BYTES);
        else if (request.take)
            request.take(request.user, &answer);
    }
    if (in->error)
        error_set(error, "%s: %s is damaged: %s", source->name, response_chunk_name(answer.part),
                  in->error);
    return !in->error;
}

bool session_wait(struct session *source, uint32_t id, struct error *error)
{
    unsigned type;
    struct decoder in;
    bool ok = id != 0;
    if (!ok)
        error_set(error, "%s: connection closed by server", source->name);
    source->waits_for = id;
    while (ok && session_request_is_open(source, id))
        ok = session_receive(source, true, &type, &in, error) > 0 &&
             (type != MESSAGE_RESPONSE || session_request_done(source, &in, error));
    source->waits_for = 0;
    if (ok && source->refused) {
        error_set(error, "%s: %s", source->name, source->refused);
        ok = false;
    }
    free(source->refused);
    source->refused = NULL;
    return ok;
}

/* ---- relations of the events of a window ---- */

bool event_relations_request(const struct event_relations *relations, struct event_id about,
                             struct encoder *body)
{
    const struct window_info *w = relations->window;
    if (relations->at >= w->event_count)
        return false;
    struct relations_request request = {.about = about};
    uint32_t left = w->event_count - relations->at;
    request.count = left < LIMIT_STANDS ? left : LIMIT_STANDS;
    request.positions = xcalloc(request.count, sizeof *request.positions);
    for (uint32_t i = 0; i < request.count; i++)
        request.positions[i] = w->events[relations->at + i].position;
    encode_relations_request(body, &request);
    relations_request_free(&request);
    return true;
}

void event_relations_receive(struct event_relations *relations, const struct response_chunk *answer)
{
    struct window_info *w = relations->window;
    if (answer->part == RESPONSE_ERROR) /* all remaining relations stay unknown */
        relations->at = w->event_count;
    if (answer->part != RESPONSE_RELATIONS)
        return;
    uint32_t n = decode_count(answer->in, 1);
    if (!n || n > w->event_count - relations->at)
        decoder_fail(answer->in, "holds the relations of other events");
    for (uint32_t i = 0; i < n && !answer->in->error; i++)
        w->events[relations->at++].to_selected = decode_u8(answer->in);
}
