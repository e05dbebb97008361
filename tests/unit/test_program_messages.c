/* Messages of programs, and a viewer's HELLO: encoding, decoding, rejection of invalid ones. */
#include "tests/unit/unit.h"
#include "wire/program_messages.h"
#include "wire/variable.h"

#include <string.h>

static bool same(struct text_view text, const char *s)
{
    return text.size == strlen(s) && memcmp(text.bytes, s, text.size) == 0;
}

static void a_line_comes_back_as_it_was_told(void **state)
{
    struct line_message
        told = {7, 1, 2, LINE_SHARED, 3, 4, text_view_of("monitor"), text_view_of("m")},
        got;
    struct encoder out = {0};
    encode_line(&out, &told);
    struct decoder in = decoder_init(out.data, out.size);
    assert_true(decode_line(&in, &got));
    assert_int_equal(got.code, 7);
    assert_int_equal(got.high, 1);
    assert_int_equal(got.low, 2);
    assert_int_equal(got.flags, LINE_SHARED);
    assert_int_equal(got.object, 3);
    assert_int_equal(got.entry, 4);
    assert_true(same(got.kind, "monitor") && same(got.name, "m"));
    encoder_free(&out);
}

static void a_hello_comes_back_with_its_arguments(void **state)
{
    struct program_hello told = {.role = ROLE_PROGRAM,
                                 .run = text_view_of("r"),
                                 .environment = text_view_of("pthread"),
                                 .path = text_view_of("/bin/x"),
                                 .host = text_view_of("h"),
                                 .pid = 5,
                                 .instance = 6,
                                 .clock_ns = 7,
                                 .wall_ns = 8,
                                 .argument_count = 2},
                         got;
    struct encoder out = {0};
    encode_hello(&out, &told);
    encode_argument(&out, text_view_of("x"));
    encode_argument(&out, text_view_of("-v"));
    struct decoder in = decoder_init(out.data, out.size);
    assert_true(decode_hello(&in, &got));
    assert_int_equal(got.version, WIRE_VERSION);
    assert_true(same(got.run, "r") && same(got.path, "/bin/x") && same(got.host, "h"));
    assert_int_equal(got.wall_ns, 8);
    assert_int_equal(got.argument_count, 2);
    assert_true(same(decode_argument(&in), "x"));
    assert_true(same(decode_argument(&in), "-v"));
    assert_int_equal(decode_variables(&in), 0); /* nothing follows */
    assert_true(decoder_finish(&in));
    encode_variables(&out, 2);
    encode_argument(&out, text_view_of("A=1"));
    encode_argument(&out, text_view_of("B#1f3c"));
    size_t at = in.at;
    in = decoder_init(out.data, out.size);
    in.at = at;
    assert_int_equal(decode_variables(&in), 2);
    assert_true(same(decode_argument(&in), "A=1"));
    assert_true(same(decode_argument(&in), "B#1f3c"));
    assert_true(decoder_finish(&in));
    encoder_free(&out);
}

/* Changes a u32 of a viewer's HELLO, and checks that it is rejected with the reason. */
static void refuse_hello_with(size_t at, uint32_t value, const char *why)
{
    struct encoder out = {0};
    struct program_hello got;
    encode_hello(&out, &(struct program_hello){.role = ROLE_VIEWER});
    struct decoder in = decoder_init(out.data, out.size);
    assert_true(decode_hello(&in, &got));
    memcpy(out.data + at, &value, sizeof value);
    in = decoder_init(out.data, out.size);
    assert_false(decode_hello(&in, &got));
    assert_string_equal(in.error, why);
    encoder_free(&out);
}

static void a_hello_of_another_version_is_refused(void **state)
{
    refuse_hello_with(0, HELLO_FORMER_MAGIC, "of an older version of Poet; update the peer");
    refuse_hello_with(0, HELLO_MAGIC + 1, "HELLO without its magic number");
    refuse_hello_with(4, WIRE_VERSION + 1, "protocol version mismatch");
    refuse_hello_with(4, WIRE_VERSION - 1, "protocol version mismatch");
}

static void variables_of_a_description_are_told_by_their_names(void **state)
{
    assert_true(variable_is_of("UCPP_SEED", 9, "ucpp"));
    assert_false(variable_is_of("UCPP_", 5, "ucpp"));
    assert_false(variable_is_of("UCPPSEED", 8, "ucpp"));
    assert_false(variable_is_of("UC", 2, "ucpp"));
    assert_true(variable_is_known("OMP_NUM_THREADS", 15));
    assert_false(variable_is_known("AWS_SECRET", 10));
    assert_true(variable_is_own("POET_RUN", 8) && variable_is_own("LD_PRELOAD", 10));
    assert_false(variable_is_own("LD_LIBRARY_PATH", 15));
    assert_int_not_equal(variable_check("a"), variable_check("b"));
}

