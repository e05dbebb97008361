/* Recorded input: encoding of INPUT, rejection of invalid bodies, and the parts of each line in a
 * file. */
#include "tests/unit/unit.h"
#include "wire/recorded_input.h"

#include <string.h>

static void is_got_as_it_was_put(void **context)
{
    (void)context;
    struct encoder out = {0};
    struct input put = {.call = INPUT_READ,
                        .flags = INPUT_MORE,
                        .error = 4,
                        .result = -1,
                        .asked = 77,
                        .bytes = (const uint8_t *)"abc",
                        .size = 3},
                 got;
    encode_input(&out, &put);
    assert_int_equal(out.size, INPUT_HEAD_BYTES + 3);
    struct decoder in = decoder_init(out.data, out.size);
    assert_true(decode_input(&in, &got));
    assert_int_equal(got.call, INPUT_READ);
    assert_int_equal(got.flags, INPUT_MORE);
    assert_int_equal(got.error, 4);
    assert_int_equal(got.result, -1);
    assert_int_equal(got.asked, 77);
    assert_int_equal(got.size, 3);
    assert_memory_equal(got.bytes, "abc", 3);
    for (size_t cut = 0; cut < out.size; cut++) {
        in = decoder_init(out.data, cut);
        assert_false(decode_input(&in, &got));
    }
    encoder_free(&out);
}

static bool is_taken(struct input input)
{
    struct encoder out = {0};
    struct input got;
    encode_input(&out, &input);
    struct decoder in = decoder_init(out.data, out.size);
    bool taken = decode_input(&in, &got);
    encoder_free(&out);
    return taken;
}

static void what_cannot_be_is_refused(void **context)
{
    (void)context;
    static const uint8_t bytes[INPUT_PIECE_BYTES + 1];
    assert_true(is_taken((struct input){.call = INPUT_RAND}));
    assert_true(is_taken((struct input){.flags = INPUT_CUT}));
    assert_true(is_taken((struct input){.flags = INPUT_PASSED, .result = 3}));
    assert_true(is_taken((struct input){.call = 1, .bytes = bytes, .size = INPUT_PIECE_BYTES}));
    assert_false(is_taken((struct input){.call = 1, .bytes = bytes, .size = sizeof bytes}));
    assert_false(is_taken((struct input){.call = INPUT_NONE}));
    assert_false(is_taken((struct input){.call = INPUT_CALL_COUNT}));
    assert_false(is_taken((struct input){.call = 1, .flags = 32}));
    assert_true(is_taken((struct input){.flags = INPUT_STREAMS}));
    assert_true(is_taken((struct input){.call = 1, .flags = INPUT_OWN}));
    assert_false(
        is_taken((struct input){.call = 1, .flags = INPUT_OWN, .bytes = bytes, .size = 1}));
    assert_false(is_taken((struct input){.flags = INPUT_CUT, .bytes = bytes, .size = 1}));
}

struct file {
    struct input_head head;
    struct input_line lines[3];
    uint8_t data[200];
};

static void put_piece(struct file *f, unsigned line, uint8_t call)
{
    struct encoder out = {.data = f->data + f->lines[line].first + f->lines[line].bytes,
                          .room = 100};
    encode_u32(&out, INPUT_HEAD_BYTES);
    encode_input(&out, &(struct input){.call = call});
    f->lines[line].bytes += out.size;
}

static struct file a_file(void)
{
    struct file f = {.head = {.magic = INPUT_MAGIC,
                              .line_count = 2,
                              .data_at = offsetof(struct file, data),
                              .bytes = sizeof f},
                     .lines[2].first = 100};
    put_piece(&f, 1, INPUT_TIME);
    put_piece(&f, 1, INPUT_RAND);
    put_piece(&f, 2, INPUT_READ);
    return f;
}

static void a_file_has_the_pieces_of_each_line(void **context)
{
    (void)context;
    struct file f = a_file();
    struct input input;
    uint64_t at = 0;
    assert_null(recorded_input_check(&f.head, sizeof f));
    assert_true(recorded_input_next(&f.head, 1, &at, &input));
    assert_int_equal(input.call, INPUT_TIME);
    assert_true(recorded_input_next(&f.head, 1, &at, &input));
    assert_int_equal(input.call, INPUT_RAND);
    assert_false(recorded_input_next(&f.head, 1, &at, &input));
    at = 0;
    assert_true(recorded_input_next(&f.head, 2, &at, &input));
    assert_int_equal(input.call, INPUT_READ);
    assert_false(recorded_input_next(&f.head, 2, &at, &input));
    at = 0;
    assert_false(recorded_input_next(&f.head, 3, &at, &input));
}

static void a_damaged_file_is_refused(void **context)
{
    (void)context;
    struct file f = a_file();
    struct input input;
    uint64_t at = 0;
    assert_non_null(recorded_input_check(&f.head, sizeof f.head - 1));
    assert_non_null(recorded_input_check(&f.head, sizeof f - 8));
    f.lines[1].bytes = sizeof f.data + 1;
    assert_non_null(recorded_input_check(&f.head, sizeof f));
    f = a_file();
    f.lines[2].first = UINT64_MAX;
    assert_non_null(recorded_input_check(&f.head, sizeof f));
    f = a_file();
    f.head.line_count = UINT32_MAX;
    assert_non_null(recorded_input_check(&f.head, sizeof f));
    f = a_file();
    f.data[0] = 200; /* a part that would end beyond its line */
    assert_null(recorded_input_check(&f.head, sizeof f));
    assert_false(recorded_input_next(&f.head, 1, &at, &input));
    assert_int_equal(at, 0);
}

static void what_is_asked_of_a_place_has_both(void **context)
{
    (void)context;
    struct input input = {.call = INPUT_PREAD, .asked = recorded_input_asked_at(100, 7)};
    assert_int_equal(recorded_input_length(&input), 100);
    assert_int_equal(input.asked >> 32, 7);
    input.asked = recorded_input_asked_at(UINT64_MAX, UINT64_MAX);
    assert_int_equal(recorded_input_length(&input), UINT32_MAX);
    input = (struct input){.call = INPUT_READ, .asked = UINT64_C(1) << 40};
    assert_int_equal(recorded_input_length(&input), UINT64_C(1) << 40);
}

static void what_comes_with_a_message_is_got_as_it_was_put(void **context)
{
    (void)context;
    uint8_t bytes[INPUT_FRONT_BYTES];
    struct encoder out = {.data = bytes, .room = sizeof bytes};
    struct input_front put = {.name_size = 28, .name_bytes = 16, .control_bytes = 1000, .flags = 8},
                       got;
    encode_input_front(&out, &put);
    assert_false(out.failed);
    assert_int_equal(out.size, sizeof bytes);
    struct decoder in = decoder_init(bytes, sizeof bytes);
    assert_true(decode_input_front(&in, &got));
    assert_memory_equal(&put, &got, sizeof put);
    for (size_t cut = 0; cut < sizeof bytes; cut++) {
        in = decoder_init(bytes, cut);
        assert_false(decode_input_front(&in, &got));
    }
}

static void calls_have_names(void **context)
{
    (void)context;
    assert_string_equal(recorded_input_name(INPUT_CLOCK), "clock_gettime");
    assert_string_equal(recorded_input_name(200), "another call");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_got_as_it_was_put),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_file_has_the_pieces_of_each_line),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(what_is_asked_of_a_place_has_both),
        cmocka_unit_test(what_comes_with_a_message_is_got_as_it_was_put),
        cmocka_unit_test(calls_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
