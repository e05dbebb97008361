/* CPU states of a thread between its waits, by context switches, by samples, and by the order
 * alone; all by hand, in ms. */
#include "base/extremes.h"
#include "server/timing/call_contexts.h"
#include "server/timing/cpu_states.h"
#include "server/timing/thread_states.h"
#include "tests/unit/unit.h"
#include "wire/os_usage.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000

enum { T = 1, HOLDER = 2, PLACE = 7 };

static uint32_t step(struct intervals *all, uint32_t from, uint32_t to)
{
    return code_segments_code(&all->steps, (struct code_segment_key){from, to, STEP_CODE, 0, 0});
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
    intervals_add_run(&all, T, step(&all, 0, PLACE), 10 * MS, 3);
    intervals_add_wait(&all, wait, &segment, 1, 0);
    intervals_add_run(&all, T, step(&all, PLACE, 8), 40 * MS, 7);
    intervals_add_run(&all, T, step(&all, 8, 0), 50 * MS, 8);
    intervals_ended(&all, T, 50 * MS, 8);
    intervals_closed(&all, T, 60 * MS, 9);
    return all;
}

struct life {
    struct intervals all;
    struct cpu_states *spans;
    struct lifetimes lives;
    const struct thread_timeline *course;
};

static struct life life_new(void)
{
    struct life l = {.all = one_life(), .spans = cpu_states_new()};
    l.lives.spans = l.spans;
    l.course = intervals_for_thread(&l.all, T);
    return l;
}

static void life_free(struct life *l)
{
    cpu_states_free(l->spans);
    intervals_free(&l->all);
}

/* From 1 ms on: runs until 4, preempted until 6, runs until 8, sleeps until 31, after the wait,
 * runs until 35, sleeps until 38, runs. */
static void switch_it(struct cpu_states *spans)
{
    static const struct {
        uint8_t what, at_ms;
    } turns[] = {{SWITCH_ON, 1},  {SWITCH_OUT, 4},     {SWITCH_ON, 6}, {SWITCH_ASLEEP, 8},
                 {SWITCH_ON, 31}, {SWITCH_ASLEEP, 35}, {SWITCH_ON, 38}};
    for (unsigned i = 0; i < sizeof turns / sizeof *turns; i++)
        cpu_states_switched(spans, T, turns[i].what, i % 2, turns[i].at_ms * MS);
}

static struct thread_states sum(struct life *l, int64_t from, int64_t to)
{
    struct thread_states s;
    l->lives.all = &l->all;
    thread_states_sum(&l->lives, l->course, from, to, &s);
    return s;
}

static void expect(const struct thread_states *s, int64_t ready, int64_t running, int64_t blocked,
                   int64_t system)
{
    assert_int_equal(s->of[THREAD_STATE_RUNNABLE].total_ns, ready * MS);
    assert_int_equal(s->of[THREAD_STATE_RUNNING].total_ns, running * MS);
    assert_int_equal(s->of[THREAD_STATE_BLOCKED].total_ns, blocked * MS);
    assert_int_equal(s->of[THREAD_STATE_OFF_CPU].total_ns, system * MS);
}

/* Sums of the CPU states in a range. blocked_ns is what the order says of the rest. */
struct sums {
    int64_t running_ns, ready_ns, system_ns, blocked_ns;
};

static void add_span(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns)
{
    struct sums *sums = context;
    int64_t *of[] = {&sums->running_ns, &sums->ready_ns, &sums->system_ns};
    *of[is] += to_ns - from_ns;
}

static struct sums sums_of(const struct life *l, int64_t from_ns, int64_t to_ns)
{
    struct sums sums = {0};
    struct cpu_state_walk walk = {0};
    const struct thread_timeline *c = l->course;
    for (size_t i = intervals_at(c, from_ns); i < c->count && interval_begin(c, i) < to_ns; i++) {
        int64_t from = int64_max(interval_begin(c, i), from_ns),
                to = int64_min(c->items[i].to_ns, to_ns);
        if (to > from && c->items[i].is == INTERVAL_RUNS)
            cpu_states_visit(l->spans, c, &walk, from, to, add_span, &sums);
        else if (to > from && c->items[i].is == INTERVAL_LATENCY)
            sums.ready_ns += to - from;
        else if (to > from)
            sums.blocked_ns += to - from;
    }
    return sums;
}

