/* Orders that are saved and restored, and orders with a discarded oldest part. */
#include "server/order/log/log_block.h"
#include "server/order/order.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#ifndef PAGE_LINES
#define PAGE_LINES 256u
#endif

static struct execution x;

static void a_saved_order_goes_on_as_if_it_had_not_stopped(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct block_store shelf = block_store_in_memory(), shared = shelf;
        shared.free = NULL;
        struct order *order = order_new_on(shared);
        for (uint32_t line = 1; line <= x.lines; line++)
            order_line(order, x.shared[line], 1);
        order_after(order, 3, 2);
        execution_feed_part(&x, order, seed, 0, x.count / 2);
        size_t size;
        uint8_t *bytes = order_save(order, &size);
        order_free(order);
        order = order_new_on(shared);
        for (uint32_t line = 1; line <= x.lines; line++)
            order_line(order, x.shared[line], 1);
        order_after(order, 3, 2);
        assert_true(order_restore(order, bytes, size));
        free(bytes);
        execution_feed_part(&x, order, seed, 0, x.count); /* known events are dropped */
        assert_int_equal(order_figures(order).events, x.count);
        assert_int_equal(order_figures(order).pending + order_figures(order).contradictions, 0);
        for (int n = 0; n < 100; n++) {
            uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
            assert_int_equal(order_compare(order, x.arrivals[a].at, x.arrivals[b].at),
                             execution_compare(&x, a, b));
        }
        order_free(order);
        shelf.free(shelf.context);
    }
}

static void a_saved_order_that_is_damaged_is_refused(void **state)
{
    (void)state;
    execution_make(&x, 5);
    struct order *order = execution_order(&x);
    execution_feed(&x, order, 5);
    size_t size;
    uint8_t *bytes = order_save(order, &size);
    for (size_t cut = 0; cut < size; cut++) {
        struct order *other = execution_order(&x);
        assert_false(order_restore(other, bytes, cut));
        order_free(other);
    }
    for (size_t i = 0; i < size; i++) { /* there is no checksum here: it must only not crash */
        struct order *other = execution_order(&x);
        bytes[i] ^= 0x55;
        if (order_restore(other, bytes, size))
            order_compare(other, x.arrivals[0].at, x.arrivals[x.count - 1].at);
        bytes[i] ^= 0x55;
        order_free(other);
    }
    free(bytes);
    order_free(order);
}

/* Discarded events may have been uncertain: then no relation is claimed that depends on them. */
static void doubts_outlive_saving_and_forgetting(void **state)
{
    (void)state;
    static struct execution whole;
    unsigned known = 0;
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        whole = x;
        execution_hide(&x, seed);
        struct block_store shelf = block_store_in_memory(), shared = shelf;
        shared.free = NULL;
        struct order *order = order_new_on(shared);
        for (uint32_t line = 1; line <= x.lines; line++)
            order_line(order, x.shared[line], 1);
        order_after(order, 3, 2);
        execution_feed(&x, order, seed);
        order_compare(order, x.arrivals[0].at, x.arrivals[x.count - 1].at);
        if (seed % 4)
            order_discard(order, order_count(order) / 2);
        size_t size;
        uint8_t *bytes = order_save(order, &size);
        struct order *again = order_new_on(shared);
        for (uint32_t line = 1; line <= x.lines; line++)
            order_line(again, x.shared[line], 1);
        assert_true(order_restore(again, bytes, size));
        free(bytes);
        for (int n = 0; n < 200; n++) {
            uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
            enum causal_relation got = order_compare(order, x.arrivals[a].at, x.arrivals[b].at);
            assert_int_equal(order_compare(again, x.arrivals[a].at, x.arrivals[b].at), got);
            if (got != ORDER_UNKNOWN)
                assert_int_equal(got, execution_compare(&whole, a, b));
            known += got != ORDER_UNKNOWN;
        }
        assert_int_equal(order_figures(again).doubtful, order_figures(order).doubtful);
        order_free(order);
        order_free(again);
        shelf.free(shelf.context);
    }
    assert_true(known > 1000);
}

/* Returns an order in which a thread visits many objects once each. */
static struct order *many_lines_on(struct block_store shelf, uint32_t lines, bool events)
{
    struct order *order = order_new_on(shelf);
    order_line(order, false, 1);
    for (uint32_t i = 0; i < lines; i++)
        order_line(order, true, 2);
    for (uint64_t i = 0; events && i < 2 * (uint64_t)lines; i++) {
        struct event_id own = {1, i + 1}, object = {2 + (uint32_t)(i / 2), 1 + i % 2};
        struct arrival thread = {
            .at = own, .relation = RELATION_SYNC, .partners = &object, .partner_count = 1};
        struct arrival visit = {
            .at = object, .relation = RELATION_SYNC, .partners = &own, .partner_count = 1};
        order_insert(order, &thread);
        order_insert(order, &visit);
    }
    return order;
}

