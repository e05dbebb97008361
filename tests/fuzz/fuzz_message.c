/* What a program and a viewer may send: frames of any content, to a run and its answers. */
#include "server/answer/desk.h"
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

/* A question, to the end of its answer. */
static void ask(const struct run *run, const uint8_t *body, size_t size)
{
    struct out out = {0};
    struct in in = in_from(body, size);
    struct desk desk = {.run = run};
    struct asked asked;
    get_asked(&in, &asked);
    if (!in.error)
        desk_ask(&desk, &asked, &in, &out);
    while (desk.count) {
        desk_step(&desk, &out);
        desk_refill(&desk, &out);
    }
    desk_clear(&desk, NULL);
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
        } else if (type == MESSAGE_ASK) {
            ask(run, body, length);
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
