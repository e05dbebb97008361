/* The order with inconsistent, duplicate, lost and missing events. */
#include "server/order/order.h"
#include "tests/unit/unit.h"

/* A program reports numbers as lost, of which one arrives nevertheless. */
static void what_came_is_not_lost(void **state)
{
    (void)state;
    for (unsigned after = 0; after < 2; after++) { /* before the loss is reported, and after */
        struct order *order = order_new();
        uint32_t line = order_line(order, false, 1);
        struct arrival first = {.at = {line, 1}, .type = 1}, came = {.at = {line, 5}, .type = 1},
                       next = {.at = {line, 9}, .type = 1};
        if (after)
            order_insert(order, &came);
        order_note_loss(order, line, 3, 6);
        if (!after)
            order_insert(order, &came);
        order_insert(order, &next);
        order_insert(order, &first);
        order_note_loss(order, line, 2, 1);
        assert_int_equal(order_figures(order).events, 3);
        assert_int_equal(order_figures(order).lost, 6);
        assert_int_equal(order_figures(order).pending, 0);
        assert_true(order_compare(order, first.at, came.at) == ORDER_BEFORE);
        assert_true(order_compare(order, came.at, next.at) == ORDER_BEFORE);
        order_free(order);
    }
}

/* A loss may be reported for numbers ahead of the line's events: all of it counts, and the line
 * continues. */
static void what_is_lost_far_ahead_is_lost(void **state)
{
    (void)state;
    for (int live = 0; live < 2; live++) {
        struct order *order = order_new();
        if (live)
            order_set_wait_for_missing(order);
        uint32_t line = order_line(order, false, 0);
        order_insert(order, &(struct arrival){.at = {line, 100101}, .type = 1, .thread = line});
        order_note_loss(order, line, 100001, 100);
        order_note_loss(order, line, 1, 100000);
        while (!order_step(order, 100))
            ;
        assert_int_equal(order_figures(order).lost, 100100);
        assert_int_equal(order_figures(order).pending, 0);
        assert_int_equal(order_count(order), 1);
        order_free(order);
    }
}

/* Events may arrive after the message that their line is closed. */
static void a_line_is_closed_after_its_last_number(void **state)
{
    (void)state;
    struct order *order = order_new();
    uint32_t line = order_line(order, false, 1), empty = order_line(order, false, 1);
    order_insert(order, &(struct arrival){.at = {line, 1}, .type = 1});
    order_close(order, line, 2);
    order_close(order, empty, 0);
    assert_false(order_line_closed(order, line));
    assert_true(order_line_closed(order, empty));
    order_insert(order, &(struct arrival){.at = {line, 2}, .type = 1});
    assert_true(order_line_closed(order, line));
    assert_int_equal(order_figures(order).contradictions, 0);
    order_insert(order, &(struct arrival){.at = {line, 3}, .type = 1});
    assert_int_equal(order_figures(order).contradictions, 1);
    order_free(order);
}

static void sync(struct order *order, struct event_id at, struct event_id with)
{
    struct arrival a = {.at = at, .relation = RELATION_SYNC, .partners = &with, .partner_count = 1};
    order_insert(order, &a);
}

static void plain(struct order *order, struct event_id at, struct event_id after)
{
    struct arrival a = {.at = at, .after = {after, {0, 0}}};
    order_insert(order, &a);
}

static struct order *three_lines(void)
{
    struct order *order = order_new();
    for (int i = 0; i < 3; i++)
        order_line(order, false, 1);
    return order;
}

static void each_mistake_is_reported_once(void **state)
{
    (void)state;
    struct order *order = three_lines();
    sync(order, (struct event_id){1, 1}, (struct event_id){2, 1});
    sync(order, (struct event_id){2, 1}, (struct event_id){1, 1});
    /* 1: the event has another partner */
    sync(order, (struct event_id){3, 1}, (struct event_id){1, 1});
    assert_int_equal(order_figures(order).contradictions, 1);
    plain(order, (struct event_id){1, 2}, (struct event_id){2, 2}); /* 2: a cycle of two edges */
    plain(order, (struct event_id){2, 2}, (struct event_id){1, 2});
    assert_int_equal(order_figures(order).contradictions, 2);
    struct event_id absent = {3, 1};
    struct arrival receive = {.at = {1, 3},
                              .relation = RELATION_RECEIVE,
                              .partners = &absent,
                              .partner_count =
                                  1}; /* 3: a receive from an event that is not a send */
    order_insert(order, &receive);
    assert_int_equal(order_figures(order).contradictions, 3);
    struct arrival end = {.at = {3, 2}, .closes = true};
    order_insert(order, &end);
    /* 4: after the end of the line */
    plain(order, (struct event_id){3, 3}, (struct event_id){0, 0});
    assert_int_equal(order_figures(order).contradictions, 4);
    /* 5: two sync pairs that cross */
    sync(order, (struct event_id){1, 4}, (struct event_id){2, 4});
    sync(order, (struct event_id){1, 5}, (struct event_id){2, 3});
    sync(order, (struct event_id){2, 3}, (struct event_id){1, 5});
    sync(order, (struct event_id){2, 4}, (struct event_id){1, 4});
    assert_int_equal(order_figures(order).contradictions, 5);
    assert_int_equal(order_figures(order).pending, 0);
    size_t count;
    const struct inconsistency *troubles = order_inconsistencies(order, &count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++)
        assert_true(*troubles[i].why != 0);
    order_free(order);
}

