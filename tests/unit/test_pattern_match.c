/* Matches of patterns of events, compared with brute force: every combination of events is tried,
 * and judged by the order's answers. */
#include "base/alloc.h"
#include "server/analysis/pattern_match.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define CHOSEN_MAX 48u
#define FOUND_MAX 400000u

static struct execution x;

/* ---- a random pattern, and events for it ---- */

struct trial {
    struct order *order;
    struct event_pattern pattern;
    struct pattern_relation relations[4];
    struct pattern_comparison comparisons[3];
    struct pattern_absence absences[2];
    struct match_event chosen[CHOSEN_MAX];
    uint32_t count;
    uint8_t relation[CHOSEN_MAX][CHOSEN_MAX]; /* enum causal_relation */
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
    if (!e.line || e.line & HIDDEN_LINE || e.state != EVENT_ORDERED || t->count == CHOSEN_MAX ||
        chance(t, 5) == 0)
        return;
    t->chosen[t->count++] =
        (struct match_event){.position = position,
                             .number = e.number,
                             .time_ns = (int64_t)position * 10 + chance(t, 40),
                             .roles = 1 + chance(t, (1u << t->pattern.event_count) - 1),
                             .values = {[PATTERN_OBJECT] = chance(t, 4),
                                        [PATTERN_THREAD] = e.thread,
                                        [PATTERN_LINE] = e.line,
                                        [PATTERN_TYPE] = e.type}};
}

/* ---- brute force ---- */

enum judged { NO, UNCERTAIN, YES };

static enum judged judge_before(const struct trial *t, uint32_t a, uint32_t b)
{
    return t->relation[a][b] == ORDER_BEFORE    ? YES
           : t->relation[a][b] == ORDER_UNKNOWN ? UNCERTAIN
                                                : NO;
}

static enum judged judge_relation(const struct trial *t, const struct pattern_relation *r,
                                  uint32_t a, uint32_t b)
{
    const struct match_event *p = &t->chosen[a], *q = &t->chosen[b];
    enum causal_relation is = t->relation[a][b];
    switch (r->kind) {
    case PATTERN_BEFORE:
        return judge_before(t, a, b);
    case PATTERN_CONCURRENT:
        return is == ORDER_CONCURRENT ? YES : is == ORDER_UNKNOWN ? UNCERTAIN : NO;
    case PATTERN_SIMULTANEOUS:
        return is == ORDER_SAME ? YES : NO;
    case PATTERN_NEXT:
        return p->values[PATTERN_LINE] == q->values[PATTERN_LINE] && p->number + 1 == q->number
                   ? YES
                   : NO;
    case PATTERN_WITHIN:
        break;
    }
    return q->time_ns >= p->time_ns && q->time_ns <= p->time_ns + r->within_ns ? YES : NO;
}

static bool compare_values(const struct trial *t, const struct pattern_comparison *c, uint32_t a,
                           uint32_t b)
{
    uint32_t v = t->chosen[a].values[c->of_a], w = t->chosen[b].values[c->of_b];
    return v && w && (c->unequal ? v != w : v == w);
}

static enum judged judge_absence(const struct trial *t, const struct pattern_absence *absence,
                                 const uint32_t *bound)
{
    const struct event_pattern *p = &t->pattern;
    enum judged best = NO;
    for (uint32_t c = 0; c < t->count; c++) {
        bool is = t->chosen[c].roles >> absence->event & 1;
        for (uint32_t i = 0; i < p->event_count; i++)
            is &= p->events[i].absent || bound[i] != c;
        for (uint32_t i = 0; i < p->comparison_count && is; i++)
            if (p->comparisons[i].a == absence->event)
                is = compare_values(t, &p->comparisons[i], c, bound[p->comparisons[i].b]);
        if (!is)
            continue;
        enum judged after = judge_before(t, bound[absence->a], c),
                    before = judge_before(t, c, bound[absence->b]),
                    between = after < before ? after : before;
        best = between > best ? between : best;
    }
    return YES - best;
}

static enum judged judge(const struct trial *t, const uint32_t *bound)
{
    const struct event_pattern *p = &t->pattern;
    enum judged answer = YES, part;
    for (uint32_t i = 0; i < p->event_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!p->events[i].absent && !p->events[k].absent && bound[i] == bound[k])
                return NO;
    for (uint32_t i = 0; i < p->comparison_count; i++)
        if (!p->events[p->comparisons[i].a].absent &&
            !compare_values(t, &p->comparisons[i], bound[p->comparisons[i].a],
                            bound[p->comparisons[i].b]))
            return NO;
    for (uint32_t i = 0; i < p->relation_count; i++) {
        part =
            judge_relation(t, &p->relations[i], bound[p->relations[i].a], bound[p->relations[i].b]);
        answer = part < answer ? part : answer;
    }
    for (uint32_t i = 0; i < p->absence_count; i++) {
        part = judge_absence(t, &p->absences[i], bound);
        answer = part < answer ? part : answer;
    }
    return answer;
}

