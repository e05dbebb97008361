/* What a program and a viewer may send: frames of any content, to a run and its answers. */
#include "server/answer/answer.h"
#include "server/answer/finding.h"
#include "server/answer/question.h"
#include "server/answer/window.h"
#include "server/intake/session.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void slots(struct session *session, const uint8_t *body, size_t size)
{
    const char *error;
    struct slot *s = malloc(size + 1);
    if (!s || size < 4)
        goto out;
    memcpy(s, body + 4, size - 4);
    session_slots(session, body[0], s, (size - 4) / SLOT_BYTES, &error);
out:
    free(s);
}

static void finish(const struct job_sort *sort, void *job, struct out *out)
{
    bool done = false;
    while (!done) {
        while (!sort->step(job, 2000))
            ;
        done = sort->put(job, out);
    }
    sort->free(job);
}

static void ask(const struct run *run, unsigned type, struct in *in, struct out *out)
{
    struct window_request window = {0};
    struct density_request density = {0};
    struct search_request search = {0};
    if (type == MESSAGE_WINDOW) {
        get_window_request(in, &window);
        if (in_done(in))
            finish(&window_jobs, window_begin(run, &window, NULL), out);
    } else if (type == MESSAGE_DENSITY) {
        get_density_request(in, &density);
        if (in_done(in))
            finish(&density_jobs, density_begin(run, &density), out);
    } else {
        get_search_request(in, &search);
        if (in_done(in))
            finish(&finding_jobs, finding_begin(run, &search), out);
    }
    window_request_free(&window);
    density_request_free(&density);
    search_request_free(&search);
}

static void view(const struct run *run, unsigned type, const uint8_t *body, size_t size)
{
    struct out out = {0};
    struct in in = in_from(body, size);
    if (type == MESSAGE_WINDOW || type == MESSAGE_DENSITY || type == MESSAGE_SEARCH) {
        ask(run, type, &in, &out);
    } else if (type == MESSAGE_WHY || type == MESSAGE_ORDER || type == MESSAGE_COUNT) {
        finish(&question_jobs, question_new(run, type, &in), &out);
    } else if (type == MESSAGE_LIST) {
        uint64_t position = get_u64(&in);
        answer_list(&out, run, position, get_u32(&in));
    } else if (type == MESSAGE_STEP) {
        struct ref from = get_ref(&in);
        answer_step(&out, run, from, (enum asked_step)(get_u8(&in) % STEPS));
    } else if (type == MESSAGE_DUMP) {
        struct dump *dump = dump_new(run);
        while (!dump_step(dump, &out, SIZE_MAX))
            ;
        dump_free(dump);
    } else if (type == MESSAGE_TAILS) {
        finish(&question_jobs, question_new(run, type, &in), &out);
    }
    out_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run *run = run_new("fuzz", 1, NULL);
    struct session *session = NULL;
    while (size) {
        unsigned type;
        size_t length;
        const char *error;
        if (frame_read(data, size, LIMIT_MESSAGE_BYTES, &type, &length, &error) <= 0)
            break;
        const uint8_t *body = data + MESSAGE_FRAME_BYTES;
        if (!session) {
            struct hello hello;
            struct in in = in_from(body, length);
            if (hello_read(&in, &hello) && hello.role == ROLE_PROGRAM)
                session = session_new(run, 0, &hello);
            hello_free(&hello);
        } else if (type == MESSAGE_SLOTS) {
            slots(session, body, length);
        } else if (type >= MESSAGE_RUNS) {
            view(run, type, body, length);
        } else {
            session_message(session, type, 0, body, length, &error);
        }
        data += MESSAGE_FRAME_BYTES + length;
        size -= MESSAGE_FRAME_BYTES + length;
    }
    if (session)
        session_hangup(session);
    run_free(run);
    return 0;
}
