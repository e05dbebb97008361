#include "tests/fuzz/run_requests.h"

#include "clients/connection/result_table.h"
#include "base/alloc.h"
#include "server/queries/request_queue.h"
#include "server/queries/tables/table_query.h"
#include "wire/time_series.h"

#include <stdlib.h>
#include <string.h>

static struct encoder answer_to(const struct run *run, const struct query *query,
                                struct encoder body)
{
    struct encoder out = {0};
    struct response reply = {&out, 1, 0};
    struct request_queue queue = {.run = run};
    struct decoder in = decoder_init(body.data, body.size);
    void *job = query->begin(&queue, &in);
    if (!job || in.error)
        abort();
    do
        while (!query->step(job, 3000))
            ;
    while (!query->put(job, &reply));
    query->free(job);
    response_finish(&reply);
    encoder_free(&body);
    return out;
}

/* Decodes a table's response: a viewer must be able to read what the server sends. */
static void read_table(const struct encoder *out)
{
    struct result_table table = {0};
    struct response_chunk answer;
    const char *why;
    unsigned type;
    size_t length;
    for (size_t at = 0; at < out->size; at += MESSAGE_FRAME_BYTES + length) {
        if (frame_read(out->data + at, out->size - at, SIZE_MAX, &type, &length, &why) != 1)
            abort();
        struct decoder in = decoder_init(out->data + at + MESSAGE_FRAME_BYTES, length);
        if (type != MESSAGE_RESPONSE)
            continue;
        decode_response_chunk(&in, &answer);
        result_table_receive(&table, &answer);
        if (in.error)
            abort();
    }
    result_table_free(&table);
}

static void ask(const struct run *run, const char *what, const char *by, uint32_t flags,
                struct table_end from)
{
    struct table_request request = {.what = xstrdup(what),
                                    .by = xstrdup(by),
                                    .sort = xstrdup(""),
                                    .from = from,
                                    .flags = flags};
    struct encoder body = {0};
    encode_table_request(&body, &request);
    struct encoder out = answer_to(run, &query_table, body);
    read_table(&out);
    encoder_free(&out);
    table_request_free(&request);
}

static const struct table_preset *preset_of(const char *what)
{
#define P(name)                                                                                    \
    if (strcmp(preset_##name.what, what) == 0)                                                     \
        return &preset_##name;
    PRESETS(P)
#undef P
    abort();
}

void run_requests_table(const struct run *run, const char *what)
{
    const char *const *by = preset_of(what)->by;
    struct table_end part = {.is = TABLE_AT_NS, .at = 500};
    for (unsigned i = 0; !i || (by && by[i]); i++) {
        ask(run, what, by ? by[i] : "", 0, (struct table_end){0});
        ask(run, what, by ? by[i] : "", TABLE_TREE | TABLE_RAW, part);
    }
}

void run_requests_curves(const struct run *run)
{
    struct series_request request = {
        .pixels = 17, .groups = SERIES_GROUPS, .threads = true, .meter = xstrdup("")};
    struct encoder body = {0};
    encode_series_request(&body, &request);
    struct encoder out = answer_to(run, &query_time_series, body);
    encoder_free(&out);
    series_request_free(&request);
}