static void forgotten_lines_take_next_to_nothing(void **state)
{
    (void)state;
    enum { FEW = 200, MANY = 20000 };
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        uint32_t lines = i ? MANY : FEW;
        struct block_store shelf = block_store_in_memory();
        struct block_store theirs = shelf;
        theirs.free = NULL;
        struct order *order = many_lines_on(theirs, lines, true);
        assert_int_equal(order_figures(order).pending, 0);
        order_discard(order, order_count(order) - 64);
        uint8_t *bytes = order_save(order, &sizes[i]);
        struct order *again = many_lines_on(theirs, lines, false);
        assert_true(order_restore(again, bytes, sizes[i]));
        free(bytes);
        for (uint32_t line = 1; line <= lines + 1; line++) {
            assert_int_equal(order_line_events(again, line), order_line_events(order, line));
            assert_int_equal(order_line_first(again, line), order_line_first(order, line));
            assert_int_equal(order_line_highest(again, line), order_line_highest(order, line));
            struct event_id first = {line, 1}, last = {1, 2 * (uint64_t)lines};
            assert_int_equal(order_is_discarded(again, first), order_is_discarded(order, first));
            assert_int_equal(order_compare(again, first, last), order_compare(order, first, last));
        }
        /* an idle line continues */
        for (int k = 0; k < 2; k++) {
            struct order *o = k ? again : order;
            order_insert(o, &(struct arrival){.at = {2, 3}, .after = {{1, 2 * (uint64_t)lines}}});
            assert_int_equal(order_compare(o, (struct event_id){2, 3},
                                           (struct event_id){1, 2 * (uint64_t)lines}),
                             ORDER_AFTER);
            assert_int_equal(order_compare(o, (struct event_id){2, 1}, (struct event_id){2, 3}),
                             ORDER_UNKNOWN);
            order_free(o);
        }
        shelf.free(shelf.context);
    }
    /* in addition to the lines there are the lists of blocks and of pages of lines */
    assert_true(sizes[1] < sizes[0] + 3 * 4 * (size_t)MANY / BLOCK_EVENTS +
                               3 * (size_t)MANY / PAGE_LINES + 1024);
}

/* Ended lines with discarded events take nearly no memory, and queries about them are
 * answered as before. */
static void lines_that_are_over_are_put_away(void **state)
{
    (void)state;
    enum { LINES = 2000 };
    struct block_store shelf = block_store_in_memory(), theirs = shelf;
    theirs.free = NULL;
    struct order *order = many_lines_on(theirs, LINES, true);
    for (uint32_t line = 2; line <= LINES / 2; line++)
        order_close(order, line, 2);
    order_discard(order, order_count(order) - 64);
    uint32_t away = 0;
    for (uint32_t line = 1; line <= LINES + 1; line++) {
        away += order_line_is_evicted(order, line);
        assert_false(line > LINES / 2 && order_line_is_evicted(order, line));
        assert_int_equal(order_line_closed(order, line), line >= 2 && line <= LINES / 2);
        assert_int_equal(order_line_kind(order, line), line == 1 ? 1 : 2);
        assert_int_equal(order_line_shared(order, line), line > 1);
        assert_int_equal(order_line_events(order, line), line == 1 ? 2 * LINES : 2);
        assert_int_equal(order_line_highest(order, line), line == 1 ? 2 * LINES : 2);
    }
    assert_true(away > LINES / 2 - 300); /* evicted in whole pages */
    size_t size;
    uint8_t *bytes = order_save(order, &size);
    struct order *again = many_lines_on(theirs, LINES, false);
    assert_true(order_restore(again, bytes, size));
    free(bytes);
    assert_true(order_line_is_evicted(order, 200) && order_line_is_evicted(again, 200));
    /* nothing may follow on an evicted line, except that it is loaded again */
    for (int k = 0; k < 2; k++) {
        struct order *o = k ? again : order;
        uint64_t before = order_figures(o).contradictions;
        order_insert(o, &(struct arrival){.at = {200, 3}, .type = 1});
        assert_false(order_line_is_evicted(o, 200));
        assert_int_equal(order_line_events(o, 200) + order_figures(o).contradictions,
                         before + 3 + (order_line_events(o, 200) > 2));
        assert_int_equal(order_line_events(o, 201), 2);
        order_free(o);
    }
    shelf.free(shelf.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_order_goes_on_as_if_it_had_not_stopped),
        cmocka_unit_test(a_saved_order_that_is_damaged_is_refused),
        cmocka_unit_test(doubts_outlive_saving_and_forgetting),
        cmocka_unit_test(forgotten_lines_take_next_to_nothing),
        cmocka_unit_test(lines_that_are_over_are_put_away),
    };
    return cmocka_run_group_tests_name("forgetting", tests, NULL, NULL);
}
