/* Thread states: they fill the lifetime, and follow from the intervals; by hand, in ms. */
#include "server/timing/thread_states.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000

enum { T = 1, HOLDER = 2, PLACE = 7 };

struct listing {
    struct thread_state_interval spells[32];
    unsigned count;
};

static void keep(void *context, const struct thread_state_interval *spell)
{
    struct listing *l = context;
    assert_true(l->count < 32);
    l->spells[l->count++] = *spell;
}

static uint32_t step(struct intervals *all, uint32_t from, uint32_t to, enum code_segment_kind is)
{
    return code_segments_code(&all->steps, (struct code_segment_key){from, to, (uint8_t)is, 0, 0});
}

/* T is created at 0, starts at 1, requests the lock at 10, which its holder unlocks at 25,
 * acquires it at 30, exits at 50 and is joined at 60. */
static struct intervals one_life(void)
{
    struct intervals all = {0};
    struct wait_interval segment = {.to_ns = 25 * MS, .release = 5, .thread = HOLDER};
    struct wait_record wait = {.begin = 3,
                               .end = 6,
                               .from_ns = 10 * MS,
                               .to_ns = 30 * MS,
                               .thread = T,
                               .about = 9,
                               .place = PLACE,
                               .class = WAIT_CONTENTION};
    intervals_set_created(&all, T, HOLDER, 0, 1);
    intervals_start(&all, T, 1 * MS, 2);
    intervals_add_run(&all, T, step(&all, 0, PLACE, STEP_CODE), 10 * MS, 3);
    intervals_add_wait(&all, wait, &segment, 1, step(&all, PLACE, PLACE, STEP_LATENCY));
    intervals_add_run(&all, T, step(&all, PLACE, 8, STEP_CODE), 40 * MS, 7);
    intervals_add_run(&all, T, step(&all, 8, 0, STEP_CODE), 50 * MS, 8);
    intervals_ended(&all, T, 50 * MS, 8);
    intervals_closed(&all, T, 60 * MS, 9);
    return all;
}

static void expect(const struct listing *l, unsigned i, unsigned state, int64_t from, int64_t to)
{
    if (i >= l->count || l->spells[i].state != state || l->spells[i].from_ns != from ||
        l->spells[i].to_ns != to)
        fail_msg("spell %u of %u: %u from %lld to %lld, not %u from %lld to %lld", i, l->count,
                 l->spells[i].state, (long long)l->spells[i].from_ns, (long long)l->spells[i].to_ns,
                 state, (long long)from, (long long)to);
}

static void a_life_is_told_by_its_states(void **context)
{
    (void)context;
    struct intervals all = one_life();
    struct lifetimes lives = {.all = &all};
    struct thread_states s;
    struct listing l = {.count = 0};
    thread_states_sum(&lives, intervals_for_thread(&all, T), INT64_MIN, INT64_MAX, &s);
    assert_int_equal(s.of[THREAD_STATE_CREATED].total_ns, 1 * MS);
    assert_int_equal(s.of[THREAD_STATE_RUNNING].total_ns, 29 * MS);
    assert_int_equal(s.of[THREAD_STATE_BLOCKED].total_ns, 15 * MS);
    assert_int_equal(s.of[THREAD_STATE_RUNNABLE].total_ns, 5 * MS);
    assert_int_equal(s.of[THREAD_STATE_EXITED].total_ns, 10 * MS);
    assert_int_equal(s.life_ns, 60 * MS);
    assert_int_equal(s.of[THREAD_STATE_RUNNING].count, 2);
    assert_int_equal(s.of[THREAD_STATE_RUNNING].least_ns, 9 * MS);
    assert_int_equal(s.of[THREAD_STATE_RUNNING].most_ns, 20 * MS);
    assert_int_equal(s.unexplained, 0);
    thread_states_visit(&lives, intervals_for_thread(&all, T), INT64_MIN, INT64_MAX, keep, &l);
    assert_int_equal(l.count, 6);
    expect(&l, 0, THREAD_STATE_CREATED, 0, 1 * MS);
    expect(&l, 1, THREAD_STATE_RUNNING, 1 * MS, 10 * MS);
    expect(&l, 2, THREAD_STATE_BLOCKED, 10 * MS, 25 * MS);
    expect(&l, 3, THREAD_STATE_RUNNABLE, 25 * MS, 30 * MS);
    expect(&l, 4, THREAD_STATE_RUNNING, 30 * MS, 50 * MS);
    expect(&l, 5, THREAD_STATE_EXITED, 50 * MS, 60 * MS);
    assert_true(l.spells[2].place == PLACE && l.spells[2].about == 9 && l.spells[2].position == 3);
    assert_true(l.spells[4].place == PLACE && l.spells[4].position == 6);
    intervals_free(&all);
}

