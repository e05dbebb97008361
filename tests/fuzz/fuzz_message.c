/* Messages of a program and of a viewer: frames of any content, passed to a run and its queries. */
#include "server/queries/request_queue.h"
#include "server/decode/program_session.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void slots(struct program_session *session, const uint8_t *body, size_t size)
{
    const char *error;
    struct ring_slot *s = malloc(size + 1);
    if (!s || size < 4)
        goto out;
    memcpy(s, body + 4, size - 4);
    program_session_decode_slots(session, body[0], s, (size - 4) / SLOT_BYTES, &error);
out:
    free(s);
}

/* Processes a request until the response is complete. */
static void ask(const struct run *run, const uint8_t *body, size_t size)
{
    struct encoder out = {0};
    struct decoder in = decoder_init(body, size);
    struct request_queue queue = {.run = run};
    struct request_header asked;
    decode_request_header(&in, &asked);
    if (!in.error)
        request_queue_add(&queue, &asked, &in, &out);
    while (queue.count) {
        request_queue_step(&queue, &out);
        request_queue_refill(&queue, &out);
    }
    request_queue_clear(&queue, NULL);
    encoder_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run *run = run_new("fuzz", 1, NULL);
    struct program_session *session = NULL;
    while (size) {
        unsigned type;
        size_t length;
        const char *error;
        if (frame_read(data, size, LIMIT_MESSAGE_BYTES, &type, &length, &error) <= 0)
            break;
        const uint8_t *body = data + MESSAGE_FRAME_BYTES;
        if (!session) {
            struct hello_message hello;
            struct decoder in = decoder_init(body, length);
            if (hello_message_decode(&in, &hello) && hello.role == ROLE_PROGRAM)
                session = program_session_new(run, 0, &hello);
            hello_message_free(&hello);
        } else if (type == MESSAGE_SLOTS) {
            slots(session, body, length);
        } else if (type == MESSAGE_REQUEST) {
            ask(run, body, length);
        } else {
            program_session_decode_message(session, type, 0, body, length, &error);
        }
        data += MESSAGE_FRAME_BYTES + length;
        size -= MESSAGE_FRAME_BYTES + length;
    }
    if (session)
        program_session_close(session);
    run_free(run);
    return 0;
}
