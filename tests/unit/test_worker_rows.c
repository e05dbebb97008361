/* Worker threads as rows: rows of the placement table may come in any order, bars are at their
 * times, bars too narrow to draw become shares that add up, and invalid rows are skipped. */
#include "base/alloc.h"
#include "clients/metadata/trace_metadata.h"
#include "render/scene.h"
#include "render/scene_rows.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#define STAYS_MOST 1300u

static const char *const names[] = {"worker",  "cluster",     "thread",
                                    "from_ns", "duration_ns", "migrated_from"};
enum { COLUMNS = 6 };

struct given {
    const char *processor, *cluster;
    int64_t from_ns, took_ns;
    uint32_t task;
    const char *came;
};

static struct result_table table;

static void begin(void)
{
    table = (struct result_table){.columns = xcalloc(COLUMNS, sizeof *table.columns)};
    for (; table.column_count < COLUMNS; table.column_count++)
        table.columns[table.column_count].name = xstrdup(names[table.column_count]);
    table.rows = xcalloc(STAYS_MOST, sizeof *table.rows);
    table.cells = xcalloc((size_t)STAYS_MOST * COLUMNS, sizeof *table.cells);
}

static struct table_cell text(const char *s)
{
    return s ? (struct table_cell){.is = CELL_TEXT, .text = xstrdup(s)} : (struct table_cell){0};
}

static void add(struct given g)
{
    struct table_cell *cells = result_table_cells(&table, table.row_count++);
    cells[0] = text(g.processor);
    cells[1] = text(g.cluster);
    cells[2] = table_cell_line(g.task);
    cells[3] = table_cell_number(g.from_ns);
    cells[4] = table_cell_number(g.took_ns);
    cells[5] = text(g.came);
}

static void test_order(void **state)
{
    struct worker_rows c = {0};
    (void)state;
    begin();
    add((struct given){"a", "left", 100, 10, 1, NULL});
    add((struct given){"b", "right", 50, 10, 2, NULL});
    add((struct given){"c", "left", 300, 10, 1, "a"});
    add((struct given){"c", "left", 200, 10, 2, "b"});
    add((struct given){"c", "left", 400, -1, 2, "b"}); /* negative duration: skipped */
    add((struct given){"c", "left", 500, 10, 0, "b"}); /* of no task: skipped */
    add((struct given){"d", NULL, INT64_MAX - 5, 10, 1, NULL});
    worker_rows_read(&c, &table);
    assert_int_equal(c.count, 4);
    assert_string_equal(c.items[0].name, "a");
    assert_string_equal(c.items[1].name, "c"); /* next to the other worker of its cluster */
    assert_string_equal(c.items[2].name, "b");
    assert_string_equal(c.items[3].cluster, "");
    assert_int_equal(c.placement_count, 5);
    for (uint32_t i = 1; i < c.placement_count; i++)
        assert_true(c.placements[i].carrier > c.placements[i - 1].carrier ||
                    (c.placements[i].carrier == c.placements[i - 1].carrier &&
                     c.placements[i].from_ns >= c.placements[i - 1].from_ns));
    assert_int_equal(c.placements[1].from_ns, 200);
    assert_true(c.placements[1].came && !c.placements[0].came);
    assert_true(c.placements[4].to_ns == INT64_MAX);
    result_table_free(&table);
    worker_rows_read(&c, &table); /* a table without columns has no rows */
    assert_int_equal(c.count + c.placement_count, 0);
    worker_rows_free(&c);
}

/* Two events, 1000 ns and 101000 ns. */
static struct event_info events[2] = {
    {.at = {1, 1}, .thread = 1, .time_ns = 1000, .column = 0, .position = 1},
    {.at = {1, 2}, .thread = 1, .time_ns = 101000, .column = 100, .position = 2}};

static struct scene *build(const struct worker_rows *c, bool by_time)
{
    static struct row_info row = {.line = 1};
    struct trace_metadata book = {.line_count = 2};
    struct window_info w = {.rows = &row,
                            .row_count = 1,
                            .events = events,
                            .event_count = 2,
                            .last = 100,
                            .by_time = by_time,
                            .time_ns = 1000};
    struct scene_options options = {.column_ns = by_time ? 1000 : 0, .carriers = c, .legend = true};
    return scene_build(&w, &book, &options);
}

/* Returns how many points of the row are filled. */
static double filled(const struct scene *s, uint32_t row)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->bar_count; i++)
        if (s->bars[i].row == row)
            sum += (s->bars[i].to_pt - s->bars[i].from_pt) * s->bars[i].share;
    return sum;
}

static void test_bars(void **state)
{
    struct worker_rows c = {0};
    (void)state;
    begin();
    add((struct given){"wide", NULL, 1000, 50000, 1, NULL});
    /* half of the time; each is too narrow for a bar of its own */
    for (int64_t i = 0; i < 1250; i++)
        add((struct given){"narrow", NULL, 1000 + i * 80, 40, 2, NULL});
    worker_rows_read(&c, &table);
    struct scene *s = build(&c, true), *by_order = build(&c, false);
    assert_int_equal(s->row_count, 3);
    assert_int_equal(s->rows[1].line, 0);
    assert_string_equal(s->rows[1].label, "wide");
    double whole = s->marks[1].x_pt - s->marks[0].x_pt;
    assert_true(fabs(filled(s, 1) - whole / 2) < 0.01);
    assert_true(fabs(filled(s, 2) - whole / 2) < 1.5);
    assert_int_equal(s->bars[0].task, 1);
    assert_true(s->bars[0].from_pt == s->marks[0].x_pt);
    assert_true(s->bar_count > 100 && s->bar_count < 1250);
    for (uint32_t i = 1; i < s->bar_count; i++) {
        assert_true(s->bars[i].share > 0 && s->bars[i].share <= 1);
        assert_int_equal(s->bars[i].task, 0);
    }
    assert_int_equal(by_order->row_count, 1); /* columns are not proportional to time there */
    assert_int_equal(by_order->bar_count, 0);
    scene_free(s);
    scene_free(by_order);
    result_table_free(&table);
    worker_rows_free(&c);
}

static void test_cluster(void **state)
{
    struct worker_rows c = {0};
    (void)state;
    begin();
    add((struct given){"a", "pool", 1000, 100000, 1, NULL});
    add((struct given){"b", "pool", 1000, 50000, 2, NULL});
    add((struct given){"b", "pool", 51000, 20000, 1, "a"});
    worker_rows_read(&c, &table);
    struct scene *s = build(&c, true);
    double whole = s->marks[1].x_pt - s->marks[0].x_pt;
    assert_int_equal(s->row_count, 4);
    assert_string_equal(s->rows[1].label, "pool");
    assert_true(fabs(filled(s, 1) - 0.85 * whole) < 1);
    uint32_t migrations = 0;
    for (uint32_t i = 0; i < s->link_count; i++)
        if (s->links[i].kind == ARROW_MIGRATE) {
            migrations++;
            assert_true(s->links[i].y0_pt == s->rows[2].y_pt &&
                        s->links[i].y1_pt == s->rows[3].y_pt);
        }
    assert_int_equal(migrations, 1);
    scene_free(s);
    result_table_free(&table);
    worker_rows_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_bars),
                                       cmocka_unit_test(test_cluster)};
    return cmocka_run_group_tests_name("carriers", tests, NULL, NULL);
}
