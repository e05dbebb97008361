/* Attribution of waits: the fast computation, compared with the reference in bycounting.h on
 * random programs. */
#include "server/analysis/wait_attribution.h"
#include "server/timing/concurrency_levels.h"
#include "tests/unit/attribution_reference.h"
#include "tests/unit/unit.h"

static unsigned chance;

static unsigned below(unsigned n)
{
    chance = chance * 1664525u + 1013904223u;
    return (chance >> 8) % n;
}

/* ---- random programs ---- */

static void some_work(struct world *w, int thread, unsigned most)
{
    for (unsigned i = below(3); i--;)
        op(w, thread, OP_WORK, (int)below(6), (int)below(most));
}

static void locked(struct world *w, int thread)
{
    int m = (int)below(LOCKS - 1);
    op(w, thread, OP_LOCK, m, 0);
    op(w, thread, OP_WORK, (int)below(6), 1 + (int)below(15));
    op(w, thread, OP_UNLOCK, m, 0);
}

/* Thread `to` awaits a condition variable that `from` signals; a message before ensures that the
 * signal is not lost. */
static void condition(struct world *w, int from, int to, int c)
{
    int m = LOCKS - 1;
    op(w, to, OP_LOCK, m, 0);
    op(w, to, OP_SEND, c, 0);
    op(w, to, OP_AWAIT, c + 1, m);
    op(w, to, OP_WORK, (int)below(6), (int)below(5));
    op(w, to, OP_UNLOCK, m, 0);
    op(w, from, OP_RECEIVE, c, 0);
    op(w, from, OP_LOCK, m, 0);
    op(w, from, OP_WORK, (int)below(6), (int)below(5));
    op(w, from, OP_SIGNAL, c + 1, 0);
    op(w, from, OP_WORK, (int)below(6), (int)below(5));
    op(w, from, OP_UNLOCK, m, 0);
}

static void one_round(struct world *w, int present, int round)
{
    int channel = 2 * round;
    int from = (int)below((unsigned)present),
        to = (from + 1 + (int)below((unsigned)present)) % present;
    unsigned kind = below(10);
    for (int i = 0; i < present; i++)
        some_work(w, i, 20);
    if (kind < 3)
        for (int i = 0; i < present; i++)
            op(w, i, OP_BARRIER, round, present);
    else if (kind < 5)
        for (int i = 0; i < present; i++)
            locked(w, i);
    else if (kind == 5)
        op(w, from, below(2) ? OP_SLEEP : OP_UNSEEN, 0, (int)below(12));
    else if (kind == 6 && from != to)
        condition(w, from, to, channel);
    else if (from != to) {
        op(w, from, OP_SEND, channel, 0);
        op(w, to, OP_RECEIVE, channel, 0);
    }
}

static void make(struct world *w)
{
    int rounds = 2 + (int)below(9), present = 1;
    w->threads = 2 + (int)below(THREADS - 1);
    w->latency_ns = below(2) ? below(4) : 0;
    start(w, 0, -1, below(3));
    for (int round = 0; round < rounds || present < w->threads; round++) {
        while (present < w->threads && below(2)) {
            if (below(3))
                op(w, (int)below((unsigned)present), OP_MAKE, present, 0);
            else
                start(w, present, -1, below(12));
            present++;
        }
        one_round(w, present, round % 18);
    }
    for (int i = 1; i < w->threads; i++)
        if (below(2))
            op(w, (int)below((unsigned)i), OP_JOIN, i, 0);
}

/* ---- comparison ---- */

static void read_list(const struct wait_attribution *why, struct list_pool_reader reader,
                      struct amounts *into)
{
    *into = (struct amounts){0};
    for (struct path_share share; list_pool_next(&reader, &share);)
        count_one(into, wait_attribution_pair(why, share.pair).step,
                  wait_attribution_pair(why, share.pair).thread, share.ns);
}

static int64_t sum_of(const struct amounts *amounts)
{
    int64_t sum = 0;
    for (int s = 0; s < SLOTS; s++)
        for (int l = 0; l < LINES; l++)
            sum += amounts->ns[s][l];
    return sum;
}