/* ---- sets of matches ---- */

struct found {
    uint32_t events[PATTERN_EVENTS_MAX];
    uint32_t uncertain;
};

static struct found wanted[FOUND_MAX], got[FOUND_MAX];
static size_t wanted_count, got_count;

static void find_all(const struct trial *t, uint32_t role, uint32_t *bound)
{
    const struct event_pattern *p = &t->pattern;
    if (role == p->event_count) {
        enum judged is = judge(t, bound);
        if (is == NO)
            return;
        assert_true(wanted_count < FOUND_MAX);
        struct found *f = &wanted[wanted_count++];
        *f = (struct found){.uncertain = is == UNCERTAIN};
        memcpy(f->events, bound, p->event_count * sizeof *bound);
        return;
    }
    if (p->events[role].absent) {
        bound[role] = 0;
        find_all(t, role + 1, bound);
        return;
    }
    for (uint32_t i = 0; i < t->count; i++)
        if (t->chosen[i].roles >> role & 1) {
            bound[role] = i;
            find_all(t, role + 1, bound);
        }
}

static int by_events(const void *a, const void *b) { return memcmp(a, b, sizeof(struct found)); }

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
        while (first < t->count && t->chosen[first].position < p)
            first++;
        for (last = first; last < t->count && t->chosen[last].position < end;)
            last++;
        if (!event_clocks_add(clocks, p, events, (uint32_t)(end - p), last > first, &clock))
            continue;
        for (uint32_t i = first; i < last; i++) {
            t->chosen[i].clock = clock;
            t->chosen[i].point = fed;
            pattern_match_add(m, &t->chosen[i]);
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

static void trial_compare(struct trial *t, const struct pattern_match *m, unsigned seed)
{
    uint32_t roles = t->pattern.event_count;
    got_count = m->found_count;
    memset(got, 0, got_count * sizeof *got);
    for (size_t i = 0; i < got_count; i++) {
        memcpy(got[i].events, m->found + i * roles, roles * sizeof *m->found);
        got[i].uncertain = m->found_uncertain[i];
    }
    qsort(got, got_count, sizeof *got, by_events);
    qsort(wanted, wanted_count, sizeof *wanted, by_events);
    if (got_count != wanted_count || memcmp(got, wanted, got_count * sizeof *got) != 0)
        fail_msg("seed %u: %zu matches, not %zu, or others", seed, got_count, wanted_count);
    assert_int_equal(m->count + m->uncertain_count, got_count);
}

static struct event_id trial_event(const struct trial *t, uint32_t i)
{
    struct order_event e = order_event(t->order, t->chosen[i].position);
    return (struct event_id){e.line, e.number};
}

static void trial_relate(struct trial *t)
{
    for (uint32_t a = 0; a < t->count; a++)
        for (uint32_t b = 0; b <= a; b++) {
            enum causal_relation is = order_compare(t->order, trial_event(t, a), trial_event(t, b));
            t->relation[a][b] = (uint8_t)is;
            t->relation[b][a] = (uint8_t)(is == ORDER_BEFORE  ? ORDER_AFTER
                                          : is == ORDER_AFTER ? ORDER_BEFORE
                                                              : is);
        }
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
        uint32_t most = t.pattern.event_count > 3 ? 12 : CHOSEN_MAX;
        uint64_t step = 1 + chance(&t, 1 + x.count / most);
        for (uint64_t p = 0; p < order_count(t.order) && t.count < most;
             p += 1 + chance(&t, 2 * (uint32_t)step - 1))
            trial_choose(&t, p);
        trial_relate(&t);
        uint32_t bound[PATTERN_EVENTS_MAX] = {0};
        wanted_count = 0;
        find_all(&t, 0, bound);
        struct match_settings settings = {.limit = UINT64_MAX,
                                          .count_limit = UINT64_MAX,
                                          .keep_uncertain = true,
                                          .may_be_unknown =
                                              order_figures(t.order).doubtful || seed % 8 == 1,
                                          .is_unknown = is_unknown,
                                          .context = t.order};
        struct pattern_match *m = trial_run(&t, &clocks, &settings);
        trial_compare(&t, m, seed);
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
