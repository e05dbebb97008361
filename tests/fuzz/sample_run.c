/* A run of one program, for fuzzers. */
#include "tests/fuzz/sample_run.h"

#include "tests/unit/session_program.h"

#include <stdlib.h>

static void say(struct sample_run *sample, unsigned type, uint32_t thread,
                const struct encoder *body)
{
    const char *why;
    if (!program_session_decode_message(sample->session, type, thread, body->data, body->size,
                                        &why))
        abort();
}

static void announce_all(struct sample_run *sample)
{
    static const char *const types[] = {"note", "start"};
    struct encoder out = {0};
    for (uint16_t i = 0; i < 2; i++) {
        out.size = 0;
        put_test_type(&out, i + 1, types[i]);
        say(sample, MESSAGE_TYPE, 0, &out);
    }
    for (uint32_t line = 1; line <= SAMPLE_RUN_THREADS; line++) {
        out.size = 0;
        put_test_line(&out, line, "task", "t");
        say(sample, MESSAGE_LINE, line, &out);
    }
    encoder_free(&out);
}

static void start(struct sample_run *sample)
{
    const char *why;
    for (uint32_t line = 1; line <= SAMPLE_RUN_THREADS; line++) {
        struct ring_slot slot = {.shape = 2, .time_ns = ++sample->ns, .line_a = line};
        slot.number_a = ++sample->numbers[line];
        if (!program_session_decode_slots(sample->session, line, &slot, 1, &why))
            abort();
    }
}

struct sample_run sample_run_begin(void)
{
    struct sample_run sample = {.run = run_new("fuzz@1", 1, NULL), .ns = 1001};
    struct encoder out = {0};
    struct hello_message hello;
    put_test_hello(&out);
    struct decoder in = decoder_init(out.data, out.size);
    if (!hello_message_decode(&in, &hello))
        abort();
    sample.session = program_session_new(sample.run, 0, &hello);
    hello_message_free(&hello);
    encoder_free(&out);
    run_set_wait_for_missing(sample.run);
    announce_all(&sample);
    start(&sample);
    return sample;
}

void sample_run_end(struct sample_run *sample)
{
    program_session_close(sample->session);
    while (!run_step(sample->run, 1000))
        ;
    sample->session = NULL;
}