static void switches_cut_what_the_order_calls_running(void **context)
{
    (void)context;
    struct life l = life_new();
    switch_it(l.spans);
    assert_int_equal(cpu_states_best(l.spans, T, CPU_SOURCE_ORDER), CPU_SOURCE_SWITCHES);
    struct thread_states s = sum(&l, INT64_MIN, INT64_MAX);
    expect(&s, 5 + 2, 3 + 2 + 4 + 12, 15, 2 + 1 + 3); /* the wait is as in the order */
    assert_int_equal(s.life_ns, 60 * MS);
    assert_true(s.active_ns == 29 * MS && s.let_go_ns == 5 * MS);
    s = sum(&l, 3 * MS, 9 * MS);
    expect(&s, 2, 1 + 2, 0, 1);
    struct sums of = sums_of(&l, 3 * MS, 33 * MS);
    assert_true(of.running_ns == 5 * MS && of.ready_ns == 7 * MS && of.blocked_ns == 15 * MS &&
                of.system_ns == 3 * MS);
    life_free(&l);
}

static void what_is_lost_runs(void **context)
{
    (void)context;
    struct life l = life_new();
    cpu_states_switched(l.spans, T, SWITCH_ASLEEP, 0, 2 * MS);
    cpu_states_switched(l.spans, T, SWITCH_LOST, 0, 5 * MS);
    cpu_states_switched(l.spans, T, SWITCH_OUT, 0, 9 * MS);
    cpu_states_switched(l.spans, T, SWITCH_ON, 0, 8 * MS); /* decreasing time: ignored */
    cpu_states_lost(l.spans, 3);
    struct thread_states s = sum(&l, INT64_MIN, 10 * MS);
    expect(&s, 1, 1 + 4, 0, 3);
    assert_int_equal(cpu_states_lost_count(l.spans), 3);
    life_free(&l);
}

/* A sleeping thread that is killed runs once more to exit; this may be observed by the sampling of
 * its system call. */
static void the_call_of_the_last_sleep_is_known(void **context)
{
    (void)context;
    struct cpu_states *spans = cpu_states_new();
    int64_t since_ns;
    uint64_t call;
    cpu_states_note_sleep(spans, T, SLEEP_IN_POLL, 150 * MS);
    assert_true(cpu_states_asleep(spans, T, 0, &since_ns, &call) && call == SLEEP_IN_POLL);
    cpu_states_note_sleep(spans, T, SLEEP_IN_NOT, 200 * MS);
    assert_false(cpu_states_asleep(spans, T, 0, &since_ns, &call));
    cpu_states_switched(spans, T, SWITCH_ASLEEP, 0, 300 * MS);
    assert_true(cpu_states_asleep(spans, T, 0, &since_ns, &call) && call == SLEEP_IN_NOT);
    cpu_states_note_sleep(spans, T, SLEEP_VALUE(SLEEP_IN_FUTEX, 0x7f00), 410 * MS);
    assert_true(cpu_states_asleep(spans, T, 0, &since_ns, &call));
    assert_true(SLEEP_VALUE_CALL(call) == SLEEP_IN_FUTEX && SLEEP_VALUE_WORD(call) == 0x7f00);
    cpu_states_switched(spans, T, SWITCH_ON, 0, 1300 * MS);
    cpu_states_note_sleep(spans, T, SLEEP_IN_NOT, 1310 * MS);
    assert_true(cpu_states_asleep(spans, T, 1320 * MS, &since_ns, &call));
    assert_true(since_ns == 300 * MS && SLEEP_VALUE_CALL(call) == SLEEP_IN_FUTEX);
    assert_false(cpu_states_asleep(spans, T, 0, &since_ns, &call));
    cpu_states_free(spans);
}

static void more_than_is_kept_is_counted(void **context)
{
    (void)context;
    struct cpu_states *spans = cpu_states_new();
    uint64_t kept = 0;
    for (int64_t i = 0; !cpu_states_max_switches(spans); i++, kept++)
        cpu_states_switched(spans, T, i % 2 ? SWITCH_OUT : SWITCH_ON, 0, i);
    /* the first that did not fit is noted */
    assert_int_equal(kept, cpu_states_max_switches(spans) + 1);
    assert_int_equal(cpu_states_lost_count(spans), 1);
    cpu_states_switched(spans, T, SWITCH_ON, 0, INT64_MAX);
    assert_int_equal(cpu_states_lost_count(spans), 2);
    cpu_states_free(spans);
    assert_int_equal(cpu_states_max_switches(NULL), 0);
}

/* Until 5 ms it ran for 3 and was runnable for 1; until 40 it ran for another 11; until its end it
 * ran for 16 and was runnable for 6. */
