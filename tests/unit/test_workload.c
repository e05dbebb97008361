/* Synthetic workloads of every kind, with up to 200 lines: the order compared with full vector
 * clocks. */
#include "tests/bench/workload.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX 200
#define HAPPENINGS 2500

struct told { /* an event, with the vector clock of its point */
    struct event_id at;
    uint32_t point, task, step; /* step: its number in its task, from 1 */
    /* by task: number of its steps that happened before, or are this one */
    uint32_t clock[LINES_MAX + 1];
};

static struct happening happenings[HAPPENINGS];
static struct told told[2 * HAPPENINGS];
static uint32_t told_count, of_number[LINES_MAX + 1][HAPPENINGS + 1]; /* 1 + index of an event */
static uint32_t of_step[LINES_MAX + 1][HAPPENINGS + 2];

static void join(uint32_t *clock, const uint32_t *other)
{
    for (uint32_t i = 1; i <= LINES_MAX; i++)
        clock[i] = other[i] > clock[i] ? other[i] : clock[i];
}

static void join_event(uint32_t *clock, struct event_id at)
{
    if (at.line)
        join(clock, told[of_number[at.line][at.number] - 1].clock);
}

/* Types of events on a shared line, each with a type that it follows. */
static const uint32_t ends[][2] = {{WORK_TAKEN, WORK_POST},
                                   {WORK_READ, WORK_WRITE_END},
                                   {WORK_WRITE, WORK_WRITE_END},
                                   {WORK_WRITE, WORK_READ_END}};

/* Makes an execution and the vector clock of each event. A task is sequential across all lines, so
 * clocks count the steps of tasks. */
static void make(struct workload *w)
{
    /* by type and line: joined clocks */
    static uint32_t ended[WORK_TYPES][LINES_MAX + 1][LINES_MAX + 1];
    static uint32_t steps[LINES_MAX + 1];
    memset(ended, 0, sizeof ended);
    memset(steps, 0, sizeof steps);
    memset(of_number, 0, sizeof of_number);
    memset(of_step, 0, sizeof of_step);
    told_count = 0;
    for (uint32_t i = 0; i < HAPPENINGS; i++) {
        struct happening *h = &happenings[i];
        static uint32_t clock[LINES_MAX + 1];
        memset(clock, 0, sizeof clock);
        workload_next(w, h);
        for (unsigned k = 0; k < h->count; k++) {
            const struct arrival *a = &h->arrivals[k];
            bool shared = workload_is_shared(w, a->at.line);
            if (!shared && a->at.number > 1)
                join_event(clock, (struct event_id){a->at.line, a->at.number - 1});
            join_event(clock, a->after[0]);
            if (a->relation == RELATION_RECEIVE)
                join_event(clock, h->partners[k]);
            for (size_t e = 0; shared && e < sizeof ends / sizeof *ends; e++)
                if (ends[e][0] == a->type)
                    join(clock, ended[ends[e][1]][a->at.line]);
        }
        uint32_t task = h->arrivals[0].thread;
        clock[task] = ++steps[task];
        for (unsigned k = 0; k < h->count; k++) {
            struct told *t = &told[told_count++];
            t->at = h->arrivals[k].at;
            t->point = i;
            t->task = task;
            t->step = steps[task];
            memcpy(t->clock, clock, sizeof clock);
            of_number[t->at.line][t->at.number] = of_step[task][steps[task]] = told_count;
            join(ended[h->arrivals[k].type][t->at.line], clock);
        }
    }
}

/* Returns the relation by vector clocks. */
static enum causal_relation by_clocks(const struct told *a, const struct told *b)
{
    return a->point == b->point           ? ORDER_SAME
           : b->clock[a->task] >= a->step ? ORDER_BEFORE
           : a->clock[b->task] >= b->step ? ORDER_AFTER
                                          : ORDER_CONCURRENT;
}

