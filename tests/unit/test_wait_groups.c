/* Attribution of waits: programs small enough to compute by hand to which segment how much of each
 * wait is attributed. */
#include "server/analysis/wait_groups.h"
#include "server/analysis/wait_knots.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/unit.h"

#define MS 1000000
#define END                                                                                        \
    {                                                                                              \
        -1, 0                                                                                      \
    }

static struct world w;
static struct intervals all;
static struct wait_attribution why;

struct part {
    int label;
    double ms;
};

static void begin(int threads)
{
    w = (struct world){.into = &all, .threads = threads};
    for (int i = 0; i < threads; i++)
        start(&w, i, -1, 0);
}

static void work(int thread, int label, int ms) { op(&w, thread, OP_WORK, label, ms * MS); }

static void go(void)
{
    assert_true(simulate(&w));
    while (tell_one(&w, 0))
        ;
    why = (struct wait_attribution){.paths.all = &all};
    assert_true(wait_attribution_step(&why, UINT64_MAX / 2));
}

static void end(void)
{
    wait_attribution_free(&why);
    intervals_free(&all);
}

/* Returns the index of wait interval n, from 0, of a thread. */
static uint32_t nth(int thread, int n)
{
    for (uint32_t i = 0; i < all.segment_count; i++)
        if (all.waits[all.segments[i].wait].thread == line_of(thread) && !n--)
            return i;
    fail_msg("thread %d waited less often", thread);
    return 0;
}

static int label_of(uint32_t pair)
{
    return (int)code_segments_at(&all.steps, wait_attribution_pair(&why, pair).step).from - 1;
}

