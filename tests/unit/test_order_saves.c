/* Orders that are saved while they change: what is saved is the order of one moment. */
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "tests/bruteforce.h"
#include "tests/unit/block_store.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct execution x;

struct kept {
    struct order *order;
    struct parts *parts;
};

static void describe(struct order *order)
{
    for (uint32_t line = 1; line <= x.lines; line++)
        order_line(order, x.shared[line], 1);
    order_after(order, 3, 2);
    order_effect(order, 1, 1, false, OCCUPANCY_ACTIVE, true);
    order_effect(order, 1, 2, false, OCCUPANCY_OUT, false);
    order_effect(order, 1, 3, false, OCCUPANCY_BLOCKED, false);
    order_effect_about(order, 1, 1, false, OCCUPANCY_AWAY);
}

static struct kept begin(struct parts *parts)
{
    struct kept kept = {order_new_on((struct block_store){parts, put_part, get_part, NULL}), parts};
    describe(kept.order);
    return kept;
}

struct text {
    uint8_t *bytes;
    size_t size;
    struct parts *parts;
    size_t left; /* number of pages of lines that remain */
};

static void add_part(void *context, uint64_t place)
{
    struct text *text = context;
    if (text->left-- == 0) { /* the other parts are not lines */
        text->left = 0;
        return;
    }
    size_t size = 0;
    uint8_t *part = get_part(text->parts, place, &size);
    assert_non_null(part);
    text->bytes = realloc(text->bytes, text->size + size + 1);
    assert_non_null(text->bytes);
    memcpy(text->bytes + text->size, part, size);
    text->size += size;
    free(part);
}

/* Saves all lines, even those that the block store has already, and returns their bytes. */
static struct text lines_of(struct kept *kept)
{
    struct text text = {.parts = kept->parts};
    size_t size;
    order_renew(kept->order, UINT64_MAX);
    order_save_begin(kept->order);
    while (!order_save_step(kept->order))
        ;
    text.left = kept->order->pages[0].count + kept->order->pages[1].count;
    order_saved_parts(kept->order, add_part, &text);
    free(order_save_end(kept->order, &size));
    return text;
}

/* Applies a random change other than an arrival; the same one for the same seed. */
static void disturb(struct order *order, unsigned *random)
{
    uint32_t line = 1 + execution_random(random, order_line_count(order));
    switch (execution_random(random, 12)) {
    case 0:
        order_close(order, line, execution_random(random, 40));
        break;
    case 1:
        order_end_of_input(order, &line, 1);
        break;
    case 2:
        order_resume_input(order, line);
        break;
    case 3:
        order_note_loss(order, line, 1 + execution_random(random, 40),
                        1 + execution_random(random, 3));
        break;
    case 4:
        order_opened_by(order, order_line(order, false, 1), (struct event_id){line, 1});
        break;
    case 5:
        order_line_becomes(order, line, 1 + execution_random(random, 2));
        break;
    case 6:
        order_discard(order, order_count(order));
        break;
    default:
        break;
    }
}

/* Feeds arrivals first .. last - 1, with random changes in between. */
static void feed(struct order *order, unsigned seed, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++) {
        unsigned random = seed * 1000 + i;
        execution_feed_part(&x, order, seed, i, i + 1);
        disturb(order, &random);
    }
}

static struct kept restored(struct kept *from, const uint8_t *bytes, size_t size, uint32_t lines)
{
    struct kept kept = begin(from->parts);
    while (order_line_count(kept.order) < lines)
        order_line(kept.order, false, 1);
    assert_true(order_restore(kept.order, bytes, size));
    return kept;
}

/* Two orders get the same input. One is saved at one moment; the other from that moment on in
 * steps, while it changes. */
