/* Consistency checks of times: consistent data passes, and each violated rule is reported, with
 * the event and the amount. */
#include "server/analysis/timing_consistency.h"
#include "tests/unit/unit.h"

#include <string.h>

#define MS 1000000

enum { T = 1, HOLDER = 2, A = 7, B = 8 };

/* The holder runs until 40; T runs until 10, waits until the holder releases at 25, resumes at 30,
 * and ends at 50. */
static struct intervals good(void)
{
    struct intervals all = {0};
    struct wait_interval segment = {
        .to_ns = 25 * MS, .release = 5, .thread = HOLDER, .class = WAIT_CONTENTION};
    struct wait_record wait = {.begin = 3,
                               .end = 6,
                               .from_ns = 10 * MS,
                               .to_ns = 30 * MS,
                               .thread = T,
                               .place = A,
                               .class = WAIT_CONTENTION};
    uint32_t code =
                 code_segments_code(&all.steps, (struct code_segment_key){A, B, STEP_CODE, 0, 0}),
             late = code_segments_code(&all.steps,
                                       (struct code_segment_key){A, A, STEP_LATENCY, 0, 0});
    intervals_start(&all, HOLDER, 0, 1);
    intervals_start(&all, T, 0, 2);
    intervals_add_run(&all, T, code, 10 * MS, 3);
    intervals_add_run(&all, HOLDER, code, 25 * MS, 5);
    intervals_add_wait(&all, wait, &segment, 1, late);
    intervals_add_run(&all, HOLDER, code, 40 * MS, 7);
    intervals_ended(&all, HOLDER, 40 * MS, 7);
    intervals_add_run(&all, T, code, 50 * MS, 8);
    intervals_ended(&all, T, 50 * MS, 8);
    return all;
}

struct looked {
    struct intervals all;
    struct wait_attribution why;
    struct timing_consistency sound;
};

static void explain(struct looked *l)
{
    *l = (struct looked){.all = good()};
    l->why.paths.all = &l->all;
    assert_true(wait_attribution_step(&l->why, UINT64_MAX / 2));
}

static void look(struct looked *l, uint64_t budget)
{
    unsigned turns = 0;
    timing_consistency_begin(&l->sound, &l->all, &l->why);
    while (!timing_consistency_step(&l->sound, budget))
        assert_true(++turns < 1000);
}

static void drop(struct looked *l)
{
    timing_consistency_free(&l->sound);
    wait_attribution_free(&l->why);
    intervals_free(&l->all);
}

static bool has(const struct looked *l, enum timing_rule rule, uint32_t thread, int64_t is,
                int64_t should)
{
    for (size_t i = 0; i < l->sound.count; i++) {
        const struct violation *b = &l->sound.breaches[i];
        if (b->rule == rule && b->thread == thread && b->is_ns == is && b->should_ns == should)
            return true;
    }
    return false;
}

static void what_is_good_is_found_good_in_whatever_steps(void **context)
{
    (void)context;
    for (uint64_t budget = 1; budget < 50; budget++) {
        struct looked l;
        explain(&l);
        look(&l, budget);
        assert_int_equal(l.sound.broken, 0);
        assert_int_equal(l.sound.wait, 1);
        drop(&l);
    }
}

static void an_interval_that_goes_back(void **context)
{
    struct looked l;
    (void)context;
    explain(&l);
    struct thread_timeline *c = &l.all.threads[0];
    assert_int_equal(c->thread, HOLDER);
    c->items[1].to_ns = 20 * MS;
    look(&l, 1);
    assert_true(has(&l, TIMING_RULE_COURSE, HOLDER, 20 * MS, 25 * MS));
    drop(&l);
}

static void a_release_after_the_wait(void **context)
{
    struct looked l;
    (void)context;
    explain(&l);
    l.all.segments[0].to_ns = 31 * MS;
    look(&l, 100);
    assert_true(has(&l, TIMING_RULE_RELEASE, T, 31 * MS, 30 * MS));
    drop(&l);
    explain(&l);
    l.all.segments[0].to_ns = 9 * MS;
    look(&l, 100);
    assert_true(has(&l, TIMING_RULE_RELEASE, T, 9 * MS, 10 * MS));
    assert_int_equal(l.sound.breaches[0].position, 3);
    drop(&l);
}

static void a_release_behind_the_end_in_the_order(void **context)
{
    struct looked l;
    (void)context;
    explain(&l);
    l.all.segments[0].release = 6;
    look(&l, 100);
    assert_true(has(&l, TIMING_RULE_ORDER, T, 25 * MS, 30 * MS));
    l.all.segments[0].guess = GUESS_LATE_RECEIVER; /* a guess, which no edge supports */
    timing_consistency_free(&l.sound);
    look(&l, 100);
    assert_int_equal(l.sound.broken, 0);
    drop(&l);
}

/* The wait was changed after it was attributed. */
static void sums_that_are_not_the_wait(void **context)
{
    struct looked l;
    (void)context;
    explain(&l);
    l.all.segments[0].to_ns = 24 * MS;
    look(&l, 100);
    assert_true(has(&l, TIMING_RULE_OVERLAP, T, 15 * MS, 14 * MS));
    assert_true(has(&l, TIMING_RULE_REASONS, T, 15 * MS, 14 * MS));
    drop(&l);
}

static void a_path_that_ends_too_early(void **context)
{
    struct looked l;
    (void)context;
    explain(&l);
    l.all.threads[1].end_ns = 60 * MS;
    look(&l, 100);
    assert_int_equal(l.sound.broken, 1);
    assert_true(has(&l, TIMING_RULE_PATH, T, 50 * MS, 60 * MS));
    drop(&l);
}

static void each_rule_has_its_words(void **context)
{
    (void)context;
    for (unsigned rule = 0; rule < TIMING_RULE_RULES; rule++)
        assert_true(strlen(timing_rule_name(rule)) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_good_is_found_good_in_whatever_steps),
        cmocka_unit_test(an_interval_that_goes_back),
        cmocka_unit_test(a_release_after_the_wait),
        cmocka_unit_test(a_release_behind_the_end_in_the_order),
        cmocka_unit_test(sums_that_are_not_the_wait),
        cmocka_unit_test(a_path_that_ends_too_early),
        cmocka_unit_test(each_rule_has_its_words),
    };
    return cmocka_run_group_tests_name("sound", tests, NULL, NULL);
}
