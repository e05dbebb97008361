/* The order against brute force, and what a client may get wrong. */
#include "server/order/order.h"
#include "server/order/log/block.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#ifndef PAGE_LINES
#define PAGE_LINES 256u
#endif

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

static void expect(const struct order *order, uint32_t a, uint32_t b, enum precedence want, unsigned seed)
{
    enum precedence got = order_compare(order, x.arrivals[a].at, x.arrivals[b].at);
    if (got != want)
        fail_msg("seed %u: %u:%llu and %u:%llu: %d, not %d", seed, x.arrivals[a].at.line,
                 (unsigned long long)x.arrivals[a].at.number, x.arrivals[b].at.line,
                 (unsigned long long)x.arrivals[b].at.number, got, want);
}

/* Edges are hidden and their ends doubtful: what is answered is so in the execution that was, and is unknown just
 * where a doubtful event makes it so. */
static void what_may_be_hidden_is_unknown(void **state)
{
    (void)state;
    static struct execution whole;
    unsigned unknown = 0, concurrent = 0;
    for (unsigned seed = 1; seed <= 600; seed++) {
        execution_make(&x, seed);
        whole = x;
        execution_hide(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed % 4 ? seed : 0);
        assert_int_equal(order_figures(order).pending + order_figures(order).contradictions, 0);
        unsigned random = seed;
        for (int n = 0; n < 200; n++) {
            uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
            enum precedence known = execution_compare(&x, a, b), truth = execution_compare(&whole, a, b);
            bool may_be = known == ORDER_CONCURRENT && execution_doubts_differ(&x, a, b);
            expect(order, a, b, may_be ? ORDER_UNKNOWN : known, seed);
            assert_true(may_be || known == truth);
            unknown += may_be;
            concurrent += !may_be && known == ORDER_CONCURRENT;
        }
        order_free(order);
    }
    assert_true(unknown > 5000 && concurrent > 5000);
}

/* Events are lost: no answer is wrong, and at the end nothing is pending. */
static void losses_make_no_answer_wrong(void **state)
{
    (void)state;
    unsigned unknown = 0, known = 0;
    for (unsigned seed = 1; seed <= 1500; seed++) {
        uint32_t lines[EXECUTION_LINES];
        execution_make(&x, seed);
        execution_lose(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed % 4 ? seed : 0);
        for (uint32_t i = 0; i < x.lines; i++)
            lines[i] = i + 1;
        order_gone(order, lines, x.lines);
        order_finish(order);
        assert_int_equal(order_figures(order).pending, 0);
        assert_int_equal(order_figures(order).contradictions, 0);
        unsigned random = seed;
        for (int n = 0; n < 200; n++) {
            uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
            enum precedence got = order_compare(order, x.arrivals[a].at, x.arrivals[b].at);
            if (x.lost[a] || x.lost[b])
                assert_true(got == ORDER_UNKNOWN || a == b);
            else if (got != ORDER_UNKNOWN)
                expect(order, a, b, execution_compare(&x, a, b), seed);
            unknown += got == ORDER_UNKNOWN;
            known += got != ORDER_UNKNOWN;
        }
        order_free(order);
    }
    assert_true(unknown > 10000 && known > 10000);
}

/* A program says that numbers are lost of which one comes all the same. */
static void what_came_is_not_lost(void **state)
{
    (void)state;
    for (unsigned after = 0; after < 2; after++) { /* before it is told, and after */
        struct order *order = order_new();
        uint32_t line = order_line(order, false, 1);
        struct arrival first = {.at = {line, 1}, .type = 1}, came = {.at = {line, 5}, .type = 1},
                       next = {.at = {line, 9}, .type = 1};
        if (after)
            order_accept(order, &came);
        order_lost(order, line, 3, 6);
        if (!after)
            order_accept(order, &came);
        order_accept(order, &next);
        order_accept(order, &first);
        order_lost(order, line, 2, 1);
        assert_int_equal(order_figures(order).events, 3);
        assert_int_equal(order_figures(order).lost, 6);
        assert_int_equal(order_figures(order).pending, 0);
        assert_true(order_compare(order, first.at, came.at) == ORDER_BEFORE);
        assert_true(order_compare(order, came.at, next.at) == ORDER_BEFORE);
        order_free(order);
    }
}

