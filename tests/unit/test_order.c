/* The order against brute force, and what a client may get wrong. */
#include "server/order/place.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct execution x;

static void every_pair_is_answered_as_by_brute_force(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 1500; seed++) {
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed % 4 ? seed : 0);
        struct order_figures f = order_figures(order);
        assert_int_equal(f.contradictions, 0);
        assert_int_equal(f.pending, 0);
        assert_int_equal(f.events, x.count);
        unsigned random = seed;
        for (int n = 0; n < 200; n++) {
            uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
            enum precedence want = execution_compare(&x, a, b);
            enum precedence got = order_compare(order, x.arrivals[a].at, x.arrivals[b].at);
            if (got != want)
                fail_msg("seed %u: %u:%llu and %u:%llu: %d, not %d", seed, x.arrivals[a].at.line,
                         (unsigned long long)x.arrivals[a].at.number, x.arrivals[b].at.line,
                         (unsigned long long)x.arrivals[b].at.number, got, want);
        }
        order_free(order);
    }
}

static void the_log_is_a_linear_extension(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed + 77);
        for (uint32_t a = 0; a < x.count; a++)
            for (uint32_t b = 0; b < x.count; b++)
                if (x.before[x.point[a]][x.point[b]])
                    assert_true(order_position(order, x.arrivals[a].at) <
                                order_position(order, x.arrivals[b].at));
        order_free(order);
    }
}

/* ---- placing ---- */

static uint8_t shown[EXECUTION_LINES + 1];

static struct placement window_at(struct order *order, uint64_t anchor, int32_t from,
                                  uint32_t columns)
{
    struct placing placing = {.anchor = anchor, .from = from, .columns = columns, .shown = shown};
    struct placement placement;
    assert_true(place(order, &placing, &placement));
    return placement;
}

static int32_t column_of(const struct placement *p, uint64_t position, bool *found)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->events[i].position == position) {
            *found = true;
            return p->events[i].column;
        }
    *found = false;
    return 0;
}

static void causes_stand_left_and_pairs_share_a_column(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        for (uint32_t i = 0; i < x.lines; i++)
            shown[i] = seed % 3 == 0 || execution_random(&random, 3) > 0;
        uint64_t anchor = execution_random(&random, (uint32_t)order_count(order));
        anchor = order_event(order, anchor)->point;
        struct placement p = window_at(order, anchor, -1000, 2000);
        for (uint32_t a = 0; a < x.count; a++) {
            bool is_a, is_b;
            int32_t ca = column_of(&p, order_position(order, x.arrivals[a].at), &is_a);
            assert_int_equal(is_a, shown[x.arrivals[a].at.line - 1]);
            for (uint32_t b = 0; is_a && b < x.count; b++) {
                int32_t cb = column_of(&p, order_position(order, x.arrivals[b].at), &is_b);
                if (is_b && x.point[a] == x.point[b])
                    assert_int_equal(ca, cb);
                if (is_b && x.before[x.point[a]][x.point[b]])
                    assert_true(ca < cb);
            }
        }
        placement_free(&p);
        order_free(order);
    }
}

/* Hidden lines take no room: every column between the first and the last holds a mark, and a
 * mark stands in the next column after one that it follows. */
static void nothing_is_blank_that_the_order_does_not_force(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        for (uint32_t i = 0; i < x.lines; i++)
            shown[i] = execution_random(&random, 2) > 0;
        struct placement p = window_at(order, 0, 0, 2000);
        bool used[2000] = {false};
        for (size_t i = 0; i < p.count; i++)
            used[p.events[i].column] = true;
        for (int32_t c = 0; p.count && c <= p.last; c++)
            assert_true(used[c]);
        placement_free(&p);
        p = window_at(order, order_count(order), -2000, 2000);
        memset(used, 0, sizeof used);
        for (size_t i = 0; i < p.count; i++)
            used[-p.events[i].column - 1] = true;
        for (int32_t c = 0; p.count && c <= -p.first - 1; c++)
            assert_true(used[c]);
        placement_free(&p);
        order_free(order);
    }
}

