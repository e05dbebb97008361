/* The tables of state intervals, of states and of levels of concurrency agree for random programs,
 * whatever the size of a step; and the cached critical path changes no answer. */
#include "clients/connection/result_table.h"
#include "base/alloc.h"
#include "server/queries/tables/path_baseline.h"
#include "server/timing/thread_states.h"
#include "tests/unit/viewer_requests.h"
#include "tests/unit/random_run.h"

struct range {
    struct table_end from, to;
    const char *by; /* NULL: the default */
};

static struct table_end at_ns(int64_t ns)
{
    return (struct table_end){.is = TABLE_AT_NS, .at = ns};
}

/* Returns the table, which the caller frees; step: budget of one step. */
static struct result_table ask(const struct run *run, const char *what, struct range range,
                               const char *factor, uint64_t step)
{
    struct table_request r = {.what = xstrdup(what),
                              .by = xstrdup(range.by ? range.by : ""),
                              .sort = xstrdup(""),
                              .from = range.from,
                              .to = range.to};
    struct encoder body = {0};
    struct result_table t = {0};
    struct response_chunk answer;
    if (factor) {
        struct table_option option = {xstrdup("factor"), xstrdup(factor)};
        ARRAY_PUSH(r.options, r.option_count, option);
    }
    encode_table_request(&body, &r);
    table_request_free(&r);
    struct encoder out = answer_to(run, &query_table, body, step);
    for (size_t at = 0;;) {
        struct decoder in;
        if (!next_part(&out, &at, &answer, &in))
            break;
        answer.in = &in;
        result_table_receive(&t, &answer);
        assert_null(in.error);
    }
    encoder_free(&out);
    return t;
}

static int64_t number(const struct result_table *t, uint32_t row, const char *name)
{
    uint32_t column = result_table_find_column(t, name);
    assert_true(column < t->column_count);
    const struct table_cell *cell = &result_table_cells(t, row)[column];
    return cell->is == CELL_NUMBER ? cell->number : 0;
}

static const char *text(const struct result_table *t, uint32_t row, const char *name)
{
    const struct table_cell *cell = &result_table_cells(t, row)[result_table_find_column(t, name)];
    return cell->is == CELL_TEXT ? cell->text : "";
}

/* Compares the rows of one thread, from row i on; returns the row after them. */
static uint32_t compare_thread(const struct result_table *spells, uint32_t i,
                               const struct result_table *states, uint32_t row)
{
    uint32_t line = result_table_cells(states, row)[0].line;
    int64_t sums[THREAD_STATES] = {0}, at = number(states, row, "start_ns"), all = 0;
    for (; i < spells->row_count && result_table_cells(spells, i)[0].line == line; i++) {
        unsigned state = 0;
        while (state < THREAD_STATES &&
               strcmp(thread_state_name(state), text(spells, i, "state")) != 0)
            state++;
        assert_true(state < THREAD_STATES);
        assert_int_equal(number(spells, i, "from_ns"), at);
        at += number(spells, i, "duration_ns");
        sums[state] += number(spells, i, "duration_ns");
        all += number(spells, i, "duration_ns");
        assert_int_equal(number(spells, i, "elapsed_ns"), all);
    }
    assert_int_equal(at, number(states, row, "end_ns"));
    assert_int_equal(all, number(states, row, "lifetime_ns"));
    for (unsigned state = 0; state < THREAD_STATES; state++) {
        assert_int_equal(sums[state], number(states, row, thread_state_words[state].column));
    }
    return i;
}

static void compare(const struct run *run, struct range range, uint64_t step)
{
    struct result_table spells = ask(run, "intervals", range, NULL, step),
                        states = ask(run, "states", range, NULL, step);
    uint32_t i = 0;
    assert_null(spells.problem);
    for (uint32_t row = 0; row < states.row_count; row++)
        i = compare_thread(&spells, i, &states, row);
    assert_int_equal(i, spells.row_count);
    if (spells.total)
        assert_int_equal(spells.total[3].number,
                         states.total[result_table_find_column(&states, "lifetime_ns")].number);
    result_table_free(&spells);
    result_table_free(&states);
}

