/* Matches of a pattern by brute force: every combination of events is tried, and judged by the
 * order's answers. */
#ifndef TESTS_UNIT_PATTERN_REFERENCE_H
#define TESTS_UNIT_PATTERN_REFERENCE_H

#include "server/analysis/pattern_match.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define REFERENCE_EVENTS 512u
#define FOUND_MAX 400000u

struct reference {
    const struct event_pattern *pattern;
    struct match_event chosen[REFERENCE_EVENTS]; /* in the order of the log */
    uint32_t count;
    uint8_t relation[REFERENCE_EVENTS][REFERENCE_EVENTS]; /* enum causal_relation */
};

enum judged { NO, UNCERTAIN, YES };

static enum judged judge_before(const struct reference *t, uint32_t a, uint32_t b)
{
    return t->relation[a][b] == ORDER_BEFORE    ? YES
           : t->relation[a][b] == ORDER_UNKNOWN ? UNCERTAIN
                                                : NO;
}

static enum judged judge_relation(const struct reference *t, const struct pattern_relation *r,
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

static bool compare_values(const struct reference *t, const struct pattern_comparison *c,
                           uint32_t a, uint32_t b)
{
    uint32_t v = t->chosen[a].values[c->of_a], w = t->chosen[b].values[c->of_b];
    return v && w && (c->unequal ? v != w : v == w);
}

static enum judged judge_absence(const struct reference *t, const struct pattern_absence *absence,
                                 const uint32_t *bound)
{
    const struct event_pattern *p = t->pattern;
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

static enum judged judge(const struct reference *t, const uint32_t *bound)
{
    const struct event_pattern *p = t->pattern;
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

static void find_all(const struct reference *t, uint32_t role, uint32_t *bound)
{
    const struct event_pattern *p = t->pattern;
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

/* Determines the order of all pairs of events. */
static void reference_relate(struct reference *t, const struct order *order)
{
    for (uint32_t a = 0; a < t->count; a++)
        for (uint32_t b = 0; b <= a; b++) {
            struct order_event e = order_event(order, t->chosen[a].position),
                               f = order_event(order, t->chosen[b].position);
            enum causal_relation is = order_compare(order, (struct event_id){e.line, e.number},
                                                    (struct event_id){f.line, f.number});
            t->relation[a][b] = (uint8_t)is;
            t->relation[b][a] = (uint8_t)(is == ORDER_BEFORE  ? ORDER_AFTER
                                          : is == ORDER_AFTER ? ORDER_BEFORE
                                                              : is);
        }
}

/* Fails if the matches are others than those of brute force. */
static void reference_check(const struct reference *t, const struct pattern_match *m,
                            const char *name, unsigned seed)
{
    uint32_t roles = t->pattern->event_count, bound[PATTERN_EVENTS_MAX] = {0};
    wanted_count = 0;
    find_all(t, 0, bound);
    got_count = m->found_count;
    assert_true(got_count <= FOUND_MAX);
    memset(got, 0, got_count * sizeof *got);
    for (size_t i = 0; i < got_count; i++) {
        memcpy(got[i].events, m->found + i * roles, roles * sizeof *m->found);
        got[i].uncertain = m->found_uncertain[i];
    }
    qsort(got, got_count, sizeof *got, by_events);
    qsort(wanted, wanted_count, sizeof *wanted, by_events);
    if (got_count != wanted_count || memcmp(got, wanted, got_count * sizeof *got) != 0)
        fail_msg("%s, seed %u: %zu matches, not %zu, or others", name, seed, got_count,
                 wanted_count);
    assert_int_equal(m->count + m->uncertain_count, got_count);
}

#endif