static void sample_it(struct cpu_states *spans)
{
    cpu_states_sampled(spans, T, false, 5 * MS, 3 * MS, false);
    cpu_states_sampled(spans, T, true, 5 * MS, 1 * MS, false);
    cpu_states_sampled(spans, T, false, 40 * MS, 14 * MS, false);
    /* sampled later, but reported earlier */
    cpu_states_sampled(spans, T, false, 52 * MS, 15 * MS, false);
    cpu_states_sampled(spans, T, false, 50 * MS, 16 * MS, true);
    cpu_states_sampled(spans, T, true, 50 * MS, 6 * MS, true);
    cpu_states_sampled(spans, T, false, 55 * MS, 99 * MS, false); /* after the end: ignored */
}

static void samples_have_their_sums(void **context)
{
    (void)context;
    struct life l = life_new();
    sample_it(l.spans);
    struct thread_states s = sum(&l, INT64_MIN, INT64_MAX);
    expect(&s, 5 + 1 + 5, 3 + 11 + 2, 15, 29 - 16 - 6);
    assert_int_equal(s.life_ns, 60 * MS);
    s = sum(&l, 5 * MS, 40 * MS); /* 15 ms of it are neither blocked nor wake-up latency */
    expect(&s, 5, 11, 15, 4);
    assert_int_equal(cpu_states_sample_gap_ns(l.spans, T, INT64_MIN, INT64_MAX), 35 * MS);
    l.lives.spans = NULL;
    s = sum(&l, INT64_MIN, INT64_MAX);
    expect(&s, 5, 29, 15, 0);
    life_free(&l);
}

/* The kernel updates its sums late: a thread cannot have run for more than the time between two
 * samples; the rest was before. */
static void what_comes_late_was_before(void **context)
{
    (void)context;
    struct life l = life_new();
    cpu_states_sampled(l.spans, T, false, 34 * MS, 5 * MS, false);
    cpu_states_sampled(l.spans, T, false, 36 * MS, 5 * MS, false);
    cpu_states_sampled(l.spans, T, false, 40 * MS, 12 * MS, false); /* 7 ms in 4 */
    struct thread_states s = sum(&l, 34 * MS, 40 * MS);
    expect(&s, 0, 2 + 4, 0, 0);
    s = sum(&l, INT64_MIN, 40 * MS);
    expect(&s, 5, 12, 15, 39 - 5 - 12 - 15);
    life_free(&l);
}

/* A thread that waits now and then, with samples each ms that are up to 5 ms late, except
 * for that at its exit: its states have the time that it ran, whole and in parts.  So has a thread
 * that always runs, with equally late samples. */
static void late_samples_have_the_sum_of_the_clock(void **context)
{
    (void)context;
    srand(7);
    for (unsigned round = 0; round < 300; round++) {
        struct life l = {.spans = cpu_states_new()};
        int64_t ran[60] = {0}, delayed[60] = {0};
        intervals_start(&l.all, T, 0, 0);
        for (int64_t at = 1; at < 60; at++) {
            bool waits = round % 2 && rand() % 3 == 0;
            struct wait_record wait = {.from_ns = (at - 1) * MS,
                                       .to_ns = at * MS,
                                       .thread = T,
                                       .unexplained = UNATTRIBUTED_UNTRACED};
            if (waits)
                intervals_add_wait(&l.all, wait, NULL, 0, 0);
            else
                intervals_add_run(&l.all, T, step(&l.all, 1, 2), at * MS, 1);
            int64_t active = waits ? 0 : MS, part = !active     ? 0
                                                    : round % 2 ? rand() % (MS + 1)
                                                                : MS;
            ran[at] = ran[at - 1] + part;
            delayed[at] = delayed[at - 1] + (active ? rand() % (MS - part + 1) : 0);
            int64_t late = at <= 5 ? 0 : round % 2 ? at - rand() % 6 : at - 5;
            cpu_states_sampled(l.spans, T, false, at * MS, (uint64_t)ran[late], false);
            cpu_states_sampled(l.spans, T, true, at * MS, (uint64_t)delayed[at], false);
        }
        intervals_ended(&l.all, T, 59 * MS, 2);
        cpu_states_sampled(l.spans, T, false, 59 * MS, (uint64_t)ran[59], true);
        cpu_states_sampled(l.spans, T, true, 59 * MS, (uint64_t)delayed[59], true);
        l.lives.spans = l.spans;
        l.course = intervals_for_thread(&l.all, T);
        struct thread_states whole = sum(&l, INT64_MIN, INT64_MAX);
        assert_int_equal(whole.of[THREAD_STATE_RUNNING].total_ns, ran[59]);
        assert_int_equal(whole.of[THREAD_STATE_RUNNABLE].total_ns, delayed[59]);
        assert_int_equal(whole.estimated_ns, 0);
        struct thread_states a = sum(&l, INT64_MIN, 0);
        for (int64_t from = 0, to; from < 60 * MS; from = to) {
            to = from + 1 + rand() % (9 * MS);
            struct thread_states part = sum(&l, from, to);
            thread_states_add(&a, &part);
        }
        for (unsigned i = 0; i < THREAD_STATES; i++)
            assert_int_equal(a.of[i].total_ns, whole.of[i].total_ns);
        life_free(&l);
    }
}

