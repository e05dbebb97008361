#include "server/analysis/timing_consistency.h"

#include "base/alloc.h"

#include <stdlib.h>

const char *timing_rule_name(unsigned rule)
{
    static const char *const words[TIMING_RULE_RULES] = {
        [TIMING_RULE_COURSE] = "an interval of the thread ends before it starts",
        [TIMING_RULE_LIFE] = "the states of the thread do not fill its lifetime",
        [TIMING_RULE_RELEASE] = "the release of the wait is not between its start and end",
        [TIMING_RULE_ORDER] = "the release of the wait does not precede its end in the order",
        [TIMING_RULE_OVERLAP] = "times of what ran meanwhile do not sum to the wait time",
        [TIMING_RULE_REASONS] = "wait causes do not sum to the wait time",
        [TIMING_RULE_CHARGES] = "attributed times do not sum to the wait time",
        [TIMING_RULE_PATH] = "the length of the critical path differs from the time it covers",
        [TIMING_RULE_TASK] = "the task starts on a worker thread before it leaves another",
        [TIMING_RULE_CARRIER] = "a task starts on a worker thread before another leaves it"};
    return rule < TIMING_RULE_RULES ? words[rule] : "";
}

void timing_consistency_begin(struct timing_consistency *s, const struct intervals *all,
                              const struct wait_attribution *why)
{
    *s = (struct timing_consistency){.all = all, .why = why, .waits = all->wait_count};
}

void timing_violation_add(struct timing_consistency *s, struct violation breach)
{
    s->broken++;
    if (s->count == TIMING_VIOLATIONS_MAX)
        return;
    s->breaches = array_reserve(s->breaches, &s->room, s->count + 1, sizeof *s->breaches);
    s->breaches[s->count++] = breach;
}

/* ---- timelines ---- */

/* Returns false if the budget is used up. */
static bool timing_consistency_check_timelines(struct timing_consistency *s, uint64_t *budget)
{
    for (; s->thread < s->all->thread_count; s->thread++, s->interval = 0) {
        const struct thread_timeline *c = &s->all->threads[s->thread];
        for (; s->interval < c->count; s->interval++) {
            if (!*budget)
                return false;
            --*budget;
            int64_t from = interval_begin(c, s->interval), to = c->items[s->interval].to_ns;
            if (to < from)
                timing_violation_add(s,
                                     (struct violation){TIMING_RULE_COURSE, c->thread,
                                                        c->items[s->interval].position, to, from});
        }
    }
    return true;
}

/* ---- waits ---- */

static void broken_wait(struct timing_consistency *s, const struct wait_record *w,
                        enum timing_rule rule, int64_t is, int64_t should)
{
    timing_violation_add(s, (struct violation){(uint8_t)rule, w->thread, w->begin, is, should});
}

static int64_t sum_of(struct list_pool_reader reader, bool *any)
{
    int64_t sum = 0;
    *any = false;
    for (struct path_share share; list_pool_next(&reader, &share); *any = true)
        sum += share.ns;
    return sum;
}

static int64_t timing_consistency_attributed_ns(struct timing_consistency *s, uint32_t segment,
                                                enum path_list_kind which, int64_t ns)
{
    int64_t sum = 0;
    attribution_compute(&s->charges, s->why, segment, which, ns);
    for (size_t i = 0; i < s->charges.count; i++)
        sum += s->charges.items[i].ns;
    return sum;
}

static void timing_consistency_check_sums(struct timing_consistency *s, const struct wait_record *w,
                                          uint32_t segment, int64_t ns)
{
    bool any;
    int64_t overlap = sum_of(wait_attribution_overlap(s->why, segment), &any);
    if (overlap != ns)
        broken_wait(s, w, TIMING_RULE_OVERLAP, overlap, ns);
    int64_t reasons = sum_of(wait_attribution_reasons(s->why, segment), &any);
    if (reasons != ns)
        broken_wait(s, w, TIMING_RULE_REASONS, reasons, ns);
    int64_t charges = timing_consistency_attributed_ns(s, segment, PATH_EXPANDED, ns);
    if (any && charges != ns)
        broken_wait(s, w, TIMING_RULE_CHARGES, charges, ns);
}

static void timing_consistency_check_wait(struct timing_consistency *s, size_t index)
{
    const struct wait_record *w = &s->all->waits[index];
    int64_t from = w->from_ns;
    for (uint32_t i = w->segment; i < w->segment + w->count; i++) {
        const struct wait_interval *at = &s->all->segments[i];
        int64_t ns = at->to_ns - from;
        if (ns < 0 || at->to_ns > w->to_ns)
            broken_wait(s, w, TIMING_RULE_RELEASE, at->to_ns, ns < 0 ? from : w->to_ns);
        else if (!at->guess && w->end != UINT64_MAX && at->release != UINT64_MAX &&
                 at->release >= w->end)
            broken_wait(s, w, TIMING_RULE_ORDER, at->to_ns, w->to_ns);
        if (ns >= 0 && index < s->why->done)
            timing_consistency_check_sums(s, w, i, ns);
        from = at->to_ns;
    }
}

static bool timing_consistency_check_waits(struct timing_consistency *s, uint64_t *budget)
{
    for (; s->wait < s->waits; s->wait++) {
        uint64_t cost = 8 * (1 + (uint64_t)s->all->waits[s->wait].count);
        if (!*budget)
            return false;
        *budget -= cost < *budget ? cost : *budget;
        timing_consistency_check_wait(s, s->wait);
    }
    return true;
}

/* ---- critical path ---- */

static int64_t last_end(const struct intervals *all)
{
    int64_t end = INTERVALS_NEVER;
    for (uint32_t i = 0; i < all->thread_count; i++)
        if (all->threads[i].end_ns > end)
            end = all->threads[i].end_ns;
    return end;
}

static void timing_consistency_check_path(struct timing_consistency *s)
{
    const struct critical_path *path = &s->path;
    int64_t sum = 0;
    for (size_t i = 0; i < path->count; i++) {
        const struct path_piece *p = &path->pieces[i];
        int64_t before = i ? path->pieces[i - 1].to_ns : p->from_ns;
        if (p->from_ns != before || p->to_ns < p->from_ns)
            timing_violation_add(s, (struct violation){TIMING_RULE_PATH, p->thread, p->position,
                                                       p->from_ns, before});
        sum += p->to_ns - p->from_ns;
    }
    if (path->count && sum != critical_path_length(path))
        timing_violation_add(s, (struct violation){TIMING_RULE_PATH, path->pieces[0].thread,
                                                   UINT64_MAX, sum, critical_path_length(path)});
    int64_t end = last_end(s->all);
    if (path->count && end != INTERVALS_NEVER && path->pieces[path->count - 1].to_ns < end)
        timing_violation_add(s, (struct violation){TIMING_RULE_PATH,
                                                   path->pieces[path->count - 1].thread, UINT64_MAX,
                                                   path->pieces[path->count - 1].to_ns, end});
}

bool timing_consistency_step(struct timing_consistency *s, uint64_t budget)
{
    if (!timing_consistency_check_timelines(s, &budget) ||
        !timing_consistency_check_waits(s, &budget))
        return false;
    if (!s->begun)
        critical_path_begin(&s->path, s->all, 0, INT64_MAX);
    s->begun = true;
    if (!critical_path_step(&s->path, budget + 1))
        return false;
    timing_consistency_check_path(s);
    return true;
}

void timing_consistency_free(struct timing_consistency *s)
{
    free(s->breaches);
    critical_path_free(&s->path);
    attribution_free(&s->charges);
    *s = (struct timing_consistency){0};
}