static void spells_fill_lives(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 25; seed++) {
        struct playing g = play_random(seed);
        unsigned random = seed;
        int64_t end = g.p.run->clock.last_ns;
        compare(g.p.run, (struct range){{0}, {0}}, 1 + seed % 40);
        for (unsigned round = 0; round < 5; round++) {
            int64_t from = (int64_t)execution_random(&random, (unsigned)end),
                    to = from + 1 + (int64_t)execution_random(&random, (unsigned)end);
            compare(g.p.run, (struct range){at_ns(from), at_ns(to)}, 1 + seed % 40);
        }
        run_free(g.p.run);
    }
}

/* ---- levels of concurrency ---- */

static int64_t total(const struct result_table *t, const char *name)
{
    return t->total[result_table_find_column(t, name)].number;
}

/* Returns how many intervals of a state cover a time, by looking at all. */
static int64_t covering(const struct result_table *spells, const char *state, int64_t at)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < spells->row_count; i++) {
        int64_t from = number(spells, i, "from_ns");
        count += strcmp(text(spells, i, "state"), state) == 0 && from <= at &&
                 at < from + number(spells, i, "duration_ns");
    }
    return count;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Subtracts from the table by level how long how many threads were in a state; nothing is left. */
static void compare_levels(const struct result_table *spells, struct result_table *levels,
                           const char *state, const char *name)
{
    int64_t *at = xcalloc(2 * spells->row_count + 1, sizeof *at);
    uint32_t count = 0, column = result_table_find_column(levels, name);
    for (uint32_t i = 0; i < spells->row_count; i++) {
        at[count++] = number(spells, i, "from_ns");
        at[count++] = number(spells, i, "from_ns") + number(spells, i, "duration_ns");
    }
    qsort(at, count, sizeof *at, by_number);
    for (uint32_t i = 0; i + 1 < count; i++) {
        int64_t n = at[i] < at[i + 1] ? covering(spells, state, at[i]) : 0;
        assert_true(n < levels->row_count);
        result_table_cells(levels, (uint32_t)n)[column].number -= at[i + 1] - at[i];
    }
    for (uint32_t n = 0; n < levels->row_count; n++)
        assert_int_equal(number(levels, n, name), 0);
    free(at);
}

/* The levels over time add up to those by state. */
static void compare_times(const struct result_table *times, const struct result_table *states)
{
    double sums[2] = {0};
    int64_t most = 0, at = number(times, 0, "from_ns");
    for (uint32_t i = 0; i < times->row_count; i++) {
        const struct table_cell *cells = result_table_cells(times, i);
        int64_t took = number(times, i, "duration_ns");
        assert_int_equal(number(times, i, "from_ns"), at);
        at += took;
        sums[0] += cells[result_table_find_column(times, "running")].real * (double)took;
        sums[1] += cells[result_table_find_column(times, "contention")].real * (double)took;
        int64_t max = number(times, i, "running_max");
        most = max > most ? max : most;
    }
    assert_int_equal((int64_t)(sums[0] + 0.5), number(states, 0, "total_ns"));
    assert_int_equal((int64_t)(sums[1] + 0.5), number(states, 3, "total_ns"));
    assert_int_equal(most, number(states, 0, "max"));
}

/* The span is the running time on the critical path; all running time is work. */
static void compare_span(const struct run *run, const struct result_table *states,
                         struct range range, uint64_t step)
{
    range.by = "piece";
    struct result_table pieces = ask(run, "path", range, NULL, step);
    int64_t span = 0;
    for (uint32_t i = 0; i < pieces.row_count; i++)
        span += strcmp(text(&pieces, i, "kind"), "runs") == 0
                    ? number(&pieces, i, "critical_path_ns")
                    : 0;
    assert_int_equal(total(states, "span_ns"), span);
    assert_int_equal(total(states, "work_ns"), number(states, 0, "total_ns"));
    assert_true(span <= total(states, "work_ns") && span <= total(states, "critical_path_ns"));
    result_table_free(&pieces);
}

