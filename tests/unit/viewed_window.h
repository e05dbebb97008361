/* A window and the metadata of a run, as a viewer receives them. */
#ifndef TESTS_UNIT_VIEWED_WINDOW_H
#define TESTS_UNIT_VIEWED_WINDOW_H

#include "clients/metadata/trace_metadata.h"
#include "server/queries/run_notifications.h"
#include "server/queries/window.h"
#include "tests/unit/unit.h"
#include "wire/layout_results.h"

#include <string.h>

struct viewed_window {
    struct trace_metadata book;
    struct window_info window;
};

static inline void viewed_window_receive(struct viewed_window *v, const struct run *run,
                                         struct window_request request)
{
    struct encoder out = {0};
    struct viewer_knowledge known = {0};
    memset(v, 0, sizeof *v);
    notify_updates(&out, run, &known);
    struct window_job *job = window_begin(run, &request, NULL);
    while (!window_step(job, 1000))
        ;
    struct response reply = {&out, 1, 0};
    window_put(job, &reply);
    window_free(job);
    for (size_t at = 0; at < out.size;) {
        unsigned type;
        size_t length;
        const char *error;
        assert_int_equal(frame_read(out.data + at, out.size - at, SIZE_MAX, &type, &length, &error),
                         1);
        struct decoder in = decoder_init(out.data + at + MESSAGE_FRAME_BYTES, length);
        struct response_chunk answer;
        if (type == MESSAGE_RESPONSE) {
            decode_response_chunk(&in, &answer);
            decode_window(&in, &v->window);
        } else {
            assert_true(metadata_update(&v->book, type, &in));
        }
        assert_null(in.error);
        at += MESSAGE_FRAME_BYTES + length;
    }
    encoder_free(&out);
}

static inline void viewed_window_free(struct viewed_window *v)
{
    window_info_free(&v->window);
    metadata_free(&v->book);
}

#endif