static void same_amounts(const struct amounts *a, const struct amounts *b)
{
    for (int s = 0; s < SLOTS; s++)
        for (int l = 0; l < LINES; l++)
            if (a->ns[s][l] != b->ns[s][l])
                fail_msg("step %d of line %d: %ld, counted %ld", s - (int)SEGMENT_IDS_RESERVED, l,
                         (long)a->ns[s][l], (long)b->ns[s][l]);
}

static void charges_add_up(const struct wait_attribution *why, uint32_t segment,
                           struct attribution *charges)
{
    const struct intervals *all = why->paths.all;
    int64_t length = all->segments[segment].to_ns - wait_interval_begin(all, segment);
    for (enum path_list_kind which = 0; which < PATHS; which++) {
        int64_t sum = 0;
        attribution_compute(charges, why, segment, which, length);
        for (size_t i = 0; i < charges->count; i++) {
            assert_true(charges->items[i].ns > 0);
            sum += charges->items[i].ns;
        }
        assert_int_equal(sum, length);
    }
}

/* Counts in one sweep over time which thread each waiter indirectly waits for. */
static void sweep(const struct counting *c, struct amounts *into)
{
    for (uint32_t t = 0; t < c->all->thread_count; t++)
        for (int64_t ns = 0; ns < LONGEST; ns++) {
            int i = c->at[t][ns];
            if (i >= 0 && c->all->threads[t].items[i].is == INTERVAL_SEGMENT)
                count_overlap(c, into, c->all->threads[t].thread, ns, ns + 1);
        }
}

static size_t compared;

static void compare(const struct wait_attribution *why)
{
    static struct counting c;
    struct attribution charges = {0};
    struct amounts fast, counted, total = {0}, swept = {0};
    c = counting(why->paths.all);
    for (uint32_t i = 0; i < c.all->segment_count; i++) {
        int64_t begin = wait_interval_begin(c.all, i), length = c.all->segments[i].to_ns - begin;
        counted = (struct amounts){0};
        count_overlap(&c, &counted, c.all->segments[i].thread, begin, begin + length);
        read_list(why, wait_attribution_overlap(why, i), &fast);
        same_amounts(&fast, &counted);
        add_amounts(&total, &fast, 1);
        read_list(why, wait_attribution_reasons(why, i), &fast);
        assert_int_equal(sum_of(&fast), length);
        same_amounts(&fast, count_reasons(&c, i));
        charges_add_up(why, i, &charges);
        compared += length > 0;
    }
    sweep(&c, &swept);
    same_amounts(&total, &swept);
    attribution_free(&charges);
    counting_free(&c);
}

/* Adds records and computes in alternating steps, with checkpoints of the sums at different
 * spacings. */
static void run(struct world *w, struct intervals *all, unsigned spacing, unsigned often)
{
    struct wait_attribution why = {.paths = {.all = all, .spacing = spacing}};
    w->into = all;
    assert_true(simulate(w));
    while (tell_one(w, below(1000)))
        if (often && !below(often))
            wait_attribution_step(&why, below(50));
    while (!wait_attribution_step(&why, 1 + below(1000)))
        ;
    assert_int_equal(why.done, all->wait_count);
    compare(&why);
    wait_attribution_free(&why);
}

static void what_is_computed_is_what_is_counted(void **state)
{
    (void)state;
    static struct world w;
    const unsigned spacings[] = {1, 2, 3, 7, 0};
    for (unsigned seed = 0; seed < 10000; seed++) {
        struct intervals all = {0};
        w = (struct world){.into = &all};
        chance = seed * 2654435761u;
        make(&w);
        run(&w, &all, spacings[seed % 5], seed % 4);
        intervals_free(&all);
    }
    assert_true(compared > 20000);
}

/* ---- causes ---- */

/* Returns the step in a function on a call path: after a call of it, or before the first one. */
static uint32_t in_function(struct intervals *all, uint32_t path, uint32_t after, uint32_t function)
{
    return code_segments_code(
        &all->steps,
        (struct code_segment_key){.from = path, .to = after, .is = STEP_CALLS, .scope = function});
}

/* Threads 1 and 2 meet at 100 ms: both executed the same function, at other places and with other
 * callers; then thread 2 alone executed another one. */
