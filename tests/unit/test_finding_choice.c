/* The choice of key findings: by gain, those about a lack of CPUs only where there is space. */
#include "base/alloc.h"
#include "clients/connection/finding_choice.h"
#include "server/queries/tables/table_query.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static const struct {
    const char *text;
    int64_t gain_ns;
} rows[] = {{"late sender: receivers wait for its messages", 20},
            {"CPU contention (4 threads runnable without a CPU)", 90},
            {"blocked at end of trace", -1},
            {"lock contention (2 threads)", 40},
            {"high wake-up latency", 30},
            {"dominates the critical path", 0}};
enum { ROWS = sizeof rows / sizeof *rows };

/* Checks which rows are chosen, at most `most` of them. */
static void expect(uint32_t most, const uint32_t *wanted, uint32_t count)
{
    struct result_table t = {.title = xstrdup("findings")};
    int64_t gains_ns[ROWS];
    uint32_t chosen[ROWS];
    table_add_column(&t, "finding", "finding", TABLE_TEXT, NULL);
    for (uint32_t i = 0; i < ROWS; i++) {
        *table_add_row(&t, 0, (struct event_id){i + 1, 1}) = table_cell_text(rows[i].text);
        gains_ns[i] = rows[i].gain_ns;
    }
    assert_int_equal(finding_choice_make(&t, gains_ns, most, chosen), count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(chosen[i], wanted[i]);
    result_table_free(&t);
}

static void all_are_chosen_by_gain_if_there_is_space(void **state)
{
    (void)state;
    expect(5, (uint32_t[]){1, 3, 4, 0, 5}, 5);
    expect(6, (uint32_t[]){1, 3, 4, 0, 5}, 5);
}

static void those_of_the_program_are_never_left_out_for_cpus(void **state)
{
    (void)state;
    expect(4, (uint32_t[]){1, 3, 0, 5}, 4);
    expect(3, (uint32_t[]){3, 0, 5}, 3);
    expect(2, (uint32_t[]){3, 0}, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_chosen_by_gain_if_there_is_space),
        cmocka_unit_test(those_of_the_program_are_never_left_out_for_cpus)};
    return cmocka_run_group_tests_name("finding choice", tests, NULL, NULL);
}