static void compare_concurrency(const struct run *run, struct range range, uint64_t step)
{
    static const struct {
        const char *state, *column;
    } all[] = {{"running", "running_ns"}, {"runnable", "runnable_ns"}, {"blocked", "blocked_ns"}};
    struct result_table spells = ask(run, "intervals", range, NULL, step),
                        states = ask(run, "concurrency", range, NULL, step);
    struct range by_level = {range.from, range.to, "level"},
                 by_time = {range.from, range.to, "time"};
    struct result_table levels = ask(run, "concurrency", by_level, NULL, step),
                        times = ask(run, "concurrency", by_time, NULL, step);
    if (states.row_count) {
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            compare_levels(&spells, &levels, all[i].state, all[i].column);
        compare_times(&times, &states);
        compare_span(run, &states, range, step);
        int64_t classes = 0;
        for (uint32_t i = 3; i < 7; i++)
            classes += number(&states, i, "total_ns");
        assert_int_equal(classes, number(&states, 2, "total_ns"));
    }
    assert_int_equal(states.row_count != 0, spells.row_count != 0);
    result_table_free(&spells);
    result_table_free(&states);
    result_table_free(&levels);
    result_table_free(&times);
}

static void levels_count_the_intervals(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct playing g = play_random(seed);
        unsigned random = seed;
        int64_t end = g.p.run->clock.last_ns, from = execution_random(&random, (unsigned)end / 2);
        compare_concurrency(g.p.run, (struct range){0}, 1 + seed % 40);
        compare_concurrency(g.p.run, (struct range){at_ns(from), at_ns(from + end / 3), NULL},
                            1 + seed % 40);
        run_free(g.p.run);
    }
}

/* ---- the cached critical path ---- */

static void same(const struct result_table *a, const struct result_table *b)
{
    assert_int_equal(a->row_count, b->row_count);
    for (uint32_t i = 0; i < a->row_count; i++)
        for (uint32_t k = 0; k < a->column_count; k++) {
            const struct table_cell *x = &result_table_cells(a, i)[k],
                                    *y = &result_table_cells(b, i)[k];
            assert_int_equal(x->is, y->is);
            if (x->is == CELL_NUMBER)
                assert_int_equal(x->number, y->number);
            if (x->is == CELL_REAL)
                assert_true(x->real == y->real);
        }
    assert_int_equal(a->note_count, b->note_count);
    for (uint32_t i = 0; i < a->note_count; i++)
        assert_string_equal(a->notes[i], b->notes[i]);
}

/* Compares the answer with that of an equal run without a cache. */
static void same_as_fresh(struct run *run, unsigned seed, bool more, struct range range,
                          const char *factor)
{
    struct playing g = play_random(seed);
    if (more)
        PLAY(&g.p, g.actors[0].line, "exit", g.now + 5, 0);
    struct result_table kept = ask(run, "path", range, factor, 50),
                        fresh = ask(g.p.run, "path", range, factor, UINT64_MAX / 2);
    same(&kept, &fresh);
    result_table_free(&kept);
    result_table_free(&fresh);
    run_free(g.p.run);
}

static void what_is_kept_of_the_path_changes_no_answer(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct playing g = play_random(seed);
        struct run *run = g.p.run;
        struct range all = {{0}, {0}},
                     part = {at_ns(run->clock.last_ns / 4), at_ns(run->clock.last_ns / 2)};
        same_as_fresh(run, seed, false, all, NULL);
        const struct path_baseline *kept = run_addon(&run->addons, RUN_ADDON_PATH_BASELINE);
        assert_true(kept && kept->whole);
        same_as_fresh(run, seed, false, all, "1=500000");
        /* the same path is kept; only the estimate is computed again */
        assert_ptr_equal(run_addon(&run->addons, RUN_ADDON_PATH_BASELINE), kept);
        same_as_fresh(run, seed, false, all, NULL);
        same_as_fresh(run, seed, false, part, NULL);
        same_as_fresh(run, seed, false, all, NULL);
        PLAY(&g.p, g.actors[0].line, "exit", g.now + 5, 0);
        same_as_fresh(run, seed, true, all, NULL);
        run_free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spells_fill_lives),
        cmocka_unit_test(levels_count_the_intervals),
        cmocka_unit_test(what_is_kept_of_the_path_changes_no_answer),
    };
    return cmocka_run_group_tests_name("spells", tests, NULL, NULL);
}