static void duplicates_are_dropped(void **state)
{
    (void)state;
    struct order *order = three_lines();
    plain(order, (struct event_id){1, 1}, (struct event_id){0, 0});
    plain(order, (struct event_id){1, 1}, (struct event_id){0, 0});
    assert_int_equal(order_figures(order).duplicates, 1);
    assert_int_equal(order_figures(order).events, 1);
    order_free(order);
}

static void a_gap_is_waited_for_or_declared_lost(void **state)
{
    (void)state;
    struct order *order = three_lines();
    plain(order, (struct event_id){1, 1}, (struct event_id){0, 0});
    plain(order, (struct event_id){1, 4}, (struct event_id){0, 0});
    plain(order, (struct event_id){2, 1}, (struct event_id){1, 4});
    assert_int_equal(order_figures(order).pending, 2);
    order_note_loss(order, 1, 2, 2);
    assert_int_equal(order_figures(order).pending, 0);
    assert_int_equal(order_figures(order).lost, 2);
    assert_int_equal(order_compare(order, (struct event_id){1, 1}, (struct event_id){1, 4}),
                     ORDER_BEFORE);
    plain(order, (struct event_id){3, 1}, (struct event_id){0, 0});
    assert_int_equal(order_compare(order, (struct event_id){1, 2}, (struct event_id){1, 4}),
                     ORDER_UNKNOWN);
    uint64_t first, count;
    assert_true(order_line_gap(order, 1, 0, &first, &count));
    assert_int_equal(first, 2);
    assert_int_equal(count, 2);
    order_free(order);
}

static void lost_events_forbid_an_answer(void **state)
{
    (void)state;
    struct order *order = three_lines();
    plain(order, (struct event_id){3, 1}, (struct event_id){0, 0});
    order_note_loss(order, 1, 1, 1); /* it may have received from line 3 */
    plain(order, (struct event_id){1, 2}, (struct event_id){0, 0});
    assert_int_equal(order_compare(order, (struct event_id){3, 1}, (struct event_id){1, 2}),
                     ORDER_UNKNOWN);
    order_free(order);
}

static void a_hang_up_leaves_nothing_pending(void **state)
{
    (void)state;
    struct order *order = three_lines();
    plain(order, (struct event_id){1, 3}, (struct event_id){0, 0});
    sync(order, (struct event_id){2, 1}, (struct event_id){3, 1}); /* its partner never arrives */
    plain(order, (struct event_id){2, 2}, (struct event_id){1, 2});
    uint32_t lines[] = {1, 2, 3};
    order_end_of_input(order, lines, 3);
    struct order_figures f = order_figures(order);
    assert_int_equal(f.pending, 0);
    assert_int_equal(f.lost, 2);
    assert_int_equal(f.events, 3);
    assert_int_equal(f.contradictions, 0);
    order_free(order);
}

static void many_gaps(struct order *order, uint32_t lines, uint64_t events)
{
    for (uint32_t i = 0; i < lines; i++)
        order_line(order, false, 1);
    for (uint64_t k = 1; k <= events; k++)
        for (uint32_t i = 1; i <= lines; i++) /* every third number, some with large gaps */
            plain(order, (struct event_id){i, k % 2 ? 3 * k : 100000 * k}, (struct event_id){0, 0});
}

/* A hang-up is processed in steps of few events. */
static void a_hang_up_goes_in_steps(void **state)
{
    (void)state;
    enum { LINES = 200, EVENTS = 6 };
    struct order *order = order_new();
    order_set_wait_for_missing(order);
    many_gaps(order, LINES, EVENTS);
    uint32_t gone[LINES];
    for (uint32_t i = 0; i < LINES; i++)
        gone[i] = i + 1;
    order_end_of_input(order, gone, LINES);
    assert_int_equal(order_figures(order).pending, LINES * EVENTS);
    uint64_t steps = 1, before = 0;
    for (; !order_step(order, 10); steps++) {
        assert_true(order_count(order) <= before + 10);
        before = order_count(order);
    }
    assert_true(steps >= LINES * EVENTS / 10 && steps <= LINES * (2 * EVENTS + 3) / 10 + 1);
    struct order_figures f = order_figures(order);
    assert_int_equal(f.pending, 0);
    assert_int_equal(f.events, LINES * EVENTS);
    assert_int_equal(f.lost, LINES * (100000 * EVENTS - EVENTS));
    order_free(order);
}

/* A line that another program continues is not ended. */
static void a_line_comes_back(void **state)
{
    (void)state;
    struct order *order = three_lines();
    uint32_t lines[] = {1};
    plain(order, (struct event_id){1, 1}, (struct event_id){0, 0});
    order_end_of_input(order, lines, 1);
    order_resume_input(order, 1);
    plain(order, (struct event_id){1, 3}, (struct event_id){0, 0});
    assert_int_equal(order_figures(order).lost, 0);
    plain(order, (struct event_id){1, 2}, (struct event_id){0, 0});
    assert_int_equal(order_figures(order).events, 3);
    order_free(order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_is_not_lost),
        cmocka_unit_test(what_is_lost_far_ahead_is_lost),
        cmocka_unit_test(a_line_is_closed_after_its_last_number),
        cmocka_unit_test(each_mistake_is_reported_once),
        cmocka_unit_test(duplicates_are_dropped),
        cmocka_unit_test(a_gap_is_waited_for_or_declared_lost),
        cmocka_unit_test(lost_events_forbid_an_answer),
        cmocka_unit_test(a_hang_up_leaves_nothing_pending),
        cmocka_unit_test(a_hang_up_goes_in_steps),
        cmocka_unit_test(a_line_comes_back),
    };
    return cmocka_run_group_tests_name("mistakes", tests, NULL, NULL);
}