/* Feeds the order with random delays. */
static struct order *feed(const struct workload *w, unsigned seed)
{
    struct order *order = order_new();
    static uint32_t list[HAPPENINGS];
    unsigned state = seed * 7919u + 1;
    workload_lines(w, order);
    for (uint32_t i = 0; i < HAPPENINGS; i++)
        list[i] = i;
    unsigned reach = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 40 : HAPPENINGS;
    for (uint32_t i = 0; i < HAPPENINGS && reach > 1; i++) {
        state = state * 1664525u + 1013904223u;
        uint32_t k = i + (state >> 8) % reach;
        if (k >= HAPPENINGS)
            continue;
        uint32_t t = list[i];
        list[i] = list[k];
        list[k] = t;
    }
    for (uint32_t i = 0; i < HAPPENINGS; i++) {
        struct happening *h = &happenings[list[i]];
        state = state * 1664525u + 1013904223u;
        if (seed % 2 && (state >> 8) % 32 == 0) { /* in batches */
            order_unpin(order);
            order_pin(order);
        }
        for (unsigned k = h->count; k-- > 0;) {
            h->arrivals[k].partners = &h->partners[k];
            order_insert(order, &h->arrivals[k]);
        }
    }
    order_unpin(order);
    return order;
}

static enum causal_relation in_steps(struct comparison *comparison, struct event_id a,
                                     struct event_id b)
{
    comparison_begin(comparison, a, b);
    while (!comparison_step(comparison, 1))
        ;
    return comparison_answer(comparison);
}

static void compare_all(const struct order *order, unsigned seed)
{
    unsigned state = seed + 5;
    struct comparison *comparison = comparison_new(order);
    for (int n = 0; n < 600; n++) {
        state = state * 1664525u + 1013904223u;
        uint32_t a = (state >> 8) % told_count;
        state = state * 1664525u + 1013904223u;
        uint32_t near = a + (state >> 8) % 30;
        uint32_t b = n % 2 && near < told_count ? near : (state >> 8) % told_count;
        /* at the boundary: the last step of a task in the past of a, or the one after it */
        if (n % 3 == 0) {
            uint32_t task = 1 + (state >> 4) % LINES_MAX, last = told[a].clock[task];
            uint32_t index = last ? of_step[task][last + (n % 2)] : 0;
            b = index ? index - 1 : b;
        }
        enum causal_relation want = by_clocks(&told[a], &told[b]);
        enum causal_relation got = n % 5 ? order_compare(order, told[a].at, told[b].at)
                                         : in_steps(comparison, told[a].at, told[b].at);
        if (want != got)
            fail_msg("%u:%llu and %u:%llu: %d, not %d", told[a].at.line,
                     (unsigned long long)told[a].at.number, told[b].at.line,
                     (unsigned long long)told[b].at.number, got, want);
    }
    comparison_free(comparison);
}

static void every_kind_answers_as_its_clocks_do(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 120; seed++) {
        struct workload_options options = {.kind = seed % WORKLOADS,
                                           .seed = seed,
                                           .lines = 10 + seed * 37 % (LINES_MAX - 9),
                                           .overtaking = seed % 4 > 1};
        struct workload *w = workload_new(&options);
        make(w);
        struct order *order = feed(w, seed);
        struct order_figures f = order_figures(order);
        if (f.pending || f.contradictions || f.events != told_count)
            fail_msg("%s, seed %u: %llu pending, %llu contradictions", workload_names[options.kind],
                     seed, (unsigned long long)f.pending, (unsigned long long)f.contradictions);
        compare_all(order, seed);
        order_free(order);
        workload_free(w);
    }
}

/* Late lines, with so many pending events that some are spilled. */
static void what_is_late_comes_in_its_place(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct workload_options options = {
            .kind = seed % WORKLOADS, .seed = seed, .lines = 100, .late = 0.1, .lag = 20000};
        struct workload *w = workload_new(&options);
        struct order *order = order_new();
        struct happening h;
        uint64_t most = 0;
        workload_lines(w, order);
        for (int i = 0; i < 40000; i++) {
            workload_next(w, &h);
            workload_accept(order, &h);
            most = order_figures(order).pending > most ? order_figures(order).pending : most;
        }
        while (workload_rest(w, &h))
            workload_accept(order, &h);
        struct order_figures f = order_figures(order);
        assert_int_equal(f.pending + f.contradictions + f.duplicates + f.lost, 0);
        assert_true(most > 2000);
        order_free(order);
        workload_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_answers_as_its_clocks_do),
        cmocka_unit_test(what_is_late_comes_in_its_place),
    };
    return cmocka_run_group_tests_name("workload", tests, NULL, NULL);
}