/* However the lifetime is cut in two, the states of both parts add up to those of the whole. */
static void parts_are_the_whole(void **context)
{
    (void)context;
    for (int samples = 0; samples < 2; samples++) {
        struct life l = life_new();
        if (samples)
            sample_it(l.spans);
        else
            switch_it(l.spans);
        struct thread_states whole = sum(&l, INT64_MIN, INT64_MAX);
        for (int64_t cut = 1; cut < 60 * MS; cut += 777777) {
            struct thread_states a = sum(&l, INT64_MIN, cut), b = sum(&l, cut, INT64_MAX);
            for (unsigned i = 0; i < THREAD_STATES; i++)
                assert_int_equal(a.of[i].total_ns + b.of[i].total_ns, whole.of[i].total_ns);
            assert_int_equal(a.life_ns + b.life_ns, 60 * MS);
        }
        life_free(&l);
    }
}

/* CPU clock: until 10 it ran for 8 of 9 ms; from 30 to 40 for 4 of 10; from 40 to 50 all the time.
 * Samples add that 2 of the other 7 ms were runnable. */
static void clock_it(struct cpu_states *spans)
{
    cpu_states_clocked(spans, T, 10 * MS, 8 * MS, false);
    cpu_states_clocked(spans, T, 40 * MS, 12 * MS, false);
    cpu_states_clocked(spans, T, 39 * MS, 99 * MS, false); /* decreasing time: ignored */
    cpu_states_clocked(spans, T, 50 * MS, 22 * MS, false);
}

static void a_clock_has_its_sums(void **state)
{
    struct life l = life_new();
    (void)state;
    clock_it(l.spans);
    assert_int_equal(cpu_states_best(l.spans, T, CPU_SOURCE_ORDER), CPU_SOURCE_CLOCK);
    assert_int_equal(cpu_states_best(l.spans, T, CPU_SOURCE_SAMPLES), CPU_SOURCE_ORDER);
    assert_false(cpu_states_delays(l.spans, T));
    struct sums of = sums_of(&l, 1 * MS, 50 * MS);
    assert_int_equal(of.running_ns, 22 * MS);
    assert_int_equal(of.system_ns, 7 * MS);
    assert_int_equal(cpu_states_uncertainty_ns(l.spans, l.course, 1 * MS, 50 * MS),
                     4 * MS); /* from 30 to 40: 4 running or 6 not running */
    /* Within each interval, the running time is taken to come first. */
    assert_int_equal(sums_of(&l, 1 * MS, 9 * MS).running_ns, 8 * MS);
    assert_int_equal(sums_of(&l, 9 * MS, 10 * MS).running_ns, 0);
    life_free(&l);
}

/* Runnable time known from samples is distributed; context switches take precedence over both. */
static void what_samples_know_is_shared_out(void **state)
{
    struct life l = life_new();
    (void)state;
    clock_it(l.spans);
    cpu_states_sampled(l.spans, T, true, 39 * MS, 5 * MS, false); /* 5 ms of the wait */
    cpu_states_sampled(l.spans, T, true, 41 * MS, 7 * MS, false);
    assert_true(cpu_states_delays(l.spans, T));
    struct sums of = sums_of(&l, 30 * MS, 40 * MS);
    assert_int_equal(of.running_ns + of.ready_ns + of.system_ns, 10 * MS);
    assert_int_equal(of.running_ns, 4 * MS);
    assert_int_equal(of.ready_ns, 1 * MS);
    cpu_states_switched(l.spans, T, SWITCH_ON, 0, 1 * MS);
    assert_int_equal(cpu_states_best(l.spans, T, CPU_SOURCE_ORDER), CPU_SOURCE_SWITCHES);
    assert_int_equal(cpu_states_best(l.spans, T, CPU_SOURCE_CLOCK), CPU_SOURCE_CLOCK);
    life_free(&l);
}

