/* The order, compared with brute force. */
#include "server/order/order.h"
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
            enum causal_relation want = execution_compare(&x, a, b);
            enum causal_relation got = order_compare(order, x.arrivals[a].at, x.arrivals[b].at);
            if (got != want)
                fail_msg("seed %u: %u:%llu and %u:%llu: %d, not %d", seed, x.arrivals[a].at.line,
                         (unsigned long long)x.arrivals[a].at.number, x.arrivals[b].at.line,
                         (unsigned long long)x.arrivals[b].at.number, got, want);
        }
        order_free(order);
    }
}

static void expect(const struct order *order, uint32_t a, uint32_t b, enum causal_relation want,
                   unsigned seed)
{
    enum causal_relation got = order_compare(order, x.arrivals[a].at, x.arrivals[b].at);
    if (got != want)
        fail_msg("seed %u: %u:%llu and %u:%llu: %d, not %d", seed, x.arrivals[a].at.line,
                 (unsigned long long)x.arrivals[a].at.number, x.arrivals[b].at.line,
                 (unsigned long long)x.arrivals[b].at.number, got, want);
}

/* Some edges are hidden and the events at their ends are uncertain: an answer is true for the
 * whole execution, or unknown, which it is only if an uncertain event matters. */
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
            enum causal_relation known = execution_compare(&x, a, b),
                                 truth = execution_compare(&whole, a, b);
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
        order_end_of_input(order, lines, x.lines);
        order_finish(order);
        assert_int_equal(order_figures(order).pending, 0);
        assert_int_equal(order_figures(order).contradictions, 0);
        unsigned random = seed;
        for (int n = 0; n < 200; n++) {
            uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
            enum causal_relation got = order_compare(order, x.arrivals[a].at, x.arrivals[b].at);
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

static void check_read(const struct order *order, uint64_t position, const struct order_event *read)
{
    struct order_event e = order_event(order, position), r = *read;
    r.in = e.in;
    assert_true(r.number == e.number && r.time_ns == e.time_ns && r.point == e.point);
    assert_true(r.line == e.line && r.thread == e.thread && r.about == e.about);
    assert_true(r.site == e.site && r.type == e.type && r.relation == e.relation);
    assert_true(r.edge_count == e.edge_count && r.send_count == e.send_count);
    assert_true(r.state == e.state && r.partner_lost == e.partner_lost && r.opened == e.opened);
    assert_true(r.after_gap == e.after_gap && r.sends == e.sends && r.doubt == e.doubt);
}

static void many_read_at_once_are_what_each_is(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed + 77);
        uint64_t last[64] = {0}, expected[64] = {0}, count = order_count(order);
        uint32_t lines = order_line_count(order) < 64 ? order_line_count(order) : 64;
        struct order_event some[7];
        for (uint64_t p = 0, n; p < count; p += n) {
            n = order_read(order, p, 1 + seed % 7, some);
            assert_true(n >= 1 && n <= 1 + seed % 7 && p + n <= count);
            for (uint64_t i = 0; i < n; i++) {
                check_read(order, p + i, &some[i]);
                if (some[i].thread && some[i].thread <= lines && !(some[i].line & HIDDEN_LINE) &&
                    some[i].state == EVENT_ORDERED)
                    expected[some[i].thread - 1] = p + i + 1;
            }
        }
        order_last_of_threads(order, 0, count / 2, last, lines);
        order_last_of_threads(order, count / 2, count, last, lines);
        assert_memory_equal(last, expected, sizeof last);
        order_free(order);
    }
}

/* ---- reach of an event, and causal chains ---- */

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
        struct cone *past = cone_new(order, position, false, 0);
        struct cone *future = cone_new(order, position, true, UINT64_MAX);
        while (!cone_step(past, 9))
            ;
        while (!cone_step(future, 9))
            ;
        for (uint32_t a = 0; a < x.count; a++) {
            enum causal_relation p = execution_compare(&x, a, e);
            uint64_t at = order_position(order, x.arrivals[a].at);
            assert_int_equal(cone_contains(past, at), p == ORDER_BEFORE || p == ORDER_SAME);
            assert_int_equal(cone_contains(future, at), p == ORDER_AFTER || p == ORDER_SAME);
        }
        cone_free(past);
        cone_free(future);
        order_free(order);
    }
}

