/* Packed attributes of lines, and lines by identity. */
#include "server/run/run_lines.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define LINES (3 * RUN_LINES_PAGE + 17)

static struct run_line facts_of(uint32_t line, char *name, size_t size)
{
    snprintf(name, size, line % 7 ? "" : "line \xc3\xa9 %u", line);
    return (struct run_line){.kind = line % 3,
                             .process = line / 1000,
                             .name = name,
                             .object = 0x7f0000000000 + 40 * (uint64_t)(line % 50),
                             .programs = line % 11 == 0,
                             .entry = line % 5 ? 0 : UINT64_MAX - line};
}

static bool is_away(const void *context, uint32_t line)
{
    (void)context;
    return line != RUN_LINES_PAGE + 5; /* one line of the second page is in use */
}

static void packed_facts_are_the_same(void **state)
{
    (void)state;
    struct run_lines lines = {0};
    char name[64];
    for (uint32_t line = 1; line <= LINES; line++)
        run_lines_add(&lines, facts_of(line, name, sizeof name));
    run_lines_pack(&lines, is_away, NULL);
    assert_null(lines.pages[0].lines);
    assert_non_null(lines.pages[1].lines);
    assert_null(lines.pages[2].lines);
    assert_non_null(lines.pages[3].lines); /* the page is not full */
    for (int round = 0; round < 2; round++) {
        for (uint32_t line = LINES; line > 0; line--) {
            struct run_line want = facts_of(line, name, sizeof name);
            const struct run_line *got = run_lines_at(&lines, line);
            assert_int_equal(got->kind, want.kind);
            assert_int_equal(got->process, want.process);
            assert_int_equal(got->object, want.object);
            assert_int_equal(got->entry, want.entry);
            assert_int_equal(got->programs, want.programs);
            assert_string_equal(got->name, line == 3 && round ? "new" : name);
        }
        run_lines_rename(run_lines_at(&lines, 3), "new");
        run_lines_pack(&lines, is_away, NULL);
    }
    run_lines_free(&lines);
}

static void lines_are_found_by_identity(void **state)
{
    (void)state;
    struct line_identities identities = {0};
    line_identity_expect(&identities, 77, 3);
    line_identity_expect(&identities, 77, 4);
    assert_false(line_identity_has_changed(&identities, 77, 3));
    assert_true(line_identity_has_changed(&identities, 77, 4)); /* the first owner keeps it */
    assert_false(line_identity_has_changed(&identities, 78, 4)); /* it has no particular owner */
    for (uint32_t i = 1; i <= 5000; i++) {
        line_identity_put(&identities, 77, i, i);
        line_identity_put(&identities, 77, UINT64_MAX - i, 10000 + i); /* not counted */
        line_identity_put(&identities, i, 77, 20000 + i);
    }
    for (uint32_t i = 1; i <= 5000; i++) {
        assert_int_equal(line_identity_get(&identities, 77, i), i == 77 ? 20077 : i);
        assert_int_equal(line_identity_get(&identities, 77, UINT64_MAX - i), 10000 + i);
        assert_int_equal(line_identity_get(&identities, i, 77), 20000 + i);
    }
    assert_int_equal(line_identity_get(&identities, 77, 5001), 0);
    assert_int_equal(line_identity_get(&identities, 78, 1), 0);
    line_identity_free(&identities);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_facts_are_the_same),
        cmocka_unit_test(lines_are_found_by_identity),
    };
    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