/* What it ran before the first reading of its clock is unknown: running, by the order. */
static void what_was_before_the_clock_is_not_known(void **state)
{
    struct life l = life_new();
    (void)state;
    cpu_states_clocked(l.spans, T, 40 * MS, 5 * MS, true);
    cpu_states_clocked(l.spans, T, 50 * MS, 8 * MS, false);
    struct sums of = sums_of(&l, 1 * MS, 50 * MS);
    assert_int_equal(of.running_ns, (9 + 10 + 3) * MS);
    assert_int_equal(of.system_ns, 7 * MS);
    life_free(&l);
}

struct known {
    unsigned count;
    uint8_t accuracies[8];
};

static void keep_accuracy(void *context, const struct thread_state_interval *spell)
{
    struct known *k = context;
    assert_true(k->count < 8);
    k->accuracies[k->count++] = spell->accuracy;
}

/* Each state says how well it is known: of the clock, all of one state from 40 to 50 ms. */
static void what_is_estimated_says_so(void **state)
{
    static const uint8_t wanted[] = {CPU_STATE_EXACT, CPU_STATE_ESTIMATE, CPU_STATE_EXACT,
                                     CPU_STATE_EXACT, CPU_STATE_ESTIMATE, CPU_STATE_SHARE,
                                     CPU_STATE_SHARE, CPU_STATE_EXACT};
    struct life l = life_new();
    struct known k = {0};
    (void)state;
    cpu_states_clocked(l.spans, T, 35 * MS, 5 * MS, true);
    cpu_states_clocked(l.spans, T, 50 * MS, 12 * MS, false);
    l.lives.all = &l.all;
    thread_states_visit(&l.lives, l.course, INT64_MIN, INT64_MAX, keep_accuracy, &k);
    assert_int_equal(k.count, 8);
    assert_memory_equal(k.accuracies, wanted, sizeof wanted);
    struct thread_states s = sum(&l, INT64_MIN, INT64_MAX);
    assert_int_equal(s.estimated_ns, (9 + 5) * MS);
    life_free(&l);
}

/* A thread that was killed lived up to the last record of it, whatever the source of its states. */
static void a_killed_thread_lives_up_to_its_last_record(void **state)
{
    struct life l = {.spans = cpu_states_new()};
    struct call_contexts calls = {0};
    int64_t begin, end;
    (void)state;
    intervals_start(&l.all, T, 0, 0);
    intervals_add_run(&l.all, T, step(&l.all, 1, 2), 10 * MS, 1);
    cpu_states_sampled(l.spans, T, false, 30 * MS, 25 * MS, false);
    l.lives = (struct lifetimes){.all = &l.all, .records = l.spans, .calls = &calls};
    l.course = intervals_for_thread(&l.all, T);
    struct thread_states s = sum(&l, INT64_MIN, INT64_MAX);
    expect(&s, 0, 30, 0, 0); /* by the order: an upper bound */
    l.lives.spans = l.spans;
    s = sum(&l, INT64_MIN, INT64_MAX);
    expect(&s, 0, 25, 0, 5);
    struct call_context_thread *called = call_contexts_thread(&calls, 1, 1);
    struct call_context root = {.sums = {.open = 1}};
    called->items = malloc(sizeof root);
    *called->items = root;
    called->count = called->room = 1;
    called->head.time_ns = 40 * MS;
    call_contexts_announced(&calls, called, T);
    assert_true(thread_states_lifetime(&l.lives, l.course, &begin, &end));
    assert_true(begin == 0 && end == 40 * MS);
    s = sum(&l, INT64_MIN, INT64_MAX);
    expect(&s, 0, 35, 0, 5);
    assert_int_equal(s.estimated_ns, 10 * MS);
    intervals_ended(&l.all, T, 20 * MS, 2); /* an exit is certain */
    assert_true(thread_states_lifetime(&l.lives, l.course, &begin, &end));
    assert_int_equal(end, 20 * MS);
    call_contexts_free(&calls);
    life_free(&l);
}

static void goes_on(const struct life *l, enum cpu_state_source source, int64_t ready_ms)
{
    struct resume_delay g = resume_delay_measure(l->spans, &l->all, &l->all.waits[0], false);
    assert_int_equal(g.took_ns, 5 * MS);
    assert_int_equal(g.source, source);
    assert_int_equal(g.ready_ns, ready_ms * MS);
}

