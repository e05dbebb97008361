/* Requests as a viewer sends them, and the parts of their responses. */
#ifndef TESTS_UNIT_VIEWER_REQUESTS_H
#define TESTS_UNIT_VIEWER_REQUESTS_H

#include "server/queries/request_queue.h"
#include "tests/unit/unit.h"

/* Returns the whole response, which the caller frees; processed in steps of `budget`. Frees
 * body. */
__attribute__((unused)) static struct encoder
answer_to(const struct run *run, const struct query *query, struct encoder body, uint64_t budget)
{
    struct encoder out = {0};
    struct response reply = {&out, 1, 0};
    struct request_queue queue = {.run = run};
    struct decoder in = decoder_init(body.data, body.size);
    if (query->at_once) {
        query->at_once(run, &in, &reply);
    } else {
        void *job = query->begin(&queue, &in);
        assert_non_null(job);
        do
            while (!query->step(job, budget))
                ;
        while (!query->put(job, &reply));
        query->free(job);
    }
    assert_null(in.error);
    response_finish(&reply);
    encoder_free(&body);
    return out;
}

/* Gets the part at *at and its body, and advances *at; returns false at the end. */
__attribute__((unused)) static bool next_part(const struct encoder *out, size_t *at,
                                              struct response_chunk *answer, struct decoder *body)
{
    unsigned type;
    size_t length;
    const char *error;
    while (*at < out->size) {
        assert_int_equal(
            frame_read(out->data + *at, out->size - *at, SIZE_MAX, &type, &length, &error), 1);
        *body = decoder_init(out->data + *at + MESSAGE_FRAME_BYTES, length);
        *at += MESSAGE_FRAME_BYTES + length;
        if (type != MESSAGE_RESPONSE)
            continue;
        decode_response_chunk(body, answer);
        assert_true(answer->id == 1 && answer->last == (*at == out->size));
        return true;
    }
    return false;
}

/* Returns the body of the first part of a type. */
__attribute__((unused)) static struct decoder part_of(const struct encoder *out,
                                                      enum response_chunk_type wanted)
{
    struct response_chunk answer;
    struct decoder body;
    for (size_t at = 0; next_part(out, &at, &answer, &body);)
        if (answer.part == wanted)
            return body;
    fail_msg("no %s", response_chunk_name(wanted));
    return body;
}

#endif
