#include "tests/fuzz/asks.h"

#include "clients/source/table.h"
#include "memory/memory.h"
#include "server/answer/desk.h"
#include "server/answer/table/table.h"
#include "wire/curve.h"

#include <stdlib.h>
#include <string.h>

static struct out answer_to(const struct run *run, const struct question *question, struct out body)
{
    struct out out = {0};
    struct reply reply = {&out, 1, 0};
    struct desk desk = {.run = run};
    struct in in = in_from(body.data, body.size);
    void *job = question->begin(&desk, &in);
    if (!job || in.error)
        abort();
    do
        while (!question->step(job, 3000))
            ;
    while (!question->put(job, &reply));
    question->free(job);
    reply_done(&reply);
    out_free(&body);
    return out;
}

/* What the server tells, its viewers can read. */
static void read_table(const struct out *out)
{
    struct shown_table table = {0};
    struct answer answer;
    const char *why;
    unsigned type;
    size_t length;
    for (size_t at = 0; at < out->size; at += MESSAGE_FRAME_BYTES + length) {
        if (frame_read(out->data + at, out->size - at, SIZE_MAX, &type, &length, &why) != 1)
            abort();
        struct in in = in_from(out->data + at + MESSAGE_FRAME_BYTES, length);
        if (type != MESSAGE_ANSWER)
            continue;
        get_answer(&in, &answer);
        table_take(&table, &answer);
        if (in.error)
            abort();
    }
    shown_table_free(&table);
}

static void ask(const struct run *run, const char *what, const char *by, uint32_t flags,
                struct table_end from)
{
    struct table_request request = {.what = memory_copied(what),
                                    .by = memory_copied(by),
                                    .sort = memory_copied(""),
                                    .from = from,
                                    .flags = flags};
    struct out body = {0};
    put_table_request(&body, &request);
    struct out out = answer_to(run, &question_table, body);
    read_table(&out);
    out_free(&out);
    table_request_free(&request);
}

static const struct preset *preset_of(const char *what)
{
#define P(name)                                                                                    \
    if (strcmp(preset_##name.what, what) == 0)                                                     \
        return &preset_##name;
    PRESETS(P)
#undef P
    abort();
}

void asks_table(const struct run *run, const char *what)
{
    const char *const *by = preset_of(what)->by;
    struct table_end part = {.is = TABLE_AT_NS, .at = 500};
    for (unsigned i = 0; !i || (by && by[i]); i++) {
        ask(run, what, by ? by[i] : "", 0, (struct table_end){0});
        ask(run, what, by ? by[i] : "", TABLE_TREE | TABLE_RAW, part);
    }
}

void asks_curves(const struct run *run)
{
    struct curve_request request = {
        .pixels = 17, .groups = 7, .threads = true, .meter = memory_copied("")};
    struct out body = {0};
    put_curve_request(&body, &request);
    struct in in = in_from(body.data, body.size);
    struct out out = {0};
    struct reply reply = {&out, 1, 0};
    question_curve.at_once(run, &in, &reply);
    reply_done(&reply);
    out_free(&body);
    out_free(&out);
    curve_request_free(&request);
}