static void what_both_did_is_told_by_the_function(void **state)
{
    (void)state;
    struct intervals all = {0};
    struct wait_attribution why = {.paths.all = &all};
    struct attribution charges = {0};
    intervals_start(&all, 1, 0, 0);
    intervals_start(&all, 2, 0, 0);
    intervals_add_activity(&all, 1, in_function(&all, 1, 0, 1), 20, 0, 0);
    intervals_add_activity(&all, 2, in_function(&all, 2, 3, 1), 60, 1, 0);
    intervals_add_activity(&all, 2, in_function(&all, 4, 0, 4), 100, 1, 0);
    intervals_add_wait(
        &all, (struct wait_record){.from_ns = 20, .to_ns = 100, .thread = 1, .begin = 0, .end = 2},
        &(struct wait_interval){.to_ns = 100, .thread = 2}, 1, 0);
    assert_true(wait_attribution_step(&why, UINT64_MAX));
    attribution_compute(&charges, &why, 0, PATH_EXPANDED, 80);
    assert_int_equal(charges.count, 2);
    assert_int_equal(charges.items[0].kind, CAUSE_IMBALANCE);
    assert_int_equal(charges.items[0].ns, 40); /* 60 less 20 */
    assert_int_equal(charges.items[1].kind, CAUSE_SERIAL);
    assert_int_equal(charges.items[1].ns, 40);
    attribution_free(&charges);
    wait_attribution_free(&why);
    intervals_free(&all);
}

/* Thread 1 runs until 20 and from 90 on, thread 2 until 100. */
static void when_more_than_one_ran(void **state)
{
    (void)state;
    struct intervals all = {0};
    struct concurrency_levels levels = {0};
    size_t near = 0;
    uint32_t step = in_function(&all, 1, 0, 1);
    intervals_start(&all, 1, 0, 0);
    intervals_start(&all, 2, 0, 0);
    intervals_add_run(&all, 1, step, 10, 0);
    intervals_add_run(&all, 1, step, 20, 1);
    intervals_add_run(&all, 2, step, 100, 2);
    intervals_add_wait(
        &all, (struct wait_record){.from_ns = 20, .to_ns = 90, .thread = 1, .begin = 1, .end = 3},
        &(struct wait_interval){.to_ns = 90, .thread = 2}, 1, 0);
    intervals_add_run(&all, 1, step, 130, 4);
    concurrency_levels_make(&levels, &all);
    assert_int_equal(concurrency_levels_above(&levels, 0, 130, &near), 30);
    assert_int_equal(concurrency_levels_above(&levels, 5, 15, &near), 10);
    assert_int_equal(concurrency_levels_above(&levels, 15, 95, &near), 10);
    assert_int_equal(concurrency_levels_above(&levels, 20, 90, &near), 0);
    assert_int_equal(concurrency_levels_above(&levels, -50, 500, &near), 30);
    near = 0;
    assert_int_equal(levels_running(&levels, -1, &near), 0);
    assert_int_equal(levels_running(&levels, 0, &near), 2);
    assert_int_equal(levels_running(&levels, 99, &near), 2);
    assert_int_equal(levels_running(&levels, 89, &near), 1);
    assert_int_equal(levels_running(&levels, 19, &near), 2);
    assert_int_equal(levels_running(&levels, 130, &near), 0);
    concurrency_levels_free(&levels);
    intervals_free(&all);
}

/* Ranges may be added in any order; empty ones have no effect. */
static void what_is_added_by_itself(void **state)
{
    (void)state;
    struct concurrency_levels levels = {0};
    size_t near = 0;
    levels_add(&levels, 50, 80);
    levels_add(&levels, 10, 60);
    levels_add(&levels, 70, 70);
    levels_add_up(&levels);
    assert_int_equal(levels.count, 4);
    assert_int_equal(levels_running(&levels, 10, &near), 1);
    assert_int_equal(levels_running(&levels, 50, &near), 2);
    assert_int_equal(levels_running(&levels, 60, &near), 1);
    assert_int_equal(levels_running(&levels, 80, &near), 0);
    assert_int_equal(concurrency_levels_above(&levels, 0, 100, &near), 10);
    concurrency_levels_free(&levels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_computed_is_what_is_counted),
        cmocka_unit_test(what_both_did_is_told_by_the_function),
        cmocka_unit_test(when_more_than_one_ran),
        cmocka_unit_test(what_is_added_by_itself),
    };
    return cmocka_run_group_tests_name("causes", tests, NULL, NULL);
}