static void what_comes_meanwhile_is_not_in_it(void **state)
{
    (void)state;
    unsigned spreads = 0;
    for (unsigned seed = 1; seed <= 400; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        for (uint32_t i = 0; i < x.count; i++) {
            x.arrivals[i].about = 1 + execution_random(&random, x.lines);
            x.arrivals[i].time_ns = execution_random(&random, 1000 + 100 * i);
        }
        struct parts parts = {.once = true};
        struct kept steps = begin(&parts), once = begin(&parts);
        uint32_t at = 0;
        /* in later rounds some pages are in the block store */
        for (int round = 0; round < 4; round++) {
            uint32_t until = at + execution_random(&random, x.count / 6);
            feed(steps.order, seed, at, until);
            feed(once.order, seed, at, until);
            at = until;
            uint32_t lines = order_line_count(once.order);
            size_t sizes[2];
            uint8_t *whole = order_save(once.order, &sizes[0]);
            order_save_begin(steps.order);
            until = at + execution_random(&random, x.count / 16);
            for (; at < until; at++) {
                feed(steps.order, seed, at, at + 1);
                if (execution_random(&random, 8) == 0)
                    order_save_step(steps.order);
            }
            uint8_t *slow = order_save_end(steps.order, &sizes[1]);
            struct kept a = restored(&once, whole, sizes[0], lines),
                        b = restored(&steps, slow, sizes[1], lines);
            struct text of_a = lines_of(&a), of_b = lines_of(&b);
            if (of_a.size != of_b.size || memcmp(of_a.bytes, of_b.bytes, of_a.size) != 0)
                fail_msg("seed %u, round %d: lines are not what they were", seed, round);
            struct order_figures f = order_figures(a.order), g = order_figures(b.order);
            uint64_t spread_ns = order_point_spread_ns(once.order);
            assert_int_equal(order_point_spread_ns(a.order), spread_ns);
            assert_int_equal(order_point_spread_ns(b.order), spread_ns);
            spreads += spread_ns > 0;
            assert_memory_equal(&f, &g, sizeof f);
            free(of_a.bytes);
            free(of_b.bytes);
            free(whole);
            free(slow);
            order_free(a.order);
            order_free(b.order);
            order_free(once.order); /* the other order continues; a new twin catches up with it */
            once = begin(&parts);
            feed(once.order, seed, 0, at);
        }
        order_free(steps.order);
        order_free(once.order);
        parts_free(&parts);
    }
    assert_true(spreads > 100);
}

/* An order that is saved in steps at random moments, restored and continued answers as if it had
 * never been saved. */
static void it_goes_on_from_there(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct parts parts = {0};
        struct kept kept = begin(&parts);
        uint32_t at = 0;
        while (at < x.count) {
            uint32_t first = at;
            order_save_begin(kept.order);
            uint32_t until = at + 1 + execution_random(&random, x.count - at);
            for (; at < until; at++) {
                execution_feed_part(&x, kept.order, seed, at, at + 1);
                if (execution_random(&random, 8) == 0)
                    order_save_step(kept.order);
            }
            if (execution_random(&random, 3) == 0) {
                order_save_drop(kept.order);
                continue;
            }
            size_t size;
            uint8_t *bytes = order_save_end(kept.order, &size);
            if (execution_random(&random, 2) == 0) {
                struct kept again = restored(&kept, bytes, size, x.lines);
                order_free(kept.order);
                kept = again;
                /* pending events are sent again */
                execution_feed_part(&x, kept.order, seed, 0, first);
                at = first;
                if (execution_random(&random, 2) == 0) /* or all of them */
                    execution_feed_part(&x, kept.order, seed, at, x.count), at = x.count;
            }
            free(bytes);
        }
        assert_int_equal(order_figures(kept.order).events, x.count);
        assert_int_equal(
            order_figures(kept.order).pending + order_figures(kept.order).contradictions, 0);
        for (int n = 0; n < 200; n++) {
            uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
            assert_int_equal(order_compare(kept.order, x.arrivals[a].at, x.arrivals[b].at),
                             execution_compare(&x, a, b));
        }
        order_free(kept.order);
        parts_free(&parts);
    }
}

