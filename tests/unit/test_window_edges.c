/* Messages that cross a window, compared with all messages. */
#include "server/queries/window_edges.h"
#include "tests/bench/workload.h"
#include "tests/unit/unit.h"
#include "wire/layout_results.h"

#include <stdlib.h>
#include <string.h>

#define LINES 7
#define EVENTS 180 /* few enough that all messages are searched */

static uint64_t ordinal_of(const struct order *order, uint64_t position)
{
    return order_line_from(order, order_event(order, position).line, position);
}

/* Returns -1 if an event is left of the window, 1 if right of it, 0 if in it. */
static int side(const struct order *order, const struct layout_result *p, uint64_t position)
{
    uint32_t line = order_event(order, position).line;
    if (ordinal_of(order, position) < p->before[line - 1])
        return -1;
    for (size_t i = 0; i < p->count; i++)
        if (order_event(order, p->events[i].position).line == line &&
            p->events[i].position >= position)
            return 0;
    return 1;
}

static bool has(const struct crossing_info *found, size_t count, struct event_id from,
                struct event_id to)
{
    size_t times = 0;
    for (size_t i = 0; i < count; i++)
        times += event_id_equal(found[i].from, from) && event_id_equal(found[i].to, to);
    assert_true(times <= 1);
    return times == 1;
}

static unsigned seen;

static void compare(const struct order *order, const struct layout_result *p,
                    const uint32_t *row_of)
{
    struct crossing_info *found;
    size_t count = crossing_messages_find(order, p, row_of, LINES, &found), want = 0;
    for (uint64_t position = 0; position < order_count(order); position++) {
        struct order_event e = order_event(order, position);
        for (uint32_t i = 0; i < e.send_count; i++) {
            struct order_event send = order_event(order, order_edge(order, position, i));
            uint64_t sent = order_edge(order, position, i);
            if (!row_of[send.line - 1] || !row_of[e.line - 1] || side(order, p, sent) >= 0 ||
                side(order, p, position) <= 0)
                continue;
            want++;
            assert_true(has(found, count, (struct event_id){send.line, send.number},
                            (struct event_id){e.line, e.number}));
        }
    }
    assert_int_equal(count, want);
    seen += want;
    free(found);
}

static void every_message_that_passes_by_is_found_once(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed < 60; seed++) {
        struct workload_options options = {
            .kind = seed % 2 ? UNIFORM : RING, .lines = LINES, .seed = seed, .overtaking = true};
        struct workload *w = workload_new(&options);
        struct order *order = order_new();
        struct happening h;
        workload_lines(w, order);
        for (int i = 0; i < EVENTS; i++) {
            workload_next(w, &h);
            workload_accept(order, &h);
        }
        uint32_t row_of[LINES];
        uint8_t cluster[LINES] = {0};
        for (uint32_t i = 0; i < LINES; i++)
            row_of[i] = (seed + i) % 4 ? i + 1 : 0;
        for (uint64_t anchor = 0; anchor < EVENTS; anchor += 17) {
            struct layout_result p;
            struct layout_params placing = {.anchor = anchor,
                                            .from = (int32_t)(seed % 5) - 2,
                                            .columns = 1 + seed % 6,
                                            .row_of = row_of,
                                            .cluster = cluster,
                                            .rows = LINES};
            layout_columns(order, &placing, &p);
            if (p.more_left && p.more_right)
                compare(order, &p, row_of);
            layout_result_free(&p);
        }
        order_free(order);
        workload_free(w);
    }
    assert_true(seen > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_that_passes_by_is_found_once)};
    return cmocka_run_group_tests_name("crossing", tests, NULL, NULL);
}