/* What is lost is said when its line is far behind: all of it is, and the line goes on. */
static void what_is_lost_far_ahead_is_lost(void **state)
{
    (void)state;
    for (int live = 0; live < 2; live++) {
        struct order *order = order_new();
        if (live)
            order_patient(order);
        uint32_t line = order_line(order, false, 0);
        order_accept(order, &(struct arrival){.at = {line, 100101}, .type = 1, .thread = line});
        order_lost(order, line, 100001, 100);
        order_lost(order, line, 1, 100000);
        while (!order_go_on(order, 100))
            ;
        assert_int_equal(order_figures(order).lost, 100100);
        assert_int_equal(order_figures(order).pending, 0);
        assert_int_equal(order_count(order), 1);
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

/* ---- how far an event reaches, and why ---- */

static void past_and_future_reach_as_far_as_they_do(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        uint32_t e = execution_random(&random, x.count);
        uint64_t position = order_position(order, x.arrivals[e].at);
        struct reach *past = reach_new(order, position, false, 0);
        struct reach *future = reach_new(order, position, true, UINT64_MAX);
        while (!reach_step(past, 9))
            ;
        while (!reach_step(future, 9))
            ;
        for (uint32_t a = 0; a < x.count; a++) {
            enum precedence p = execution_compare(&x, a, e);
            uint64_t at = order_position(order, x.arrivals[a].at);
            assert_int_equal(reach_has(past, at), p == ORDER_BEFORE || p == ORDER_SAME);
            assert_int_equal(reach_has(future, at), p == ORDER_AFTER || p == ORDER_SAME);
        }
        reach_free(past);
        reach_free(future);
        order_free(order);
    }
}

static uint32_t index_of(struct ref at)
{
    uint32_t i = 0;
    while (i < x.count && !ref_equal(x.arrivals[i].at, at))
        i++;
    return i;
}

static void a_witness_is_a_chain(void **state)
{
    (void)state;
    unsigned found = 0;
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        for (int n = 0; n < 20; n++) {
            uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
            struct ref *chain;
            size_t count = order_chain(order, x.arrivals[a].at, x.arrivals[b].at, &chain);
            assert_int_equal(count > 0, execution_compare(&x, a, b) == ORDER_BEFORE);
            found += count > 0;
            for (size_t i = 0; i + 1 < count; i++) {
                if ((chain[i].line | chain[i + 1].line) & HIDDEN_LINE)
                    continue;
                uint32_t from = index_of(chain[i]), to = index_of(chain[i + 1]);
                assert_true(x.point[from] == x.point[to] || x.before[x.point[from]][x.point[to]]);
            }
            if (count) {
                assert_true(ref_equal(chain[0], x.arrivals[a].at));
                assert_true(ref_equal(chain[count - 1], x.arrivals[b].at));
            }
            free(chain);
        }
        order_free(order);
    }
    assert_true(found > 500);
}

/* ---- saving ---- */