/* T was unblocked at 25 and resumed at 30. */
static void ready_is_apart_from_latency(void **state)
{
    (void)state;
    static const struct {
        uint8_t what, at_ms;
    } turns[] = {{SWITCH_ON, 1},   {SWITCH_ASLEEP, 11}, {SWITCH_ON, 27},
                 {SWITCH_OUT, 28}, {SWITCH_ON, 29},     {SWITCH_ASLEEP, 31}};
    for (unsigned lost = 0; lost < 2; lost++) {
        struct life l = life_new();
        goes_on(&l, CPU_SOURCE_ORDER, 0);
        cpu_states_sampled(l.spans, T, true, 20 * MS, 0, false); /* the interval is too coarse */
        cpu_states_sampled(l.spans, T, true, 35 * MS, 3 * MS, false);
        goes_on(&l, CPU_SOURCE_ORDER, 0);
        for (unsigned i = 0; i < sizeof turns / sizeof *turns; i++) {
            goes_on(&l, CPU_SOURCE_ORDER, 0); /* the switches so far end earlier */
            cpu_states_switched(l.spans, T, lost && i == 3 ? SWITCH_LOST : turns[i].what, 0,
                                turns[i].at_ms * MS);
        }
        goes_on(&l, lost ? CPU_SOURCE_ORDER : CPU_SOURCE_SWITCHES,
                lost ? 0 : 3); /* runnable from 25 to 27 and from 28 to 29 */
        life_free(&l);
    }
    struct life l = life_new(); /* the run ends without another switch */
    for (unsigned i = 0; i < 5; i++)
        cpu_states_switched(l.spans, T, turns[i].what, 0, turns[i].at_ms * MS);
    goes_on(&l, CPU_SOURCE_ORDER, 0);
    struct resume_delay g = resume_delay_measure(l.spans, &l.all, &l.all.waits[0], true);
    assert_int_equal(g.source, CPU_SOURCE_SWITCHES);
    assert_int_equal(g.ready_ns, 3 * MS);
    life_free(&l);
}

/* It ran for 2 of the 20 ms of the wait: even if all of that was after it was unblocked, it was
 * runnable for 3. */
static void ready_by_clock_is_the_least(void **state)
{
    (void)state;
    struct life l = life_new();
    cpu_states_clocked(l.spans, T, 10 * MS, 8 * MS, false);
    goes_on(&l, CPU_SOURCE_ORDER, 0);
    cpu_states_clocked(l.spans, T, 30 * MS, 10 * MS, false);
    goes_on(&l, CPU_SOURCE_CLOCK, 3);
    cpu_states_clocked(l.spans, T, 40 * MS, 12 * MS, false);
    goes_on(&l, CPU_SOURCE_CLOCK, 3);
    life_free(&l);
    l = life_new();
    cpu_states_clocked(l.spans, T, 10 * MS, 8 * MS, false);
    cpu_states_clocked(l.spans, T, 40 * MS, 15 * MS, false); /* 7 ms, in the wait or after it */
    goes_on(&l, CPU_SOURCE_CLOCK, 0);
    life_free(&l);
    l = life_new();
    cpu_states_clocked(l.spans, T, 10 * MS, 8 * MS, false);
    cpu_states_clocked(l.spans, T, 30 * MS, 10 * MS, true);
    goes_on(&l, CPU_SOURCE_ORDER, 0);
    life_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_is_apart_from_latency),
        cmocka_unit_test(ready_by_clock_is_the_least),
        cmocka_unit_test(a_clock_has_its_sums),
        cmocka_unit_test(what_samples_know_is_shared_out),
        cmocka_unit_test(what_was_before_the_clock_is_not_known),
        cmocka_unit_test(switches_cut_what_the_order_calls_running),
        cmocka_unit_test(what_is_lost_runs),
        cmocka_unit_test(the_call_of_the_last_sleep_is_known),
        cmocka_unit_test(more_than_is_kept_is_counted),
        cmocka_unit_test(samples_have_their_sums),
        cmocka_unit_test(what_is_estimated_says_so),
        cmocka_unit_test(a_killed_thread_lives_up_to_its_last_record),
        cmocka_unit_test(what_comes_late_was_before),
        cmocka_unit_test(late_samples_have_the_sum_of_the_clock),
        cmocka_unit_test(parts_are_the_whole),
    };
    return cmocka_run_group_tests_name("spans", tests, NULL, NULL);
}
