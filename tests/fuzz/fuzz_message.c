/* What a program and a viewer may send: frames of any content, to a run and its answers. */
#include "server/question.h"
#include "server/window.h"
#include "server/teller.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void slots(struct teller *teller, const uint8_t *body, size_t size)
{
    const char *error;
    struct slot *s = malloc(size + 1);
    if (!s || size < 4)
        goto out;
    memcpy(s, body + 4, size - 4);
    teller_slots(teller, body[0], s, (size - 4) / SLOT_BYTES, &error);
out:
    free(s);
}

static void view(const struct run *run, unsigned type, const uint8_t *body, size_t size)
{
    struct out out = {0};
    struct in in = in_from(body, size);
    if (type == MESSAGE_WINDOW) {
        struct window_request request;
        get_window_request(&in, &request);
        if (in_done(&in)) {
            struct window_job *job = window_begin(run, &request, NULL);
            while (!window_step(job, 1000))
                ;
            window_put(job, &out);
            window_free(job);
        }
        window_request_free(&request);
    } else if (type == MESSAGE_DENSITY) {
        struct density_request request;
        get_density_request(&in, &request);
        if (in_done(&in)) {
            struct density_job *job = density_begin(run, &request);
            while (!density_step(job, 1000))
                ;
            density_put(job, &out);
            density_free(job);
        }
        free(request.rows);
    } else if (type == MESSAGE_WHY || type == MESSAGE_ORDER) {
        struct question *question = question_new(run, type, &in);
        while (!question_step(question, 100))
            ;
        question_put(question, &out);
        question_free(question);
    } else if (type == MESSAGE_DUMP) {
        uint64_t cursor = 0;
        answer_dump(&out, run, &cursor, SIZE_MAX);
    } else if (type == MESSAGE_TAILS) {
        answer_tails(&out, run);
    }
    out_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run *run = run_new("fuzz", 1, NULL);
    struct teller *teller = NULL;
    while (size) {
        unsigned type;
        size_t length;
        const char *error;
        if (frame_read(data, size, LIMIT_MESSAGE_BYTES, &type, &length, &error) <= 0)
            break;
        const uint8_t *body = data + MESSAGE_FRAME_BYTES;
        if (!teller) {
            struct hello hello;
            struct in in = in_from(body, length);
            if (hello_read(&in, &hello) && hello.role == ROLE_PROGRAM)
                teller = teller_new(run, 0, &hello);
            hello_free(&hello);
        } else if (type == MESSAGE_SLOTS) {
            slots(teller, body, length);
        } else if (type >= MESSAGE_RUNS) {
            view(run, type, body, length);
        } else {
            teller_message(teller, type, 0, body, length, &error);
        }
        data += MESSAGE_FRAME_BYTES + length;
        size -= MESSAGE_FRAME_BYTES + length;
    }
    if (teller)
        teller_hangup(teller);
    run_free(run);
    return 0;
}