static void expect_same_answers(const struct order *a, const struct order *b, unsigned *random)
{
    assert_int_equal(order_first(a), order_first(b));
    for (uint32_t line = 1; line <= order_line_count(a); line++) {
        assert_int_equal(order_line_first(a, line), order_line_first(b, line));
        assert_int_equal(order_line_from(a, line, 0), order_line_from(b, line, 0));
        assert_int_equal(order_line_events(a, line), order_line_events(b, line));
        assert_int_equal(order_thread_last(a, line), order_thread_last(b, line));
        for (uint64_t number = 1; number <= order_line_events(a, line) + 1; number++) {
            struct event_id at = {line, number};
            assert_int_equal(order_is_discarded(a, at), order_is_discarded(b, at));
            assert_int_equal(order_position(a, at), order_position(b, at));
        }
    }
    for (int n = 0; n < 20; n++) {
        struct event_id one = x.arrivals[execution_random(random, x.count)].at,
                        two = x.arrivals[execution_random(random, x.count)].at;
        assert_int_equal(order_compare(a, one, two), order_compare(b, one, two));
    }
    assert_int_equal(order_count(a), order_count(b));
    for (uint64_t p = order_first(a); p < order_count(a); p++) {
        struct order_event e = order_event(a, p), f = order_event(b, p);
        assert_int_equal(e.edge_count, f.edge_count);
        assert_int_equal(e.partner_lost, f.partner_lost);
        assert_int_equal(e.doubt, f.doubt);
        for (uint32_t i = 0; i < e.edge_count; i++)
            assert_int_equal(order_edge(a, p, i), order_edge(b, p, i));
    }
}

/* Two orders get the same input and discard the same events, one of them in steps: all answers are
 * the same. */
static void forgetting_in_steps_is_forgetting(void **state)
{
    (void)state;
    size_t compared = 0;
    for (unsigned seed = 1; seed <= 400; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct parts parts = {0};
        struct kept steps = begin(&parts), once = begin(&parts);
        for (uint32_t at = 0; at < x.count;) {
            uint32_t until = at + 1 + execution_random(&random, x.count - at);
            execution_feed_part(&x, steps.order, seed, at, until);
            execution_feed_part(&x, once.order, seed, at, until);
            at = until;
            uint64_t position = order_count(once.order) - order_count(once.order) / 8;
            order_discard(once.order, position);
            order_discard_begin(steps.order, position);
            for (bool all = false; !all;) {
                expect_same_answers(once.order, steps.order, &random);
                compared += steps.order->discarding.under_way;
                until = at + execution_random(&random, x.count - at < 9 ? x.count - at + 1 : 9);
                execution_feed_part(&x, steps.order, seed, at, until);
                execution_feed_part(&x, once.order, seed, at, until);
                at = until;
                if (at == x.count || execution_random(&random, 2) == 0)
                    all = order_discard_step(steps.order);
            }
            expect_same_answers(once.order, steps.order, &random);
        }
        order_free(steps.order);
        order_free(once.order);
        parts_free(&parts);
    }
    assert_true(compared > 100);
}

/* If few of many lines have changed, a save writes only those. */
static void a_save_costs_what_changed(void **state)
{
    (void)state;
    enum { LINES = 3000 };
    struct order *order = order_new();
    for (uint32_t line = 1; line <= LINES; line++)
        order_line(order, false, 1);
    for (uint64_t number = 1; number <= 3; number++)
        for (uint32_t line = 1; line <= LINES; line++)
            order_insert(order, &(struct arrival){.at = {line, number}, .type = 1});
    size_t size;
    free(order_save(order, &size));
    uint64_t first = order_saved_bytes(order);
    free(order_save(order, &size));
    assert_int_equal(order_saved_bytes(order), 0);
    for (uint32_t line = 1; line <= LINES; line += LINES / 10)
        order_insert(order, &(struct arrival){.at = {line, 4}, .type = 1});
    free(order_save(order, &size));
    assert_in_range(order_saved_bytes(order), 1, first / 50);
    order_free(order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_meanwhile_is_not_in_it),
        cmocka_unit_test(it_goes_on_from_there),
        cmocka_unit_test(forgetting_in_steps_is_forgetting),
        cmocka_unit_test(a_save_costs_what_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