/* Encodes an example of message type `number`. */
static unsigned put_message(struct encoder *out, unsigned number)
{
    switch (number) {
#define CASE(n, type, ...)                                                                         \
    case n:                                                                                        \
        encode_##type(out, &(struct type##_message){__VA_ARGS__});                                 \
        break
        CASE(0, line, 1, 2, 3, 1, 5, 6, text_view_of("task"), text_view_of("t"));
        CASE(1, module, 1, 2, 3, text_view_of("0123"), text_view_of("/lib/x.so"));
        CASE(2, kind, 1, text_view_of("k"), text_view_of("n"));
        CASE(3, annotation, 1, 2, text_view_of("words"));
        CASE(4, lost, 1, 2, 3);
        CASE(5, thread, 64);
        CASE(6, describe, text_view_of("mpi"));
        CASE(7, object, 1, 2);
        CASE(8, untraced, 1, text_view_of("why"));
        CASE(9, close, 1, 2);
        CASE(10, type, 3, text_view_of("taken"), 2, {1, 2});
        CASE(11, shape, SHAPE_COMPOUND, 2, {{1, 2, 0}, {3, 0, 1}});
        CASE(12, remote_stream, 1, 1, 2, 3, 80, 4, 5, 81);
        CASE(13, stream_gap, 1, 2, 3, UNTRACED_STREAM);
        CASE(14, awaits, 1, 2, 3, 4, 5);
        CASE(15, held, 1, 2, 3, 4);
        CASE(16, rename, 4, text_view_of("name"), 5);
        CASE(17, losses, 1, 2, 3, 4, 5, 6);
    default:
        return 0;
#undef CASE
    }
    return 1;
}

static bool get_message(struct decoder *in, unsigned number)
{
    switch (number) {
#define CASE(n, type)                                                                              \
    case n: {                                                                                      \
        struct type##_message told;                                                                \
        return decode_##type(in, &told);                                                           \
    }
        CASE(0, line)
        CASE(1, module)
        CASE(2, kind)
        CASE(3, annotation)
        CASE(4, lost)
        CASE(5, thread)
        CASE(6, describe)
        CASE(7, object)
        CASE(8, untraced)
        CASE(9, close)
        CASE(10, type)
        CASE(11, shape)
        CASE(12, remote_stream)
        CASE(13, stream_gap)
        CASE(14, awaits)
        CASE(15, held)
        CASE(16, rename)
        CASE(17, losses)
#undef CASE
    }
    return false;
}

static void no_message_is_taken_that_is_cut_or_too_long(void **state)
{
    struct encoder out = {0};
    for (unsigned number = 0; put_message(&out, number); number++, out.size = 0) {
        for (size_t size = 0; size < out.size; size++) {
            struct decoder cut = decoder_init(out.data, size);
            assert_false(get_message(&cut, number));
            assert_non_null(cut.error);
        }
        struct decoder whole = decoder_init(out.data, out.size);
        assert_true(get_message(&whole, number));
        encode_u8(&out, 0);
        struct decoder more = decoder_init(out.data, out.size);
        assert_false(get_message(&more, number));
    }
    encoder_free(&out);
}

static void a_text_that_is_too_long_or_holds_a_zero_is_refused(void **state)
{
    char much[LIMIT_TEXT_BYTES + 1];
    memset(much, 'x', sizeof much);
    struct encoder out = {0};
    struct annotation_message got;
    encode_annotation(&out, &(struct annotation_message){1, 2, {much, sizeof much}});
    struct decoder in = decoder_init(out.data, out.size);
    assert_false(decode_annotation(&in, &got));
    assert_string_equal(in.error, "string too long");
    assert_int_equal(got.text.size, 0);
    out.size = 0;
    encode_annotation(&out, &(struct annotation_message){1, 2, {"a\0b", 3}});
    in = decoder_init(out.data, out.size);
    assert_false(decode_annotation(&in, &got));
    assert_string_equal(in.error, "string contains a NUL byte");
    encoder_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_comes_back_as_it_was_told),
        cmocka_unit_test(a_hello_comes_back_with_its_arguments),
        cmocka_unit_test(a_hello_of_another_version_is_refused),
        cmocka_unit_test(variables_of_a_description_are_told_by_their_names),
        cmocka_unit_test(no_message_is_taken_that_is_cut_or_too_long),
        cmocka_unit_test(a_text_that_is_too_long_or_holds_a_zero_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
