/* Waits and deadlock cycles, compared with a walk from each thread. */
#include "server/queries/wait_start.h"
#include "tests/bruteforce.h"
#include "tests/unit/viewer_requests.h"
#include "wire/query_results.h"

#include <stdlib.h>

#define THREADS 40u

static const char description[] =
    "name=\"test\";line_types=({name=\"task\";letter=\"T\";});"
    "events=({name=\"runs\";shape=\"circle\";},{name=\"join\";shape=\"square\";"
    "wait_class=\"rendezvous\";});";

/* Makes a run in which thread i + 1 waits for thread next[i], unless that is 0. */
static struct run *run_of(const uint32_t *next, uint32_t count)
{
    struct run *run = run_new("waits", 1, NULL);
    assert_true(run_describe(run, "test", description));
    for (uint32_t i = 1; i <= count; i++)
        assert_int_equal(run_line(run, 1, i, "task", false, (struct run_line){0}), i);
    uint32_t runs = run_type(run, "runs"), join = run_type(run, "join");
    for (uint32_t i = 0; i < count; i++)
        order_insert(run->order,
                     &(struct arrival){.at = {i + 1, 1}, .thread = i + 1, .type = runs});
    for (uint32_t i = 0; i < count; i++)
        if (next[i])
            order_insert(run->order, &(struct arrival){.at = {i + 1, 2},
                                                       .thread = i + 1,
                                                       .type = join,
                                                       .about = next[i],
                                                       .time_ns = count - i});
    return run;
}

/* Returns the length of the cycle that contains a thread and no smaller one; 0 if there is none. */
static uint32_t cycle_at(const uint32_t *next, uint32_t thread)
{
    uint32_t length = 1;
    for (uint32_t t = next[thread - 1]; t && length <= THREADS; t = next[t - 1], length++) {
        if (t == thread)
            return length;
        if (t < thread)
            return 0;
    }
    return 0;
}

static void check(const uint32_t *next, uint64_t budget)
{
    struct run *run = run_of(next, THREADS);
    struct encoder out = answer_to(run, &query_waits, (struct encoder){0}, budget);
    struct response_chunk answer;
    struct decoder in;
    uint32_t waits = 0, cycles = 0;
    int64_t before = INT64_MIN;
    for (size_t at = 0; next_part(&out, &at, &answer, &in);) {
        if (answer.part == RESPONSE_WAIT) {
            struct wait_info w;
            decode_wait(&in, &w);
            assert_true(decoder_finish(&in) && w.about == next[w.thread - 1] &&
                        w.event.at.line == w.thread);
            assert_true(w.event.time_ns >= before); /* the longest first */
            before = w.event.time_ns;
            waits++;
            wait_info_free(&w);
        } else if (answer.part == RESPONSE_CYCLE) {
            struct cycle_info c;
            decode_cycle(&in, &c);
            assert_true(decoder_finish(&in) && c.count);
            assert_int_equal(c.count, cycle_at(next, c.steps[0].thread));
            for (uint32_t i = 0; i < c.count; i++)
                assert_true(c.steps[i].about == next[c.steps[i].thread - 1] &&
                            c.steps[i].about == c.steps[(i + 1) % c.count].thread);
            cycles++;
            free(c.steps);
        }
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        waits -= next[i] != 0;
        cycles -= cycle_at(next, i + 1) != 0;
    }
    assert_true(waits == 0 && cycles == 0);
    encoder_free(&out);
    run_free(run);
}

static void cycles_are_those_of_a_plain_walk(void **state)
{
    (void)state;
    unsigned random = 1;
    for (unsigned seed = 0; seed < 200; seed++) {
        uint32_t next[THREADS];
        for (uint32_t i = 0; i < THREADS; i++) {
            next[i] = execution_random(&random, THREADS + 1 + seed % 40);
            next[i] = next[i] > THREADS || next[i] == i + 1 ? 0 : next[i];
        }
        check(next, 2 + seed % 50);
    }
}

