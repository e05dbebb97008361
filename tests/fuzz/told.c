/* A run of one program, for fuzzers. */
#include "tests/fuzz/told.h"

#include "tests/unit/program.h"

#include <stdlib.h>

static void say(struct told *told, unsigned type, uint32_t thread, const struct encoder *body)
{
    const char *why;
    if (!program_session_decode_message(told->session, type, thread, body->data, body->size, &why))
        abort();
}

static void announce_all(struct told *told)
{
    static const char *const types[] = {"note", "start"};
    struct encoder out = {0};
    for (uint16_t i = 0; i < 2; i++) {
        out.size = 0;
        put_test_type(&out, i + 1, types[i]);
        say(told, MESSAGE_TYPE, 0, &out);
    }
    for (uint32_t line = 1; line <= TOLD_THREADS; line++) {
        out.size = 0;
        put_test_line(&out, line, "task", "t");
        say(told, MESSAGE_LINE, line, &out);
    }
    encoder_free(&out);
}

static void start(struct told *told)
{
    const char *why;
    for (uint32_t line = 1; line <= TOLD_THREADS; line++) {
        struct ring_slot slot = {.shape = 2, .time_ns = ++told->ns, .line_a = line};
        slot.number_a = ++told->numbers[line];
        if (!program_session_decode_slots(told->session, line, &slot, 1, &why))
            abort();
    }
}

struct told told_begin(void)
{
    struct told told = {.run = run_new("fuzz@1", 1, NULL), .ns = 1001};
    struct encoder out = {0};
    struct hello_message hello;
    put_test_hello(&out);
    struct decoder in = decoder_init(out.data, out.size);
    if (!hello_message_decode(&in, &hello))
        abort();
    told.session = program_session_new(told.run, 0, &hello);
    hello_message_free(&hello);
    encoder_free(&out);
    run_set_wait_for_missing(told.run);
    announce_all(&told);
    start(&told);
    return told;
}

void told_end(struct told *told)
{
    program_session_close(told->session);
    while (!run_step(told->run, 1000))
        ;
    told->session = NULL;
}