static uint32_t index_of(struct event_id at)
{
    uint32_t i = 0;
    while (i < x.count && !event_id_equal(x.arrivals[i].at, at))
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
            struct event_id *chain;
            size_t count = order_causal_chain(order, x.arrivals[a].at, x.arrivals[b].at, &chain);
            assert_int_equal(count > 0, execution_compare(&x, a, b) == ORDER_BEFORE);
            found += count > 0;
            for (size_t i = 0; i + 1 < count; i++) {
                if ((chain[i].line | chain[i + 1].line) & HIDDEN_LINE)
                    continue;
                uint32_t from = index_of(chain[i]), to = index_of(chain[i + 1]);
                assert_true(x.point[from] == x.point[to] || x.before[x.point[from]][x.point[to]]);
            }
            if (count) {
                assert_true(event_id_equal(chain[0], x.arrivals[a].at));
                assert_true(event_id_equal(chain[count - 1], x.arrivals[b].at));
            }
            free(chain);
        }
        order_free(order);
    }
    assert_true(found > 500);
}

/* ---- keys and streams ---- */

#define WRITERS 12
#define READERS 12

/* Each send and each receive is on a line of its own, so that only the stream orders them. */
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
    order_insert(order, &(struct arrival){.at = {i + 1, 1},
                                          .type = 1,
                                          .relation = writes ? RELATION_SEND : RELATION_RECEIVE,
                                          .keyed = true,
                                          .stream = true,
                                          .key = {77, begin},
                                          .group_size = (uint32_t)(end - begin)});
}

static struct order *order_on(struct block_store shelf)
{
    struct order *order = order_new_on(shelf);
    for (unsigned i = 0; i < WRITERS + READERS; i++)
        order_line(order, false, 1);
    return order;
}

static struct order *again(struct order *order, struct block_store shelf)
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
            assert_int_equal(order_compare(order, (struct event_id){w + 1, 1},
                                           (struct event_id){WRITERS + r + 1, 1}),
                             meets ? ORDER_BEFORE : ORDER_CONCURRENT);
        }
}

static void bytes_come_after_those_who_sent_them(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 500; seed++) {
        unsigned random = seed, turn[WRITERS + READERS];
        struct cut cut;
        struct block_store shelf = block_store_in_memory(), shared = shelf;
        shared.free = NULL;
        cut_at_random(cut.begin, WRITERS, 200, &random);
        cut_at_random(cut.end, READERS, 200, &random);
        uint64_t last =
            cut.begin[WRITERS] < cut.end[READERS] ? cut.begin[WRITERS] : cut.end[READERS];
        struct order *order = order_on(shared);
        for (unsigned i = 0; i < WRITERS + READERS; i++) { /* in random order */
            unsigned k = execution_random(&random, i + 1);
            turn[i] = turn[k];
            turn[k] = i;
        }
        unsigned stop = execution_random(&random, WRITERS + READERS);
        for (unsigned i = 0; i < stop; i++)
            feed_stream(order, &cut, last, turn[i]);
        order = again(order, shared);
        for (unsigned i = 0; i < WRITERS + READERS; i++) /* known events are dropped */
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
    struct event_id more[8] = {{0, 0}};
    for (uint32_t i = 0; i < count; i++)
        more[i] = (struct event_id){0, keys[i]};
    bool many = relation == RELATION_RECEIVE && count > 1;
    order_insert(order, &(struct arrival){.at = {line, 1},
                                          .type = 1,
                                          .relation = relation,
                                          .keyed = true,
                                          .key = {9, keys[0]},
                                          .group_size = receives,
                                          .partners = more,
                                          .partner_count = many ? count : 0});
}

static void a_receive_of_many_keys_is_after_all_of_them(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 5; first++) {
        struct block_store shelf = block_store_in_memory(), shared = shelf;
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
            /* pending events are sent again */
            for (unsigned k = first; i == first + 2 && k <= i; k++) {
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
            assert_int_equal(
                order_compare(order, (struct event_id){line, 1}, (struct event_id){4, 1}),
                ORDER_BEFORE);
            assert_int_equal(
                order_compare(order, (struct event_id){line, 1}, (struct event_id){5, 1}),
                line == 2 ? ORDER_BEFORE : ORDER_CONCURRENT);
        }
        order_free(order);
        shelf.free(shelf.context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_answered_as_by_brute_force),
        cmocka_unit_test(what_may_be_hidden_is_unknown),
        cmocka_unit_test(losses_make_no_answer_wrong),
        cmocka_unit_test(the_log_is_a_linear_extension),
        cmocka_unit_test(many_read_at_once_are_what_each_is),
        cmocka_unit_test(past_and_future_reach_as_far_as_they_do),
        cmocka_unit_test(a_witness_is_a_chain),
        cmocka_unit_test(bytes_come_after_those_who_sent_them),
        cmocka_unit_test(a_receive_of_many_keys_is_after_all_of_them),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
