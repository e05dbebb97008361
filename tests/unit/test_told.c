#include "tests/unit/unit.h"
#include "wire/told.h"
#include "wire/variable.h"

#include <string.h>

static bool same(struct text text, const char *s)
{
    return text.size == strlen(s) && memcmp(text.bytes, s, text.size) == 0;
}

static void a_line_comes_back_as_it_was_told(void **state)
{
    struct told_line told = {7, 1, 2, LINE_SHARED, 3, 4, text_of("monitor"), text_of("m")}, got;
    struct out out = {0};
    put_told_line(&out, &told);
    struct in in = in_from(out.data, out.size);
    assert_true(get_told_line(&in, &got));
    assert_int_equal(got.code, 7);
    assert_int_equal(got.high, 1);
    assert_int_equal(got.low, 2);
    assert_int_equal(got.flags, LINE_SHARED);
    assert_int_equal(got.object, 3);
    assert_int_equal(got.entry, 4);
    assert_true(same(got.kind, "monitor") && same(got.name, "m"));
    out_free(&out);
}

static void a_hello_comes_back_with_its_arguments(void **state)
{
    struct told_hello told = {.role = ROLE_PROGRAM,
                              .run = text_of("r"),
                              .environment = text_of("pthread"),
                              .path = text_of("/bin/x"),
                              .host = text_of("h"),
                              .pid = 5,
                              .instance = 6,
                              .clock_ns = 7,
                              .wall_ns = 8,
                              .argument_count = 2},
                      got;
    struct out out = {0};
    put_told_hello(&out, &told);
    put_told_argument(&out, text_of("x"));
    put_told_argument(&out, text_of("-v"));
    struct in in = in_from(out.data, out.size);
    assert_true(get_told_hello(&in, &got));
    assert_int_equal(got.version, WIRE_VERSION);
    assert_true(same(got.run, "r") && same(got.path, "/bin/x") && same(got.host, "h"));
    assert_int_equal(got.wall_ns, 8);
    assert_int_equal(got.argument_count, 2);
    assert_true(same(get_told_argument(&in), "x"));
    assert_true(same(get_told_argument(&in), "-v"));
    assert_int_equal(get_told_variables(&in), 0); /* (nothing follows) */
    assert_true(in_done(&in));
    put_told_variables(&out, 2);
    put_told_argument(&out, text_of("A=1"));
    put_told_argument(&out, text_of("B#1f3c"));
    size_t at = in.at;
    in = in_from(out.data, out.size);
    in.at = at;
    assert_int_equal(get_told_variables(&in), 2);
    assert_true(same(get_told_argument(&in), "A=1"));
    assert_true(same(get_told_argument(&in), "B#1f3c"));
    assert_true(in_done(&in));
    out_free(&out);
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

/* Every message, filled with something, by number. */
static unsigned put_message(struct out *out, unsigned number)
{
    switch (number) {
#define CASE(n, type, ...)                                                                         \
    case n:                                                                                        \
        put_told_##type(out, &(struct told_##type){__VA_ARGS__});                                  \
        break
        CASE(0, line, 1, 2, 3, 1, 5, 6, text_of("task"), text_of("t"));
        CASE(1, module, 1, 2, 3, text_of("0123"), text_of("/lib/x.so"));
        CASE(2, kind, 1, text_of("k"), text_of("n"));
        CASE(3, text, 1, 2, text_of("words"));
        CASE(4, lost, 1, 2, 3);
        CASE(5, thread, 64);
        CASE(6, describe, text_of("mpi"));
        CASE(7, object, 1, 2);
        CASE(8, unseen, 1, text_of("why"));
        CASE(9, close, 1, 2);
        CASE(10, type, 3, text_of("taken"), 2, {1, 2});
        CASE(11, shape, SHAPE_COMPOUND, 2, {{1, 2, 0}, {3, 0, 1}});
        CASE(12, far, 1, 1, 2, 3, 80, 4, 5, 81);
        CASE(13, hole, 1, 2, 3, UNSEEN_STREAM);
        CASE(14, awaits, 1, 2, 3, 4);
    default:
        return 0;
#undef CASE
    }
    return 1;
}

static bool get_message(struct in *in, unsigned number)
{
    switch (number) {
#define CASE(n, type)                                                                              \
    case n: {                                                                                      \
        struct told_##type told;                                                                   \
        return get_told_##type(in, &told);                                                         \
    }
        CASE(0, line)
        CASE(1, module)
        CASE(2, kind)
        CASE(3, text)
        CASE(4, lost)
        CASE(5, thread)
        CASE(6, describe)
        CASE(7, object)
        CASE(8, unseen)
        CASE(9, close)
        CASE(10, type)
        CASE(11, shape)
        CASE(12, far)
        CASE(13, hole)
        CASE(14, awaits)
#undef CASE
    }
    return false;
}

static void no_message_is_taken_that_is_cut_or_too_long(void **state)
{
    struct out out = {0};
    for (unsigned number = 0; put_message(&out, number); number++, out.size = 0) {
        for (size_t size = 0; size < out.size; size++) {
            struct in cut = in_from(out.data, size);
            assert_false(get_message(&cut, number));
            assert_non_null(cut.error);
        }
        struct in whole = in_from(out.data, out.size);
        assert_true(get_message(&whole, number));
        put_u8(&out, 0);
        struct in more = in_from(out.data, out.size);
        assert_false(get_message(&more, number));
    }
    out_free(&out);
}

static void a_text_that_is_too_long_or_holds_a_zero_is_refused(void **state)
{
    char much[LIMIT_TEXT_BYTES + 1];
    memset(much, 'x', sizeof much);
    struct out out = {0};
    struct told_text got;
    put_told_text(&out, &(struct told_text){1, 2, {much, sizeof much}});
    struct in in = in_from(out.data, out.size);
    assert_false(get_told_text(&in, &got));
    assert_string_equal(in.error, "a string is too long");
    assert_int_equal(got.text.size, 0);
    out.size = 0;
    put_told_text(&out, &(struct told_text){1, 2, {"a\0b", 3}});
    in = in_from(out.data, out.size);
    assert_false(get_told_text(&in, &got));
    assert_string_equal(in.error, "a string holds a zero byte");
    out_free(&out);
}

static void older_files_tell_less(void **state)
{
    struct out out = {0};
    struct told_rename rename;
    struct told_losses losses;
    put_u32(&out, 4);
    put_string(&out, "name");
    struct in in = in_from(out.data, out.size);
    assert_true(get_told_rename(&in, &rename));
    assert_int_equal(rename.since, 0);
    out.size = 0;
    for (unsigned i = 1; i <= 3; i++)
        put_u64(&out, i);
    in = in_from(out.data, out.size);
    assert_true(get_told_losses(&in, &losses));
    assert_int_equal(losses.unfollowed, 3);
    assert_int_equal(losses.left, 0);
    out_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_comes_back_as_it_was_told),
        cmocka_unit_test(a_hello_comes_back_with_its_arguments),
        cmocka_unit_test(variables_of_a_description_are_told_by_their_names),
        cmocka_unit_test(no_message_is_taken_that_is_cut_or_too_long),
        cmocka_unit_test(a_text_that_is_too_long_or_holds_a_zero_is_refused),
        cmocka_unit_test(older_files_tell_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
