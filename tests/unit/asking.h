/* Questions as a viewer asks them, and the parts of their answers. */
#ifndef TESTS_UNIT_ASKING_H
#define TESTS_UNIT_ASKING_H

#include "server/answer/desk.h"
#include "tests/unit/unit.h"

/* The whole answer, the caller's; steps of `budget`.  Frees body. */
__attribute__((unused)) static struct out
answer_to(const struct run *run, const struct question *question, struct out body, uint64_t budget)
{
    struct out out = {0};
    struct reply reply = {&out, 1, 0};
    struct desk desk = {.run = run};
    struct in in = in_from(body.data, body.size);
    if (question->at_once) {
        question->at_once(run, &in, &reply);
    } else {
        void *job = question->begin(&desk, &in);
        assert_non_null(job);
        do
            while (!question->step(job, budget))
                ;
        while (!question->put(job, &reply));
        question->free(job);
    }
    assert_null(in.error);
    reply_done(&reply);
    out_free(&body);
    return out;
}

/* The part at *at and its body; false at the end. */
__attribute__((unused)) static bool next_part(const struct out *out, size_t *at,
                                              struct answer *answer, struct in *body)
{
    unsigned type;
    size_t length;
    const char *error;
    while (*at < out->size) {
        assert_int_equal(
            frame_read(out->data + *at, out->size - *at, SIZE_MAX, &type, &length, &error), 1);
        *body = in_from(out->data + *at + MESSAGE_FRAME_BYTES, length);
        *at += MESSAGE_FRAME_BYTES + length;
        if (type != MESSAGE_ANSWER)
            continue;
        get_answer(body, answer);
        assert_true(answer->id == 1 && answer->last == (*at == out->size));
        return true;
    }
    return false;
}

/* The body of the first part of a kind. */
__attribute__((unused)) static struct in part_of(const struct out *out, enum part wanted)
{
    struct answer answer;
    struct in body;
    for (size_t at = 0; next_part(out, &at, &answer, &body);)
        if (answer.part == wanted)
            return body;
    fail_msg("no %s", part_name(wanted));
    return body;
}

#endif
