/* Definitions of metrics and formulas: parsing, the position of errors, and results. */
#include "config/metric_rules.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool two(void *context, const char *name, double *value)
{
    (void)context;
    *value = strcmp(name, "lock wait") == 0 ? 12 : 3;
    return strcmp(name, "missing") != 0;
}

static void formulas_have_values(void **state)
{
    static const struct {
        const char *text;
        enum formula_result is;
        double value;
        unsigned wrong;
    } all[] = {
        {"1 + 2 * 3", FORMULA_GOOD, 7, 0},
        {"(1 + 2) * 3 - -1", FORMULA_GOOD, 10, 0},
        {"8 / 4 / 2", FORMULA_GOOD, 1, 0},
        {"'lock wait' / n_1", FORMULA_GOOD, 4, 0},
        {" .5 ", FORMULA_GOOD, .5, 0},
        {"1 / (n - 3)", FORMULA_UNKNOWN, 0, 0},
        {"missing + 1", FORMULA_UNKNOWN, 0, 0},
        {"", FORMULA_WRONG, 0, 0},
        {"1 +", FORMULA_WRONG, 0, 3},
        {"1 2", FORMULA_WRONG, 0, 2},
        {"(1", FORMULA_WRONG, 0, 2},
        {"'open", FORMULA_WRONG, 0, 0},
        {"1 $ 2", FORMULA_WRONG, 0, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double value;
        unsigned wrong;
        enum formula_result is = formula_value(all[i].text, two, NULL, &value, &wrong);
        if (is != all[i].is || (is == FORMULA_GOOD && value != all[i].value) ||
            (is == FORMULA_WRONG && wrong != all[i].wrong))
            fail_msg("%s: %d, %f, at %u", all[i].text, (int)is, value, wrong);
    }
    char deep[1000];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    double value;
    unsigned wrong;
    assert_int_equal(formula_value(deep, two, NULL, &value, &wrong), FORMULA_WRONG);
}

static const char good[] =
    "metrics = (\n"
    "  { name = \"w\"; start = \"a\"; end = [\"b\", \"c\"]; per = \"line\"; better = \"low\"; },\n"
    "  { name = \"n \\\"x\\\"\"; count = [\"b\"]; unit = \"meals\"; },\n"
    "  { name = \"f\"; formula = \"w / 'n \\\"x\\\"'\"; });\n";

static void what_is_written_is_read_again(void **state)
{
    struct arena texts = {0};
    struct target_metric *meters, *again;
    size_t count, same;
    (void)state;
    assert_true(metric_rules_read(good, "m", stderr, &texts, &meters, &count));
    assert_int_equal(count, 3);
    assert_true(meters[0].per_line);
    assert_string_equal(meters[0].unit, "ns");
    assert_string_equal(meters[0].to.items[1], "c");
    assert_int_equal(meters[0].good, GOOD_LOW);
    assert_string_equal(meters[1].unit, "meals");
    char *text = metric_rules_write(meters, count);
    assert_true(metric_rules_read(text, "again", stderr, &texts, &again, &same));
    assert_int_equal(same, 3);
    char *twice = metric_rules_write(again, same);
    assert_string_equal(text, twice);
    free(text);
    free(twice);
    free(meters);
    free(again);
    arena_free(&texts);
}

static void mistakes_have_their_line(void **state)
{
    static const char *const bad[][2] = {
        {"metrics = (\n{ name = \"x\"; });", "m:2: a metric needs"},
        {"metrics = (\n{ name = \"x\"; start = \"a\"; });", "m:2: \"start\" without \"end\""},
        {"metrics = (\n{ name = \"x\"; count = \"a\"; per = \"line\"; });", "m:2: \"per\" is for"},
        {"metrics = (\n{ name = \"x\"; count = \"a\"; },\n{ name = \"x\"; count = \"a\"; });",
         "m:3: duplicate metric \"x\""},
        {"metrics = (\n{ name = \"x\"; formula = \"y\"; });", "m:2: \"formula\": no metric \"y\""},
        {"metrics = (\n{ name = \"x\"; formula = \"1 +\"; });", "m:2: invalid \"formula\""},
        {"metrics = (\n{ count = \"a\"; });", "m:2: a metric without \"name\""},
        {"metrics = (\n{ name = \"x\"; count = \"a\"; better = \"fine\"; });", "m:2: "},
        {"metres = ();", "m:1: unknown key \"metres\""},
        {"metrics = ();", "m:1: no \"metrics\""},
        {"metrics = (", "m:1: syntax error"},
        {"@include \"x\"", "m:1: @include"},
        {"", "m:1: no \"metrics\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena texts = {0};
        struct target_metric *meters;
        size_t count, size;
        char *said = NULL;
        FILE *f = open_memstream(&said, &size);
        assert_false(metric_rules_read(bad[i][0], "m", f, &texts, &meters, &count));
        fclose(f);
        assert_null(meters);
        if (strncmp(said, bad[i][1], strlen(bad[i][1])) != 0)
            fail_msg("%s: %s", bad[i][0], said);
        free(said);
        arena_free(&texts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_have_values),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(mistakes_have_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