static void a_part_of_it_is_cut_at_its_ends(void **context)
{
    (void)context;
    struct intervals all = one_life();
    struct lifetimes lives = {.all = &all};
    for (int64_t from = 0; from < 60; from += 3)
        for (int64_t to = from + 1; to <= 60; to += 7) {
            struct thread_states s;
            struct listing l = {.count = 0};
            thread_states_sum(&lives, intervals_for_thread(&all, T), from * MS, to * MS, &s);
            assert_int_equal(s.life_ns, (to - from) * MS);
            thread_states_visit(&lives, intervals_for_thread(&all, T), from * MS, to * MS, keep,
                                &l);
            assert_int_equal(l.spells[0].from_ns, from * MS);
            assert_int_equal(l.spells[l.count - 1].to_ns, to * MS);
            for (unsigned i = 1; i < l.count; i++)
                assert_int_equal(l.spells[i].from_ns, l.spells[i - 1].to_ns);
        }
    intervals_free(&all);
}

static void what_nobody_ended_counts_as_blocked(void **context)
{
    (void)context;
    struct intervals all = {0};
    struct lifetimes lives = {.all = &all};
    struct thread_states s;
    struct wait_record wait = {.from_ns = 10,
                               .to_ns = 30,
                               .thread = T,
                               .unexplained = UNATTRIBUTED_UNTRACED},
                       timer = {.from_ns = 30, .to_ns = 70, .thread = T, .class = WAIT_TIMEOUT};
    intervals_start(&all, T, 0, 1);
    intervals_add_run(&all, T, step(&all, 0, 1, STEP_CODE), 10, 2);
    intervals_add_wait(&all, wait, NULL, 0, step(&all, 1, 1, STEP_UNKNOWN));
    intervals_add_wait(&all, timer, NULL, 0, step(&all, 1, 1, STEP_TIMEOUT));
    thread_states_sum(&lives, intervals_for_thread(&all, T), INT64_MIN, INT64_MAX, &s);
    assert_int_equal(s.of[THREAD_STATE_BLOCKED].total_ns, 60);
    assert_int_equal(s.of[THREAD_STATE_BLOCKED].count, 2);
    assert_int_equal(s.unexplained_ns, 20);
    assert_int_equal(s.life_ns, 70);
    intervals_free(&all);
}

static void who_waits_still_is_blocked_to_the_end(void **context)
{
    (void)context;
    struct intervals all = {0};
    struct wait_record open[] = {{.from_ns = 5, .to_ns = 9, .thread = 1},
                                 {.from_ns = 10, .to_ns = 100, .thread = 2, .place = PLACE}};
    struct lifetimes lives = {.all = &all, .open = open, .open_count = 2};
    struct listing l = {.count = 0};
    intervals_start(&all, 2, 0, 1);
    intervals_add_run(&all, 2, step(&all, 0, 1, STEP_CODE), 10, 2);
    intervals_start(&all, 3, 20, 3);
    thread_states_visit(&lives, intervals_for_thread(&all, 2), INT64_MIN, INT64_MAX, keep, &l);
    assert_int_equal(l.count, 2);
    expect(&l, 0, THREAD_STATE_RUNNING, 0, 10);
    expect(&l, 1, THREAD_STATE_BLOCKED, 10, 100);
    assert_int_equal(l.spells[1].place, PLACE);
    l.count = 0;
    thread_states_visit(&lives, intervals_for_thread(&all, 3), INT64_MIN, INT64_MAX, keep, &l);
    assert_int_equal(l.count, 0);
    intervals_free(&all);
}

static void who_was_made_and_never_began_is_in_start(void **context)
{
    (void)context;
    struct intervals all = {0};
    struct lifetimes lives = {.all = &all};
    struct thread_states s;
    intervals_set_created(&all, T, HOLDER, 10, 1);
    intervals_closed(&all, T, 25, 2);
    thread_states_sum(&lives, intervals_for_thread(&all, T), INT64_MIN, INT64_MAX, &s);
    assert_int_equal(s.of[THREAD_STATE_CREATED].total_ns, 15);
    assert_int_equal(s.life_ns, 15);
    intervals_free(&all);
}

/* Checks that parts of a timeline have the same state intervals as the whole, if cut where one
 * begins. */
