/* Who waits for whom, against a plain walk from each thread. */
#include "tests/bruteforce.h"
#include "tests/unit/asking.h"
#include "wire/found.h"

#include <stdlib.h>

#define THREADS 40u

static const char description[] =
    "name=\"test\";kinds=({name=\"task\";letter=\"T\";});"
    "events=({name=\"runs\";shape=\"circle\";},{name=\"join\";shape=\"square\";waits=true;});";

/* Thread i + 1 waits for thread next[i], or, 0, does not. */
static struct run *run_of(const uint32_t *next, uint32_t count)
{
    struct run *run = run_new("waits", 1, NULL);
    assert_true(run_describe(run, "test", description));
    for (uint32_t i = 1; i <= count; i++)
        assert_int_equal(run_line(run, 1, i, "task", false, (struct run_line){0}), i);
    uint32_t runs = run_type(run, "runs"), join = run_type(run, "join");
    for (uint32_t i = 0; i < count; i++)
        order_accept(run->order,
                     &(struct arrival){.at = {i + 1, 1}, .thread = i + 1, .type = runs});
    for (uint32_t i = 0; i < count; i++)
        if (next[i])
            order_accept(run->order, &(struct arrival){.at = {i + 1, 2},
                                                       .thread = i + 1,
                                                       .type = join,
                                                       .about = next[i],
                                                       .time_ns = count - i});
    return run;
}

/* The length of the cycle that begins at a thread and has none of a lesser line, 0 there is none. */
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
    struct out out = answer_to(run, &question_waits, (struct out){0}, budget);
    struct answer answer;
    struct in in;
    uint32_t waits = 0, cycles = 0;
    int64_t before = INT64_MIN;
    for (size_t at = 0; next_part(&out, &at, &answer, &in);) {
        if (answer.part == PART_WAIT) {
            struct shown_wait w;
            get_wait(&in, &w);
            assert_true(in_done(&in) && w.about == next[w.thread - 1] &&
                        w.event.at.line == w.thread);
            assert_true(w.event.time_ns >= before); /* the longest first */
            before = w.event.time_ns;
            waits++;
            shown_wait_free(&w);
        } else if (answer.part == PART_CYCLE) {
            struct shown_cycle c;
            get_cycle(&in, &c);
            assert_true(in_done(&in) && c.count);
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
    out_free(&out);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_are_those_of_a_plain_walk),
        cmocka_unit_test(a_long_chain_has_none_and_a_ring_has_one),
    };
    return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
