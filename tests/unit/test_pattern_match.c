/* Matches of patterns of events, compared with brute force: every combination of events is tried,
 * and judged by the order's answers. */
#include "base/alloc.h"
#include "tests/bruteforce.h"
#include "tests/unit/pattern_reference.h"

#include <stdlib.h>
#include <string.h>

#define CHOSEN_MAX 48u

static struct execution x;

/* ---- a random pattern, and events for it ---- */

static struct reference all;

struct trial {
    struct order *order;
    struct event_pattern pattern;
    struct pattern_relation relations[4];
    struct pattern_comparison comparisons[3];
    struct pattern_absence absences[2];
    unsigned random;
};

static uint32_t chance(struct trial *t, uint32_t below)
{
    return execution_random(&t->random, below);
}

static uint32_t present(struct trial *t, uint32_t but)
{
    uint32_t event;
    do
        event = chance(t, t->pattern.event_count);
    while (event == but || t->pattern.events[event].absent);
    return event;
}

static void trial_make_pattern(struct trial *t)
{
    struct event_pattern *p = &t->pattern;
    uint32_t events = 1 + chance(t, 4), absent = events > 1 && chance(t, 3) == 0 ? 1 : 0;
    *p = (struct event_pattern){.event_count = events + absent,
                                .relations = t->relations,
                                .comparisons = t->comparisons,
                                .absences = t->absences};
    for (uint32_t i = events; i < p->event_count; i++)
        p->events[i].absent = true;
    if (events == 1)
        return;
    for (uint32_t n = events - 1 + chance(t, 2), i = 0; i < n && i < 4; i++) {
        uint32_t a = i + 1 < events && chance(t, 4) ? i : present(t, UINT32_MAX);
        static const enum pattern_relation_kind kinds[] = {
            PATTERN_BEFORE,     PATTERN_BEFORE,       PATTERN_BEFORE, PATTERN_CONCURRENT,
            PATTERN_CONCURRENT, PATTERN_SIMULTANEOUS, PATTERN_NEXT,   PATTERN_WITHIN};
        p->relations[p->relation_count++] =
            (struct pattern_relation){kinds[chance(t, 8)], a, present(t, a), chance(t, 200)};
    }
    for (uint32_t n = chance(t, 3), i = 0; i < n; i++) {
        uint32_t a = chance(t, p->event_count);
        uint32_t b = present(t, a);
        enum pattern_attribute of = chance(t, 4);
        p->comparisons[p->comparison_count++] = (struct pattern_comparison){
            a, b, of, of == PATTERN_OBJECT && chance(t, 3) == 0 ? PATTERN_LINE : of,
            chance(t, 3) == 0};
    }
    for (uint32_t i = 0; i < absent; i++) {
        uint32_t a = present(t, UINT32_MAX);
        p->absences[p->absence_count++] = (struct pattern_absence){events + i, a, present(t, a)};
    }
}

static void trial_choose(struct trial *t, uint64_t position)
{
    struct order_event e = order_event(t->order, position);
    if (!e.line || e.line & HIDDEN_LINE || e.state != EVENT_ORDERED || all.count == CHOSEN_MAX ||
        chance(t, 5) == 0)
        return;
    all.chosen[all.count++] =
        (struct match_event){.position = position,
                             .number = e.number,
                             .time_ns = (int64_t)position * 10 + chance(t, 40),
                             .roles = 1 + chance(t, (1u << t->pattern.event_count) - 1),
                             .values = {[PATTERN_OBJECT] = chance(t, 4),
                                        [PATTERN_THREAD] = e.thread,
                                        [PATTERN_LINE] = e.line,
                                        [PATTERN_TYPE] = e.type}};
}

/* ---- the matcher ---- */

static bool is_unknown(const void *context, uint64_t a, uint64_t b)
{
    return order_uncertainty_between(context, a, b) != 0;
}

static struct pattern_match *trial_run(struct trial *t, struct event_clocks *clocks,
                                       const struct match_settings *settings)
{
    uint64_t count = order_count(t->order);
    struct pattern_match *m = pattern_match_new(&t->pattern, clocks, settings);
    event_clocks_begin(clocks, t->order, 0);
    for (uint64_t p = 0, end; p < count; p = end) {
        struct order_event events[EXECUTION_EVENTS];
        struct event_clock clock = {0};
        uint32_t first = 0, last, fed = (uint32_t)m->event_count;
        end = order_point_end(t->order, p) + 1;
        for (uint64_t i = p; i < end; i++)
            events[i - p] = order_event(t->order, i);
        while (first < all.count && all.chosen[first].position < p)
            first++;
        for (last = first; last < all.count && all.chosen[last].position < end;)
            last++;
        if (!event_clocks_add(clocks, p, events, (uint32_t)(end - p), last > first, &clock))
            continue;
        for (uint32_t i = first; i < last; i++) {
            all.chosen[i].clock = clock;
            all.chosen[i].point = fed;
            pattern_match_add(m, &all.chosen[i]);
            uint64_t budget;
            do
                budget = 1 + chance(t, 9);
            while (!pattern_match_step(m, &budget));
        }
    }
    pattern_match_end(m);
    return m;
}

static struct order *trial_order(unsigned seed)
{
    uint32_t lines[EXECUTION_LINES];
    unsigned mode = seed % 4;
    execution_make(&x, seed);
    if (mode == 2)
        execution_hide(&x, seed);
    if (mode == 3)
        execution_lose(&x, seed);
    struct order *order = execution_order(&x);
    execution_feed(&x, order, seed);
    for (uint32_t i = 0; i < x.lines; i++)
        lines[i] = i + 1;
    order_end_of_input(order, lines, x.lines);
    order_finish(order);
    order_uncertainty_step(order, UINT64_MAX, UINT64_MAX);
    return order;
}

static void matches_are_those_of_brute_force(void **state)
{
    (void)state;
    size_t certain = 0, uncertain = 0, none = 0, absences = 0;
    for (unsigned seed = 1; seed <= 2000; seed++) {
        struct trial t = {.random = seed * 2246822519u + 3};
        struct event_clocks clocks;
        t.order = trial_order(seed);
        trial_make_pattern(&t);
        all.pattern = &t.pattern;
        all.count = 0;
        uint32_t most = t.pattern.event_count > 3 ? 12 : CHOSEN_MAX;
        uint64_t step = 1 + chance(&t, 1 + x.count / most);
        for (uint64_t p = 0; p < order_count(t.order) && all.count < most;
             p += 1 + chance(&t, 2 * (uint32_t)step - 1))
            trial_choose(&t, p);
        reference_relate(&all, t.order);
        struct match_settings settings = {.limit = UINT64_MAX,
                                          .count_limit = UINT64_MAX,
                                          .keep_uncertain = true,
                                          .may_be_unknown =
                                              order_figures(t.order).doubtful || seed % 8 == 1,
                                          .is_unknown = is_unknown,
                                          .context = t.order};
        struct pattern_match *m = trial_run(&t, &clocks, &settings);
        reference_check(&all, m, "random pattern", seed);
        certain += m->count;
        uncertain += m->uncertain_count;
        none += !m->found_count;
        absences += m->found_count && t.pattern.absence_count;
        pattern_match_free(m);
        event_clocks_free(&clocks);
        order_free(t.order);
    }
    assert_true(certain > 20000 && uncertain > 2000 && none > 100 && absences > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matches_are_those_of_brute_force)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
