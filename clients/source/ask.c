/* What is asked on a connection, and what comes in on it. */
#include "clients/source/ask.h"

#include "clients/source/source.h"
#include "memory/map.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

bool source_send(struct source *source, struct out *out)
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
    out_free(out);
    return ok;
}

/* The last word of a server before it hangs up. */
static void tell_error(const struct source *source, struct in *in, struct error *error)
{
    char *text = get_name(in, LIMIT_TEXT_BYTES);
    error_set(error, "%s: %s", source->name, text);
    free(text);
}

int source_next(struct source *source, bool blocking, unsigned *type, struct in *in,
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
            *in = in_from(at + MESSAGE_FRAME_BYTES, length);
            bool table = book_take(&source->book, *type, in);
            if (*type == MESSAGE_ERROR) {
                tell_error(source, in, error);
                return -1;
            }
            if (in->error) {
                error_set(error, "%s: %s: %s", source->name, message_name(*type), in->error);
                return -1;
            }
            if (table && *type != MESSAGE_SELECTED)
                continue;
            return 1;
        }
        out_drop(&source->in, source->used);
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
            error_set(error, "%s: the server hung up", source->name);
            return -1;
        }
        put_bytes(&source->in, bytes, (size_t)n);
    }
}

/* ---- questions ---- */

struct source_question {
    uint32_t id;
    source_take *take;
    void *user;
};

static size_t find_question(const struct source *source, uint32_t id)
{
    size_t i = 0;
    while (i < source->question_count && source->questions[i].id != id)
        i++;
    return i;
}

bool source_asks(const struct source *source, uint32_t id)
{
    return id && find_question(source, id) < source->question_count;
}

bool source_busy(const struct source *source) { return source->question_count > 0; }

uint32_t source_ask(struct source *source, enum ask what, struct out *body, source_take *take,
                    void *user)
{
    struct out out = {0};
    uint32_t id = ++source->last_id ? source->last_id : ++source->last_id;
    put_ask(&out, id, what, body);
    if (body)
        out_free(body);
    if (!source_send(source, &out))
        return 0;
    source->questions = grow(source->questions, &source->question_room, source->question_count + 1,
                             sizeof *source->questions);
    source->questions[source->question_count++] = (struct source_question){id, take, user};
    return id;
}

static void drop_question(struct source *source, size_t i)
{
    source->question_count--;
    memmove(source->questions + i, source->questions + i + 1,
            (source->question_count - i) * sizeof *source->questions);
}

void source_cancel(struct source *source, uint32_t id)
{
    struct out out = {0};
    if (!source_asks(source, id))
        return;
    drop_question(source, find_question(source, id));
    put_cancel(&out, id);
    source_send(source, &out);
}

void source_forget(struct source *source) { source->question_count = 0; }

bool source_answered(struct source *source, struct in *in, struct error *error)
{
    struct answer answer;
    get_answer(in, &answer);
    size_t i = find_question(source, answer.id);
    if (!in->error && i < source->question_count) {
        struct source_question question = source->questions[i];
        if (answer.last)
            drop_question(source, i);
        if (answer.part == PART_REFUSAL && answer.id == source->waits_for)
            source->refused = get_name(in, LIMIT_TEXT_BYTES);
        else if (question.take)
            question.take(question.user, &answer);
    }
    if (in->error)
        error_set(error, "%s: %s is damaged: %s", source->name, part_name(answer.part), in->error);
    return !in->error;
}

bool source_wait(struct source *source, uint32_t id, struct error *error)
{
    unsigned type;
    struct in in;
    bool ok = id != 0;
    if (!ok)
        error_set(error, "%s: the server hung up", source->name);
    source->waits_for = id;
    while (ok && source_asks(source, id))
        ok = source_next(source, true, &type, &in, error) > 0 &&
             (type != MESSAGE_ANSWER || source_answered(source, &in, error));
    source->waits_for = 0;
    if (ok && source->refused) {
        error_set(error, "%s: %s", source->name, source->refused);
        ok = false;
    }
    free(source->refused);
    source->refused = NULL;
    return ok;
}