static void expect_pieces(const struct lifetimes *lives, const struct thread_timeline *course)
{
    for (uint64_t most = 1; most < 5; most++) {
        struct listing whole = {.count = 0}, pieces = {.count = 0};
        int64_t from = INT64_MIN, to;
        size_t looked;
        thread_states_visit(lives, course, INT64_MIN, INT64_MAX, keep, &whole);
        do {
            to = thread_states_cut(lives, course, from, most, &looked);
            thread_states_visit(lives, course, from, to, keep, &pieces);
            from = to;
        } while (to != INT64_MAX);
        assert_int_equal(pieces.count, whole.count);
        for (unsigned i = 0; i < whole.count; i++)
            expect(&pieces, i, whole.spells[i].state, whole.spells[i].from_ns,
                   whole.spells[i].to_ns);
    }
}

/* A task that requests a lock and stays on its worker thread ran on: no piece ends there. */
static void requests_of_running_tasks_cut_nothing(void **context)
{
    (void)context;
    struct intervals all = {0};
    struct cpu_states *spans = cpu_states_new();
    struct placements *tasks = cpu_states_placements(spans);
    struct lifetimes lives = {.all = &all, .spans = spans, .source = CPU_SOURCE_SWITCHES};
    struct listing whole = {.count = 0};
    struct wait_interval segment = {.to_ns = 30, .release = 5, .thread = HOLDER};
    struct wait_record request = {
        .from_ns = 10, .to_ns = 12, .thread = T, .place = PLACE, .class = WAIT_CONTENTION};
    uint32_t on = placements_carrier(tasks, 0, 1);
    placements_switched(
        tasks, (struct placement_switch){.on = on, .begins = 1, .begins_line = T, .at_ns = 0});
    placements_switched(
        tasks,
        (struct placement_switch){.on = on, .ends = 1, .ends_line = T, .since_ns = 0, .at_ns = 20});
    intervals_set_created(&all, T, HOLDER, 0, 1);
    intervals_start(&all, T, 0, 2);
    intervals_add_run(&all, T, step(&all, 0, PLACE, STEP_CODE), 10, 3);
    intervals_add_wait(&all, request, NULL, 0, 0);
    intervals_add_run(&all, T, step(&all, PLACE, 8, STEP_CODE), 20, 4);
    request.from_ns = 20;
    request.to_ns = 32;
    intervals_add_wait(&all, request, &segment, 1, step(&all, PLACE, PLACE, STEP_LATENCY));
    intervals_ended(&all, T, 40, 6);
    thread_states_visit(&lives, intervals_for_thread(&all, T), INT64_MIN, INT64_MAX, keep, &whole);
    expect(&whole, 0, THREAD_STATE_RUNNING, 0, 20);
    expect(&whole, 1, THREAD_STATE_BLOCKED, 20, 30);
    expect_pieces(&lives, intervals_for_thread(&all, T));
    cpu_states_free(spans);
    intervals_free(&all);
}

/* In random lifetimes, the states fill the whole time. */
static void random_lives_are_filled(void **context)
{
    (void)context;
    srand(1);
    for (unsigned round = 0; round < 2000; round++) {
        struct intervals all = {0};
        struct lifetimes lives = {.all = &all};
        struct thread_states s;
        int64_t at = rand() % 20, made = at, begin, end;
        intervals_set_created(&all, T, HOLDER, made, 0);
        intervals_start(&all, T, at += rand() % 5, 1);
        for (int i = 0, n = rand() % 12; i < n; i++) {
            int64_t to = at + rand() % 6;
            struct wait_record wait = {.from_ns = at, .to_ns = to, .thread = T};
            struct wait_interval segment = {.to_ns = at + (to - at) / 2};
            if (rand() % 2)
                intervals_add_run(&all, T, step(&all, 1, 2, STEP_CODE), to, 2);
            else
                intervals_add_wait(&all, wait, &segment, rand() % 2, 0);
            at = to;
        }
        intervals_ended(&all, T, at += rand() % 3, 3);
        intervals_closed(&all, T, at += rand() % 3, 4);
        thread_states_sum(&lives, intervals_for_thread(&all, T), INT64_MIN, INT64_MAX, &s);
        assert_int_equal(s.life_ns, at - made);
        expect_pieces(&lives, intervals_for_thread(&all, T));
        if (thread_states_lifetime(&lives, intervals_for_thread(&all, T), &begin, &end))
            assert_true(begin == made && end == at);
        intervals_free(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_is_told_by_its_states),
        cmocka_unit_test(a_part_of_it_is_cut_at_its_ends),
        cmocka_unit_test(what_nobody_ended_counts_as_blocked),
        cmocka_unit_test(who_waits_still_is_blocked_to_the_end),
        cmocka_unit_test(who_was_made_and_never_began_is_in_start),
        cmocka_unit_test(requests_of_running_tasks_cut_nothing),
        cmocka_unit_test(random_lives_are_filled),
    };
    return cmocka_run_group_tests_name("lives", tests, NULL, NULL);
}
