/* What was measured keeps its rules, and each that is broken is found, with the event and by how much. */
#include "server/causes/sound.h"
#include "tests/unit/unit.h"

#include <string.h>

#define MS 1000000

enum { T = 1, HOLDER = 2, A = 7, B = 8 };

/* The holder runs to 40; T runs to 10, waits until it leaves at 25, goes on at 30, ends at 50. */
static struct intervals good(void)
{
    struct intervals all = {0};
    struct segment segment = {
        .to_ns = 25 * MS, .release = 5, .thread = HOLDER, .class = WAIT_EXCLUSION};
    struct wait wait = {.begin = 3,
                        .end = 6,
                        .from_ns = 10 * MS,
                        .to_ns = 30 * MS,
                        .thread = T,
                        .place = A,
                        .class = WAIT_EXCLUSION};
    uint32_t code = steps_code(&all.steps, (struct step){A, B, STEP_CODE, 0, 0}),
             late = steps_code(&all.steps, (struct step){A, A, STEP_LATENCY, 0, 0});
    intervals_start(&all, HOLDER, 0, 1);
    intervals_start(&all, T, 0, 2);
    intervals_ran(&all, T, code, 10 * MS, 3);
    intervals_ran(&all, HOLDER, code, 25 * MS, 5);
    intervals_waited(&all, wait, &segment, 1, late);
    intervals_ran(&all, HOLDER, code, 40 * MS, 7);
    intervals_ended(&all, HOLDER, 40 * MS, 7);
    intervals_ran(&all, T, code, 50 * MS, 8);
    intervals_ended(&all, T, 50 * MS, 8);
    return all;
}

struct looked {
    struct intervals all;
    struct why why;
    struct sound sound;
};

static void explain(struct looked *l)
{
    *l = (struct looked){.all = good()};
    l->why.paths.all = &l->all;
    assert_true(why_go_on(&l->why, UINT64_MAX / 2));
}

static void look(struct looked *l, uint64_t budget)
{
    unsigned turns = 0;
    sound_begin(&l->sound, &l->all, &l->why);
    while (!sound_step(&l->sound, budget))
        assert_true(++turns < 1000);
}

static void drop(struct looked *l)
{
    sound_free(&l->sound);
    why_free(&l->why);
    intervals_free(&l->all);
}

static bool has(const struct looked *l, enum sound_rule rule, uint32_t thread, int64_t is,
                int64_t should)
{
    for (size_t i = 0; i < l->sound.count; i++) {
        const struct breach *b = &l->sound.breaches[i];
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
    struct course_of *c = &l.all.threads[0];
    assert_int_equal(c->thread, HOLDER);
    c->items[1].to_ns = 20 * MS;
    look(&l, 1);
    assert_true(has(&l, SOUND_COURSE, HOLDER, 20 * MS, 25 * MS));
    drop(&l);
}

static void a_release_after_the_wait(void **context)
{
    struct looked l;
    (void)context;
    explain(&l);
    l.all.segments[0].to_ns = 31 * MS;
    look(&l, 100);
    assert_true(has(&l, SOUND_RELEASE, T, 31 * MS, 30 * MS));
    drop(&l);
    explain(&l);
    l.all.segments[0].to_ns = 9 * MS;
    look(&l, 100);
    assert_true(has(&l, SOUND_RELEASE, T, 9 * MS, 10 * MS));
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
    assert_true(has(&l, SOUND_ORDER, T, 25 * MS, 30 * MS));
    l.all.segments[0].guess = GUESS_LATE_RECEIVER; /* of which no edge says so */
    sound_free(&l.sound);
    look(&l, 100);
    assert_int_equal(l.sound.broken, 0);
    drop(&l);
}

/* What was explained is of another wait than what is there. */
static void sums_that_are_not_the_wait(void **context)
{
    struct looked l;
    (void)context;
    explain(&l);
    l.all.segments[0].to_ns = 24 * MS;
    look(&l, 100);
    assert_true(has(&l, SOUND_OVERLAP, T, 15 * MS, 14 * MS));
    assert_true(has(&l, SOUND_REASONS, T, 15 * MS, 14 * MS));
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
    assert_true(has(&l, SOUND_PATH, T, 50 * MS, 60 * MS));
    drop(&l);
}

static void each_rule_has_its_words(void **context)
{
    (void)context;
    for (unsigned rule = 0; rule < SOUND_RULES; rule++)
        assert_true(strlen(sound_word(rule)) > 10);
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