static void scrolling_by_columns_is_rigid(void **state)
{
    (void)state;
    memset(shown, 1, sizeof shown);
    for (unsigned seed = 1; seed <= 200; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        uint64_t anchor = execution_random(&random, (uint32_t)order_count(order) + 1);
        anchor = anchor < order_count(order) ? order_event(order, anchor)->point : anchor;
        struct placement all = window_at(order, anchor, -1000, 2000);
        for (int n = 0; n < 10; n++) {
            int32_t from = (int32_t)execution_random(&random, 60) - 30;
            struct placement some = window_at(order, anchor, from, 12);
            size_t k = 0;
            for (size_t i = 0; i < all.count; i++) {
                if (all.events[i].column < from || all.events[i].column >= from + 12)
                    continue;
                assert_true(k < some.count);
                assert_int_equal(some.events[k].position, all.events[i].position);
                assert_int_equal(some.events[k].column, all.events[i].column);
                k++;
            }
            assert_int_equal(k, some.count);
            placement_free(&some);
        }
        placement_free(&all);
        order_free(order);
    }
}

static void folding_hides_no_order(void **state)
{
    (void)state;
    struct order *order = order_new(); /* one thread visits one object ten times */
    uint32_t thread = order_line(order, false, 1), object = order_line(order, false, 2);
    for (uint64_t i = 0; i < 10; i++) {
        struct ref t[2] = {{thread, 2 * i + 1}, {thread, 2 * i + 2}};
        struct ref o[2] = {{object, 2 * i + 1}, {object, 2 * i + 2}};
        for (int k = 0; k < 2; k++) {
            struct arrival a = {.at = t[k], .thread = thread, .type = 1, .relation = RELATION_SYNC,
                                .partners = &o[k], .partner_count = 1};
            struct arrival b = {.at = o[k], .thread = thread, .type = 2, .relation = RELATION_SYNC,
                                .partners = &t[k], .partner_count = 1};
            order_accept(order, &a);
            order_accept(order, &b);
        }
    }
    memset(shown, 1, sizeof shown);
    struct placing placing = {.columns = 100, .shown = shown, .fold = true};
    struct placement p;
    assert_true(place(order, &placing, &p));
    assert_int_equal(p.count, 2);
    assert_int_equal(p.events[0].fold, 10);
    assert_int_equal(p.events[0].column, p.events[1].column);
    placement_free(&p);
    order_free(order);
}

/* ---- what may go wrong ---- */

static void sync(struct order *order, struct ref at, struct ref with)
{
    struct arrival a = {.at = at, .relation = RELATION_SYNC, .partners = &with, .partner_count = 1};
    order_accept(order, &a);
}

static void plain(struct order *order, struct ref at, struct ref after)
{
    struct arrival a = {.at = at, .after = {after, {0, 0}}};
    order_accept(order, &a);
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
    sync(order, (struct ref){1, 1}, (struct ref){2, 1});
    sync(order, (struct ref){2, 1}, (struct ref){1, 1});
    sync(order, (struct ref){3, 1}, (struct ref){1, 1}); /* 1: claimed twice */
    assert_int_equal(order_figures(order).contradictions, 1);
    plain(order, (struct ref){1, 2}, (struct ref){2, 2}); /* 2: a cycle of two edges */
    plain(order, (struct ref){2, 2}, (struct ref){1, 2});
    assert_int_equal(order_figures(order).contradictions, 2);
    struct ref nobody = {3, 1};
    struct arrival receive = {.at = {1, 3}, .relation = RELATION_RECEIVE, .partners = &nobody,
                              .partner_count = 1}; /* 3: receives from what sends nothing */
    order_accept(order, &receive);
    assert_int_equal(order_figures(order).contradictions, 3);
    struct arrival end = {.at = {3, 2}, .closes = true};
    order_accept(order, &end);
    plain(order, (struct ref){3, 3}, (struct ref){0, 0}); /* 4: after the end */
    assert_int_equal(order_figures(order).contradictions, 4);
    sync(order, (struct ref){1, 4}, (struct ref){2, 4}); /* 5: two pairs that cross */
    sync(order, (struct ref){1, 5}, (struct ref){2, 3});
    sync(order, (struct ref){2, 3}, (struct ref){1, 5});
    sync(order, (struct ref){2, 4}, (struct ref){1, 4});
    assert_int_equal(order_figures(order).contradictions, 5);
    assert_int_equal(order_figures(order).pending, 0);
    size_t count;
    const struct trouble *troubles = order_troubles(order, &count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++)
        assert_true(*troubles[i].why != 0);
    order_free(order);
}

