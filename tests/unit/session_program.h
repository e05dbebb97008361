/* A program as the server sees it, for tests: messages and slots made by hand. */
#ifndef TESTS_UNIT_SESSION_PROGRAM_H
#define TESTS_UNIT_SESSION_PROGRAM_H

#include "server/decode/program_session.h"
#include "wire/program_messages.h"

#include <stdlib.h>
#include <string.h>

/* Codes: types 1 note, 2 enter, 3 entered; shape SHAPE_COMPOUND pairs 2 with 3. */
static inline void put_test_hello(struct encoder *out)
{
    encode_hello(out, &(struct program_hello){.role = ROLE_PROGRAM,
                                              .run = text_view_of("test@1"),
                                              .environment = text_view_of("pthread"),
                                              .path = text_view_of("/bin/test"),
                                              .host = text_view_of("host"),
                                              .pid = 42,
                                              .instance = 1,
                                              .clock_ns = 1000,
                                              .wall_ns = 2000,
                                              .argument_count = 1});
    encode_argument(out, text_view_of("test"));
}

static inline void put_test_type(struct encoder *out, uint16_t code, const char *name)
{
    encode_type(out, &(struct type_message){.code = code, .name = text_view_of(name)});
}

static inline void put_test_shape(struct encoder *out)
{
    encode_shape(out, &(struct shape_message){SHAPE_COMPOUND, 1, {{2, 3, 0}}});
}

static inline void put_test_line(struct encoder *out, uint32_t code, const char *kind,
                                 const char *name)
{
    encode_line(out, &(struct line_message){.code = code,
                                            .high = 1,
                                            .low = code,
                                            .kind = text_view_of(kind),
                                            .name = text_view_of(name)});
}

/* Passes everything that the program sends to `say`, in order: declarations, then `visits` visits
 * of the monitor. */
static inline void test_program(void (*say)(void *context, unsigned type, uint32_t thread,
                                            const void *data, size_t size),
                                void *context, unsigned visits)
{
    static const char *const types[] = {"note", "enter", "entered"};
    struct encoder out = {0};
    for (uint16_t i = 0; i < 3; i++) {
        out.size = 0;
        put_test_type(&out, (uint16_t)(i + 1), types[i]);
        say(context, MESSAGE_TYPE, 0, out.data, out.size);
    }
    out.size = 0;
    put_test_shape(&out);
    say(context, MESSAGE_SHAPE, 0, out.data, out.size);
    for (uint32_t line = 1; line <= 2; line++) {
        out.size = 0;
        put_test_line(&out, line, line == 1 ? "task" : "monitor", line == 1 ? "t" : "m");
        say(context, MESSAGE_LINE, 1, out.data, out.size);
    }
    for (unsigned i = 0; i < visits; i++) {
        struct ring_slot slots[2] = {
            {.shape = SHAPE_COMPOUND,
             .time_ns = 1001 + i,
             .line_a = 1,
             .line_b = 2,
             .number_a = 2 * i + 1,
             .number_b = i + 1},
            {.shape = 1, .time_ns = 1001 + i, .line_a = 1, .number_a = 2 * i + 2}};
        say(context, MESSAGE_SLOTS, 1, slots, sizeof slots);
    }
    encoder_free(&out);
}

#endif