static void a_saved_order_goes_on_as_if_it_had_not_stopped(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct shelf shelf = shelf_memory(), shared = shelf;
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
        execution_feed_part(&x, order, seed, 0, x.count); /* what is known is dropped */
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

/* What is still under way on other ways may come after the word that a line is closed. */
static void a_line_is_closed_after_its_last_number(void **state)
{
    (void)state;
    struct order *order = order_new();
    uint32_t line = order_line(order, false, 1), empty = order_line(order, false, 1);
    order_accept(order, &(struct arrival){.at = {line, 1}, .type = 1});
    order_close(order, line, 2);
    order_close(order, empty, 0);
    assert_false(order_line_closed(order, line));
    assert_true(order_line_closed(order, empty));
    order_accept(order, &(struct arrival){.at = {line, 2}, .type = 1});
    assert_true(order_line_closed(order, line));
    assert_int_equal(order_figures(order).contradictions, 0);
    order_accept(order, &(struct arrival){.at = {line, 3}, .type = 1});
    assert_int_equal(order_figures(order).contradictions, 1);
    order_free(order);
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
    for (size_t i = 0; i < size; i++) { /* here without a checksum: no crash is all one can ask */
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

/* What is forgotten may have been doubtful: then nothing is claimed that only it could tell. */
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
        struct shelf shelf = shelf_memory(), shared = shelf;
        shared.free = NULL;
        struct order *order = order_new_on(shared);
        for (uint32_t line = 1; line <= x.lines; line++)
            order_line(order, x.shared[line], 1);
        order_after(order, 3, 2);
        execution_feed(&x, order, seed);
        order_compare(order, x.arrivals[0].at, x.arrivals[x.count - 1].at);
        if (seed % 4)
            order_forget(order, order_count(order) / 2);
        size_t size;
        uint8_t *bytes = order_save(order, &size);
        struct order *again = order_new_on(shared);
        for (uint32_t line = 1; line <= x.lines; line++)
            order_line(again, x.shared[line], 1);
        assert_true(order_restore(again, bytes, size));
        free(bytes);
        for (int n = 0; n < 200; n++) {
            uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
            enum precedence got = order_compare(order, x.arrivals[a].at, x.arrivals[b].at);
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

static void many_gaps(struct order *order, uint32_t lines, uint64_t events)
{
    for (uint32_t i = 0; i < lines; i++)
        order_line(order, false, 1);
    for (uint64_t k = 1; k <= events; k++)
        for (uint32_t i = 1; i <= lines; i++) /* every third number, some of them far ahead */
            plain(order, (struct ref){i, k % 2 ? 3 * k : 100000 * k}, (struct ref){0, 0});
}

/* A hang-up is worked off in steps, each of which looks at few events. */
static void a_hang_up_goes_in_steps(void **state)
{
    (void)state;
    enum { LINES = 200, EVENTS = 6 };
    struct order *order = order_new();
    order_patient(order);
    many_gaps(order, LINES, EVENTS);
    uint32_t gone[LINES];
    for (uint32_t i = 0; i < LINES; i++)
        gone[i] = i + 1;
    order_gone(order, gone, LINES);
    assert_int_equal(order_figures(order).pending, LINES * EVENTS);
    uint64_t steps = 1, before = 0;
    for (; !order_go_on(order, 10); steps++) {
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

/* A line of which somebody else says more is not gone any more. */
static void a_line_comes_back(void **state)
{
    (void)state;
    struct order *order = three_lines();
    uint32_t lines[] = {1};
    plain(order, (struct ref){1, 1}, (struct ref){0, 0});
    order_gone(order, lines, 1);
    order_back(order, 1);
    plain(order, (struct ref){1, 3}, (struct ref){0, 0});
    assert_int_equal(order_figures(order).lost, 0);
    plain(order, (struct ref){1, 2}, (struct ref){0, 0});
    assert_int_equal(order_figures(order).events, 3);
    order_free(order);
}

/* ---- keys and streams ---- */

#define WRITERS 12
#define READERS 12

/* Each send and each receive has a line of its own, so nothing else orders them. */
struct cut {
    uint64_t begin[WRITERS + 1], end[READERS + 1];
};

static void cut_at_random(uint64_t *cuts, unsigned n, uint64_t bytes, unsigned *random)
{
    cuts[0] = 0;
    for (unsigned i = 1; i < n; i++)
        cuts[i] = cuts[i - 1] + 1 + execution_random(random, (uint32_t)(2 * bytes / n - 1));
    cuts[n] = cuts[n - 1] < bytes ? bytes : cuts[n - 1] + 1;
}

static void feed_stream(struct order *order, const struct cut *cut, uint64_t last, unsigned i)
{
    bool writes = i < WRITERS;
    uint64_t begin = writes ? cut->begin[i] : cut->end[i - WRITERS],
             end = writes ? cut->begin[i + 1] : cut->end[i - WRITERS + 1];
    end = end < last ? end : last;
    if (begin >= end)
        return;
    order_accept(order, &(struct arrival){.at = {i + 1, 1}, .type = 1,
                                          .relation = writes ? RELATION_SEND : RELATION_RECEIVE,
                                          .keyed = true, .stream = true, .key = {77, begin},
                                          .group_size = (uint32_t)(end - begin)});
}

static struct order *order_on(struct shelf shelf)
{
    struct order *order = order_new_on(shelf);
    for (unsigned i = 0; i < WRITERS + READERS; i++)
        order_line(order, false, 1);
    return order;
}

static struct order *again(struct order *order, struct shelf shelf)
{
    size_t size;
    uint8_t *bytes = order_save(order, &size);
    order_free(order);
    order = order_on(shelf);
    assert_true(order_restore(order, bytes, size));
    free(bytes);
    return order;
}

static void check_stream(const struct order *order, const struct cut *cut, uint64_t last)
{
    for (unsigned w = 0; w < WRITERS; w++)
        for (unsigned r = 0; r < READERS; r++) {
            uint64_t end = cut->begin[w + 1] < last ? cut->begin[w + 1] : last,
                     to = cut->end[r + 1] < last ? cut->end[r + 1] : last;
            if (cut->begin[w] >= end || cut->end[r] >= to)
                continue;
            bool meets = cut->begin[w] < to && cut->end[r] < end;
            assert_int_equal(order_compare(order, (struct ref){w + 1, 1}, (struct ref){WRITERS + r + 1, 1}),
                             meets ? ORDER_BEFORE : ORDER_CONCURRENT);
        }
}

static void bytes_come_after_those_who_sent_them(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 500; seed++) {
        unsigned random = seed, turn[WRITERS + READERS];
        struct cut cut;
        struct shelf shelf = shelf_memory(), shared = shelf;
        shared.free = NULL;
        cut_at_random(cut.begin, WRITERS, 200, &random);
        cut_at_random(cut.end, READERS, 200, &random);
        uint64_t last = cut.begin[WRITERS] < cut.end[READERS] ? cut.begin[WRITERS] : cut.end[READERS];
        struct order *order = order_on(shared);
        for (unsigned i = 0; i < WRITERS + READERS; i++) { /* in any order */
            unsigned k = execution_random(&random, i + 1);
            turn[i] = turn[k];
            turn[k] = i;
        }
        unsigned stop = execution_random(&random, WRITERS + READERS);
        for (unsigned i = 0; i < stop; i++)
            feed_stream(order, &cut, last, turn[i]);
        order = again(order, shared);
        for (unsigned i = 0; i < WRITERS + READERS; i++) /* what is known is dropped */
            feed_stream(order, &cut, last, turn[i]);
        assert_int_equal(order_figures(order).pending + order_figures(order).contradictions, 0);
        check_stream(order, &cut, last);
        order_free(order);
        shelf.free(shelf.context);
    }
}

static void keyed(struct order *order, uint32_t line, enum relation relation, const uint64_t *keys,
                  uint32_t count, uint32_t receives)
{
    struct ref more[8] = {{0, 0}};
    for (uint32_t i = 0; i < count; i++)
        more[i] = (struct ref){0, keys[i]};
    bool many = relation == RELATION_RECEIVE && count > 1;
    order_accept(order, &(struct arrival){.at = {line, 1}, .type = 1, .relation = relation, .keyed = true,
                                          .key = {9, keys[0]}, .group_size = receives, .partners = more,
                                          .partner_count = many ? count : 0});
}

static void a_receive_of_many_keys_is_after_all_of_them(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 5; first++) {
        struct shelf shelf = shelf_memory(), shared = shelf;
        shared.free = NULL;
        struct order *order = order_on(shared);
        for (unsigned i = first; i < first + 5; i++) { /* each of them comes last once */
            uint64_t key = i % 5;
            if (key < 3)
                keyed(order, (uint32_t)key + 1, RELATION_SEND, &key, 1, key == 1 ? 2 : 1);
            else if (key == 3)
                keyed(order, 4, RELATION_RECEIVE, (const uint64_t[]){0, 1, 2}, 3, 0);
            else
                keyed(order, 5, RELATION_RECEIVE, (const uint64_t[]){1}, 1, 0);
            if (i == first + 2)
                order = again(order, shared);
            for (unsigned k = first; i == first + 2 && k <= i; k++) { /* what was pending comes again */
                uint64_t old = k % 5;
                if (old < 3)
                    keyed(order, (uint32_t)old + 1, RELATION_SEND, &old, 1, old == 1 ? 2 : 1);
                else if (old == 3)
                    keyed(order, 4, RELATION_RECEIVE, (const uint64_t[]){0, 1, 2}, 3, 0);
                else
                    keyed(order, 5, RELATION_RECEIVE, (const uint64_t[]){1}, 1, 0);
            }
        }
        assert_int_equal(order_figures(order).pending + order_figures(order).contradictions, 0);
        for (uint32_t line = 1; line <= 3; line++) {
            assert_int_equal(order_compare(order, (struct ref){line, 1}, (struct ref){4, 1}), ORDER_BEFORE);
            assert_int_equal(order_compare(order, (struct ref){line, 1}, (struct ref){5, 1}),
                             line == 2 ? ORDER_BEFORE : ORDER_CONCURRENT);
        }
        order_free(order);
        shelf.free(shelf.context);
    }
}

/* A thread visits many objects once each, all of which end up forgotten. */
static struct order *many_lines_on(struct shelf shelf, uint32_t lines, bool events)
{
    struct order *order = order_new_on(shelf);
    order_line(order, false, 1);
    for (uint32_t i = 0; i < lines; i++)
        order_line(order, true, 2);
    for (uint64_t i = 0; events && i < 2 * (uint64_t)lines; i++) {
        struct ref own = {1, i + 1}, object = {2 + (uint32_t)(i / 2), 1 + i % 2};
        struct arrival thread = {.at = own, .relation = RELATION_SYNC, .partners = &object, .partner_count = 1};
        struct arrival visit = {.at = object, .relation = RELATION_SYNC, .partners = &own, .partner_count = 1};
        order_accept(order, &thread);
        order_accept(order, &visit);
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
        struct shelf shelf = shelf_memory();
        struct shelf theirs = shelf;
        theirs.free = NULL;
        struct order *order = many_lines_on(theirs, lines, true);
        assert_int_equal(order_figures(order).pending, 0);
        order_forget(order, order_count(order) - 64);
        uint8_t *bytes = order_save(order, &sizes[i]);
        struct order *again = many_lines_on(theirs, lines, false);
        assert_true(order_restore(again, bytes, sizes[i]));
        free(bytes);
        for (uint32_t line = 1; line <= lines + 1; line++) {
            assert_int_equal(order_line_events(again, line), order_line_events(order, line));
            assert_int_equal(order_line_first(again, line), order_line_first(order, line));
            assert_int_equal(order_line_highest(again, line), order_line_highest(order, line));
            struct ref first = {line, 1}, last = {1, 2 * (uint64_t)lines};
            assert_int_equal(order_is_forgotten(again, first), order_is_forgotten(order, first));
            assert_int_equal(order_compare(again, first, last), order_compare(order, first, last));
        }
        /* a line that rested goes on */
        for (int k = 0; k < 2; k++) {
            struct order *o = k ? again : order;
            order_accept(o, &(struct arrival){.at = {2, 3}, .after = {{1, 2 * (uint64_t)lines}}});
            assert_int_equal(order_compare(o, (struct ref){2, 3}, (struct ref){1, 2 * (uint64_t)lines}), ORDER_AFTER);
            assert_int_equal(order_compare(o, (struct ref){2, 1}, (struct ref){2, 3}), ORDER_UNKNOWN);
            order_free(o);
        }
        shelf.free(shelf.context);
    }
    /* besides the lines there are the list of blocks and that of pages of lines */
    assert_true(sizes[1] < sizes[0] + 3 * 4 * (size_t)MANY / BLOCK_EVENTS + 3 * (size_t)MANY / PAGE_LINES + 1024);
}

/* Of lines that ended and are forgotten nearly nothing is kept, and whoever asks is told the same as before. */
static void lines_that_are_over_are_put_away(void **state)
{
    (void)state;
    enum { LINES = 2000 };
    struct shelf shelf = shelf_memory(), theirs = shelf;
    theirs.free = NULL;
    struct order *order = many_lines_on(theirs, LINES, true);
    for (uint32_t line = 2; line <= LINES / 2; line++)
        order_close(order, line, 2);
    order_forget(order, order_count(order) - 64);
    uint32_t away = 0;
    for (uint32_t line = 1; line <= LINES + 1; line++) {
        away += order_line_away(order, line);
        assert_false(line > LINES / 2 && order_line_away(order, line));
        assert_int_equal(order_line_closed(order, line), line >= 2 && line <= LINES / 2);
        assert_int_equal(order_line_kind(order, line), line == 1 ? 1 : 2);
        assert_int_equal(order_line_shared(order, line), line > 1);
        assert_int_equal(order_line_events(order, line), line == 1 ? 2 * LINES : 2);
        assert_int_equal(order_line_highest(order, line), line == 1 ? 2 * LINES : 2);
    }
    assert_true(away > LINES / 2 - 300); /* whole pages of memory */
    size_t size;
    uint8_t *bytes = order_save(order, &size);
    struct order *again = many_lines_on(theirs, LINES, false);
    assert_true(order_restore(again, bytes, size));
    free(bytes);
    assert_true(order_line_away(order, 200) && order_line_away(again, 200));
    for (int k = 0; k < 2; k++) { /* nothing may follow on it */
        struct order *o = k ? again : order;
        uint64_t before = order_figures(o).contradictions;
        order_accept(o, &(struct arrival){.at = {200, 3}, .type = 1});
        assert_false(order_line_away(o, 200));
        assert_int_equal(order_line_events(o, 200) + order_figures(o).contradictions, before + 3 + (order_line_events(o, 200) > 2));
        assert_int_equal(order_line_events(o, 201), 2);
        order_free(o);
    }
    shelf.free(shelf.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_answered_as_by_brute_force),
        cmocka_unit_test(what_may_be_hidden_is_unknown),
        cmocka_unit_test(losses_make_no_answer_wrong),
        cmocka_unit_test(what_came_is_not_lost),
        cmocka_unit_test(what_is_lost_far_ahead_is_lost),
        cmocka_unit_test(the_log_is_a_linear_extension),
        cmocka_unit_test(past_and_future_reach_as_far_as_they_do),
        cmocka_unit_test(a_witness_is_a_chain),
        cmocka_unit_test(a_saved_order_goes_on_as_if_it_had_not_stopped),
        cmocka_unit_test(a_line_is_closed_after_its_last_number),
        cmocka_unit_test(a_saved_order_that_is_damaged_is_refused),
        cmocka_unit_test(doubts_outlive_saving_and_forgetting),
        cmocka_unit_test(bytes_come_after_those_who_sent_them),
        cmocka_unit_test(a_receive_of_many_keys_is_after_all_of_them),
        cmocka_unit_test(each_mistake_is_reported_once),
        cmocka_unit_test(duplicates_are_dropped),
        cmocka_unit_test(a_gap_is_waited_for_or_declared_lost),
        cmocka_unit_test(lost_events_forbid_an_answer),
        cmocka_unit_test(a_hang_up_leaves_nothing_pending),
        cmocka_unit_test(a_hang_up_goes_in_steps),
        cmocka_unit_test(a_line_comes_back),
        cmocka_unit_test(forgotten_lines_take_next_to_nothing),
        cmocka_unit_test(lines_that_are_over_are_put_away),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