static void duplicates_are_dropped(void **state)
{
    (void)state;
    struct order *order = three_lines();
    plain(order, (struct ref){1, 1}, (struct ref){0, 0});
    plain(order, (struct ref){1, 1}, (struct ref){0, 0});
    assert_int_equal(order_figures(order).duplicates, 1);
    assert_int_equal(order_figures(order).events, 1);
    order_free(order);
}

static void a_gap_is_waited_for_or_declared_lost(void **state)
{
    (void)state;
    struct order *order = three_lines();
    plain(order, (struct ref){1, 1}, (struct ref){0, 0});
    plain(order, (struct ref){1, 4}, (struct ref){0, 0});
    plain(order, (struct ref){2, 1}, (struct ref){1, 4});
    assert_int_equal(order_figures(order).pending, 2);
    order_lost(order, 1, 2, 2);
    assert_int_equal(order_figures(order).pending, 0);
    assert_int_equal(order_figures(order).lost, 2);
    assert_int_equal(order_compare(order, (struct ref){1, 1}, (struct ref){1, 4}), ORDER_BEFORE);
    plain(order, (struct ref){3, 1}, (struct ref){0, 0});
    assert_int_equal(order_compare(order, (struct ref){1, 2}, (struct ref){1, 4}), ORDER_UNKNOWN);
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
    plain(order, (struct ref){3, 1}, (struct ref){0, 0});
    order_lost(order, 1, 1, 1); /* perhaps it received from line 3 */
    plain(order, (struct ref){1, 2}, (struct ref){0, 0});
    assert_int_equal(order_compare(order, (struct ref){3, 1}, (struct ref){1, 2}), ORDER_UNKNOWN);
    order_free(order);
}

static void a_hang_up_leaves_nothing_pending(void **state)
{
    (void)state;
    struct order *order = three_lines();
    plain(order, (struct ref){1, 3}, (struct ref){0, 0});
    sync(order, (struct ref){2, 1}, (struct ref){3, 1}); /* its partner never comes */
    plain(order, (struct ref){2, 2}, (struct ref){1, 2});
    uint32_t lines[] = {1, 2, 3};
    order_gone(order, lines, 3);
    struct order_figures f = order_figures(order);
    assert_int_equal(f.pending, 0);
    assert_int_equal(f.lost, 2);
    assert_int_equal(f.events, 3);
    assert_int_equal(f.contradictions, 0);
    order_free(order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_answered_as_by_brute_force),
        cmocka_unit_test(the_log_is_a_linear_extension),
        cmocka_unit_test(causes_stand_left_and_pairs_share_a_column),
        cmocka_unit_test(nothing_is_blank_that_the_order_does_not_force),
        cmocka_unit_test(scrolling_by_columns_is_rigid),
        cmocka_unit_test(folding_hides_no_order),
        cmocka_unit_test(each_mistake_is_reported_once),
        cmocka_unit_test(duplicates_are_dropped),
        cmocka_unit_test(a_gap_is_waited_for_or_declared_lost),
        cmocka_unit_test(lost_events_forbid_an_answer),
        cmocka_unit_test(a_hang_up_leaves_nothing_pending),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