static void a_long_chain_has_none_and_a_ring_has_one(void **state)
{
    (void)state;
    uint32_t next[THREADS];
    for (uint32_t i = 0; i < THREADS; i++)
        next[i] = i + 1 < THREADS ? i + 2 : 0;
    check(next, 3);
    next[THREADS - 1] = 1;
    check(next, 3);
}

/* ---- timed waits, and durations of waits ---- */

static const char locks[] =
    "name=\"test\";line_types=({name=\"task\";letter=\"T\";},{name=\"lock\";letter=\"M\";});"
    "events=({name=\"runs\";shape=\"circle\";},{name=\"wait\";shape=\"square\";"
    "wait_class=\"rendezvous\";},"
    "{name=\"timed\";shape=\"square\";wait_class=\"rendezvous\";has_timeout=true;});";

/* Thread 1 waits at lock 3, which thread 2 uses in the meantime; then thread 1 resumes. */
static void a_thread_waited_since_its_own_event(void **state)
{
    (void)state;
    struct run *run = run_new("waited", 1, NULL);
    assert_true(run_describe(run, "test", locks));
    for (uint32_t i = 1; i <= 3; i++)
        run_line(run, 1, i, i < 3 ? "task" : "lock", false, (struct run_line){0});
    uint32_t runs = run_type(run, "runs"), wait = run_type(run, "wait");
    const struct arrival arrivals[] = {{.at = {3, 1}, .thread = 1, .type = wait, .time_ns = 10},
                                       {.at = {3, 2}, .thread = 2, .type = runs, .time_ns = 20},
                                       {.at = {3, 3}, .thread = 2, .type = runs, .time_ns = 30},
                                       {.at = {3, 4}, .thread = 1, .type = runs, .time_ns = 40},
                                       {.at = {3, 5}, .thread = 1, .type = runs, .time_ns = 50}};
    for (size_t i = 0; i < sizeof arrivals / sizeof *arrivals; i++)
        order_insert(run->order, &arrivals[i]);
    assert_int_equal(wait_start_time(run, 3), 0); /* not the previous event of the line */
    assert_int_equal(wait_start_previous(run, 3), 0);
    assert_int_equal(wait_start_time(run, 4), NO_POSITION); /* it was running */
    assert_int_equal(wait_start_previous(run, 4), 3);
    assert_int_equal(wait_start_time(run, 1), NO_POSITION);
    run_free(run);
}

/* Two threads wait for each other: a cycle if both wait forever, but not if one has a timeout. */
static void who_waits_for_a_time_is_in_no_cycle(void **state)
{
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct run *run = run_new("timed", 1, NULL);
        assert_true(run_describe(run, "test", locks));
        for (uint32_t i = 1; i <= 2; i++)
            run_line(run, 1, i, "task", false, (struct run_line){0});
        uint32_t type[2] = {run_type(run, "wait"), run_type(run, timed ? "timed" : "wait")};
        for (uint32_t i = 0; i < 2; i++)
            order_insert(run->order,
                         &(struct arrival){
                             .at = {i + 1, 1}, .thread = i + 1, .type = type[i], .about = 2 - i});
        struct encoder body = {0};
        encode_u8(&body, 1);
        struct encoder out = answer_to(run, &query_waits, body, 3);
        struct response_chunk answer;
        struct decoder in;
        unsigned cycles = 0, never = 0;
        for (size_t at = 0; next_part(&out, &at, &answer, &in);) {
            cycles += answer.part == RESPONSE_CYCLE;
            if (answer.part != RESPONSE_WAIT)
                continue;
            struct wait_info w;
            decode_wait(&in, &w);
            never += w.fate == OUTCOME_NEVER;
            wait_info_free(&w);
        }
        assert_int_equal(cycles, !timed);
        assert_int_equal(never, timed ? 0 : 2);
        encoder_free(&out);
        run_free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_are_those_of_a_plain_walk),
        cmocka_unit_test(a_long_chain_has_none_and_a_ring_has_one),
        cmocka_unit_test(a_thread_waited_since_its_own_event),
        cmocka_unit_test(who_waits_for_a_time_is_in_no_cycle),
    };
    return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