static void says(int thread, int n, int ms, const struct part *parts)
{
    uint32_t segment = nth(thread, n);
    assert_int_equal(all.segments[segment].to_ns - wait_interval_begin(&all, segment), ms * MS);
    struct list_pool_reader reader = wait_attribution_reasons(&why, segment);
    int64_t found[20] = {0};
    for (struct path_share share; list_pool_next(&reader, &share);)
        found[label_of(share.pair)] += share.ns;
    for (; parts->label >= 0; parts++) {
        assert_int_equal(found[parts->label], (int64_t)(parts->ms * MS));
        found[parts->label] = 0;
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(found[i], 0);
}

#define SAYS(thread, n, ms, ...) says(thread, n, ms, (const struct part[]){__VA_ARGS__, END})

/* Returns the time that all waits attribute to a step (-1: to all), of a cause (kind; -1: any).
 * direct: 1 only what the awaited thread caused itself, 0 only what delayed it, -1 both. */
static int64_t charged(enum path_list_kind which, int label, int kind, int direct)
{
    struct attribution charges = {0};
    int64_t sum = 0;
    for (uint32_t i = 0; i < all.segment_count; i++) {
        attribution_compute(&charges, &why, i, which,
                            all.segments[i].to_ns - wait_interval_begin(&all, i));
        for (size_t j = 0; j < charges.count; j++) {
            const struct attributed_time *c = &charges.items[j];
            if ((label < 0 || label_of(c->pair) == label) && (kind < 0 || c->kind == kind) &&
                (direct < 0 || c->direct == direct))
                sum += c->ns;
        }
    }
    attribution_free(&charges);
    return sum;
}

static void charge_is(int label, double ms)
{
    int64_t ns = charged(PATH_EXPANDED, label, -1, -1);
    assert_true(ns > ms * MS - 600 && ns < ms * MS + 600);
}

enum { A1, A2, B1, B3, C1, C3 };

/* Figure 4 of Meira. */
static void three_send_to_each_other(void **state)
{
    (void)state;
    begin(3);
    work(0, A1, 50), op(&w, 0, OP_SEND, 0, 0), work(0, A2, 30), op(&w, 0, OP_RECEIVE, 2, 0);
    work(1, B1, 20), op(&w, 1, OP_RECEIVE, 0, 0), work(1, B3, 40), op(&w, 1, OP_SEND, 1, 0);
    work(2, C1, 25), op(&w, 2, OP_RECEIVE, 1, 0), work(2, C3, 35), op(&w, 2, OP_SEND, 2, 0);
    go();
    SAYS(1, 0, 30, {A1, 50}, {B1, -20});
    SAYS(2, 0, 65, {A1, 50}, {B3, 40}, {C1, -25});
    SAYS(0, 0, 45, {B3, 40}, {C3, 35}, {A2, -30});
    charge_is(A1, 66.111), charge_is(B3, 52.889), charge_is(C3, 21), charge_is(-1, 140);
    assert_int_equal(charged(PATH_EXPANDED, -1, -1, -1), 140 * MS);
    assert_int_equal(charged(PATH_EXPANDED, -1, CAUSE_SERIAL, -1), 140 * MS);
    assert_int_equal(charged(PATH_OVERLAP, A1, -1, -1), 55 * MS);
    assert_int_equal(charged(PATH_OVERLAP, B3, -1, -1), 50 * MS);
    assert_int_equal(charged(PATH_OVERLAP, C3, -1, -1), 35 * MS);
    assert_int_equal(wait_attribution_since(&why, nth(2, 0)).at_ns, 0);
    end();
}

static void four_meet_at_a_barrier(void **state)
{
    (void)state;
    begin(4);
    for (int i = 0; i < 4; i++)
        for (int round = 0; round < 3; round++)
            work(i, 0, 10 * (i + 1)), op(&w, i, OP_BARRIER, 0, 4);
    go();
    for (int i = 0; i < 3; i++)
        for (int round = 0; round < 3; round++) {
            SAYS(i, round, 30 - 10 * i, {0, 30 - 10 * i});
            assert_int_equal(wait_attribution_since(&why, nth(i, round)).at_ns, round * 40 * MS);
            assert_int_equal(all.segments[nth(i, round)].thread, line_of(3));
        }
    assert_int_equal(all.segment_count, 9);
    assert_int_equal(charged(PATH_EXPANDED, 0, CAUSE_IMBALANCE, 1), 180 * MS);
    end();
}

static void locked(int thread, int label, int ms)
{
    op(&w, thread, OP_LOCK, 0, 0), work(thread, label, ms), op(&w, thread, OP_UNLOCK, 0, 0);
}

static void a_lock_is_handed_on(void **state)
{
    (void)state;
    enum { G, H, K, P };
    begin(3);
    locked(0, G, 30);
    work(1, P, 10), locked(1, H, 20);
    work(2, P, 15), locked(2, K, 5);
    go();
    SAYS(1, 0, 20, {G, 20});
    SAYS(2, 0, 15, {G, 15});
    SAYS(2, 1, 20, {H, 20});
    assert_int_equal(charged(PATH_EXPANDED, G, CAUSE_CONTENTION, -1), 35 * MS);
    assert_int_equal(charged(PATH_EXPANDED, H, CAUSE_CONTENTION, -1), 20 * MS);
    end();
}

static void one_waits_for_one_who_waits(void **state)
{
    (void)state;
    enum { F, SLOW };
    begin(3);
    op(&w, 0, OP_RECEIVE, 0, 0);
    work(1, F, 10), locked(1, F, 10), op(&w, 1, OP_SEND, 0, 0);
    locked(2, SLOW, 40);
    go();
    SAYS(0, 0, 50, {F, 20}, {SLOW, 30});
    SAYS(1, 0, 30, {SLOW, 30});
    assert_int_equal(charged(PATH_EXPANDED, F, -1, 1), 20 * MS);
    /* 30 ms of the first wait are not its own */
    assert_int_equal(charged(PATH_EXPANDED, SLOW, -1, 0), 30 * MS);
    assert_int_equal(charged(PATH_EXPANDED, SLOW, -1, 1), 30 * MS);
    end();
}

static void a_signal_comes_and_then_the_lock(void **state)
{
    (void)state;
    enum { COMMON, EXTRA, HELD };
    begin(2);
    work(0, COMMON, 20), op(&w, 0, OP_BARRIER, 0, 2), work(0, COMMON, 10);
    op(&w, 0, OP_LOCK, 0, 0), op(&w, 0, OP_AWAIT, 0, 0), op(&w, 0, OP_UNLOCK, 0, 0);
    work(1, COMMON, 30), work(1, EXTRA, 40), op(&w, 1, OP_BARRIER, 0, 2), work(1, COMMON, 10);
    work(1, EXTRA, 25), op(&w, 1, OP_LOCK, 0, 0), op(&w, 1, OP_SIGNAL, 0, 0), work(1, HELD, 5);
    op(&w, 1, OP_UNLOCK, 0, 0);
    go();
    SAYS(0, 0, 50, {EXTRA, 40}, {COMMON, 10});
    SAYS(0, 1, 25, {EXTRA, 25});
    SAYS(0, 2, 5, {HELD, 5});
    assert_int_equal(charged(PATH_EXPANDED, EXTRA, CAUSE_SERIAL, -1), 65 * MS);
    assert_int_equal(charged(PATH_EXPANDED, COMMON, CAUSE_IMBALANCE, -1), 10 * MS);
    assert_int_equal(charged(PATH_EXPANDED, HELD, CAUSE_CONTENTION, -1), 5 * MS);
    end();
}

static void being_late_is_passed_on(void **state)
{
    (void)state;
    enum { F, LATE };
    begin(3);
    work(0, LATE, 60), op(&w, 0, OP_SEND, 0, 0), op(&w, 0, OP_BARRIER, 0, 3);
    work(1, F, 10), op(&w, 1, OP_RECEIVE, 0, 0), work(1, F, 10), op(&w, 1, OP_SEND, 1, 0);
    op(&w, 1, OP_BARRIER, 0, 3);
    work(2, F, 10), op(&w, 2, OP_RECEIVE, 1, 0), work(2, F, 5), op(&w, 2, OP_BARRIER, 0, 3);
    go();
    SAYS(1, 0, 50, {LATE, 60}, {F, -10});
    SAYS(2, 0, 60, {LATE, 60});
    SAYS(0, 0, 15, {F, 15});
    SAYS(1, 1, 5, {F, 5});
    assert_int_equal(charged(PATH_EXPANDED, LATE, -1, -1), 110 * MS);
    assert_int_equal(charged(PATH_EXPANDED, F, -1, -1), 20 * MS);
    /* attributed by the third thread's wait */
    assert_int_equal(charged(PATH_EXPANDED, LATE, -1, 0), 60 * MS);
    end();
}

static void one_may_look_back_elsewhere(void **state)
{
    (void)state;
    begin(2);
    work(0, 0, 30), op(&w, 0, OP_SEND, 0, 0);
    work(1, 1, 10), op(&w, 1, OP_RECEIVE, 0, 0);
    go();
    SAYS(1, 0, 20, {0, 30}, {1, -10});
    wait_attribution_free(&why);
    why.since = SINCE_WAIT;
    assert_true(wait_attribution_step(&why, UINT64_MAX / 2));
    SAYS(1, 0, 20, {0, 20});
    end();
}

/* ---- groups and knots ---- */

static int64_t until[THREADS];

static struct wait_groups grouped(enum wait_group_by by, int64_t from_ms, int64_t to_ms)
{
    struct wait_groups groups = {.why = &why,
                                 .grouping = {.by = by,
                                              .which = PATH_EXPANDED,
                                              .from_ns = from_ms * MS,
                                              .until_ns = until,
                                              .until_count = THREADS}};
    for (int i = 0; i < THREADS; i++)
        until[i] = to_ms * MS;
    assert_true(wait_groups_step(&groups, UINT64_MAX));
    for (uint32_t i = 0; i < groups.count; i++) {
        struct wait_group *group = &groups.items[i];
        int64_t sum = 0;
        wait_groups_arrange(&groups, group);
        for (uint32_t k = 0; k < group->cause_count; k++) {
            int64_t ns = groups.causes[group->causes[k]].ns;
            assert_true(!k || ns <= groups.causes[group->causes[k - 1]].ns);
            sum += ns;
        }
        assert_int_equal(sum, group->waited_ns);
    }
    return groups;
}

static void barrier_program(void)
{
    begin(4);
    for (int i = 0; i < 4; i++)
        for (int round = 0; round < 3; round++)
            work(i, 0, 10 * (i + 1)), op(&w, i, OP_BARRIER, 0, 4);
    go();
}

static void alike_waits_are_one_group(void **state)
{
    (void)state;
    barrier_program();
    struct wait_groups groups = grouped(GROUP_THREAD, 0, 1000);
    assert_int_equal(groups.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct wait_group *group = &groups.items[i];
        assert_int_equal(group->waits, 3);
        assert_int_equal(group->waited_ns, 3 * group->most_ns);
        assert_int_equal(group->kinds[CAUSE_IMBALANCE], group->waited_ns);
        assert_int_equal(group->cause_count, 1);
        assert_true(groups.causes[group->causes[0]].direct);
    }
    wait_groups_free(&groups);
    end();
}

static void part_of_a_wait_counts_in_part(void **state)
{
    (void)state;
    barrier_program();
    struct wait_groups groups = grouped(GROUP_THREAD, 25, 70);
    int64_t sum = 0; /* 15 + 15 + 10 ms of the first round, 20 + 10 + 0 of the second */
    for (uint32_t i = 0; i < groups.count; i++)
        sum += groups.items[i].waited_ns;
    assert_int_equal(sum, 70 * MS);
    wait_groups_free(&groups);
    end();
}

static void what_nobody_explains_is_a_row_of_its_own(void **state)
{
    (void)state;
    begin(2);
    op(&w, 0, OP_SLEEP, 0, 20 * MS);
    op(&w, 1, OP_UNSEEN, 0, 15 * MS);
    work(1, 1, 4), op(&w, 1, OP_SEND, 0, 0), op(&w, 0, OP_RECEIVE, 0, 0);
    w.latency_ns = MS;
    work(0, 0, 5), op(&w, 0, OP_SEND, 1, 0), op(&w, 1, OP_RECEIVE, 1, 0);
    go();
    struct wait_groups groups = grouped(GROUP_WAIT, 0, 1000);
    assert_int_equal(groups.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct wait_group *group = &groups.items[i];
        const struct wait_record *wait = &all.waits[group->first];
        const struct wait_group_cause *cause = &groups.causes[group->causes[0]];
        uint8_t is = code_segments_at(&all.steps, wait_attribution_pair(&why, cause->pair).step).is;
        assert_int_equal(group->unexplained_ns, wait->unexplained ? 15 * MS : 0);
        assert_int_equal(group->cause_count, wait->count ? 3 : 1);
        /* the thread that waited for a message waited for a sleeping thread */
        assert_int_equal(is, wait->unexplained ? STEP_UNKNOWN : STEP_TIMEOUT);
        if (wait->count) /* the latency of the message */
            assert_int_equal(groups.causes[group->causes[2]].ns, MS);
    }
    wait_groups_free(&groups);
    end();
}

static uint32_t knot_of(const struct wait_knots *knots, int thread)
{
    for (uint32_t i = 0; i < knots->member_count; i++)
        if (knots->members[i].thread == line_of(thread))
            return knots->members[i].knot;
    return 0;
}

/* Threads 0 and 1 wait for each other and delay thread 2, for which no thread waits; thread 3
 * delays it a little. Only 0 and 1 form a knot. */
static void who_holds_up_the_rest_is_a_knot(void **state)
{
    (void)state;
    struct wait_knots knots = {.why = &why, .until_ns = until, .until_count = THREADS};
    begin(5);
    for (int i = 0; i < THREADS; i++)
        until[i] = INT64_MAX;
    work(0, 0, 30), op(&w, 0, OP_SEND, 0, 0), op(&w, 0, OP_RECEIVE, 1, 0), op(&w, 0, OP_SEND, 2, 0);
    op(&w, 1, OP_RECEIVE, 0, 0), work(1, 1, 30), op(&w, 1, OP_SEND, 1, 0);
    op(&w, 2, OP_RECEIVE, 4, 0), op(&w, 2, OP_RECEIVE, 2, 0);
    op(&w, 3, OP_WORK, 3, MS / 10), op(&w, 3, OP_SEND, 4, 0);
    work(4, 4, 5);
    go();
    assert_true(wait_knots_step(&knots, UINT64_MAX));
    wait_knots_compute(&knots);
    assert_int_equal(knots.count, 1);
    assert_int_not_equal(knot_of(&knots, 0), 0);
    assert_int_equal(knot_of(&knots, 0), knot_of(&knots, 1));
    assert_int_equal(knot_of(&knots, 2), 0);
    assert_int_equal(knot_of(&knots, 3), 0);
    assert_int_equal(knot_of(&knots, 4), 0);
    assert_int_equal(knots.waited_ns, 120 * MS);
    wait_knots_free(&knots);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_send_to_each_other),
        cmocka_unit_test(four_meet_at_a_barrier),
        cmocka_unit_test(a_lock_is_handed_on),
        cmocka_unit_test(one_waits_for_one_who_waits),
        cmocka_unit_test(a_signal_comes_and_then_the_lock),
        cmocka_unit_test(being_late_is_passed_on),
        cmocka_unit_test(one_may_look_back_elsewhere),
        cmocka_unit_test(alike_waits_are_one_group),
        cmocka_unit_test(part_of_a_wait_counts_in_part),
        cmocka_unit_test(what_nobody_explains_is_a_row_of_its_own),
        cmocka_unit_test(who_holds_up_the_rest_is_a_knot),
    };
    return cmocka_run_group_tests_name("blame", tests, NULL, NULL);
}
