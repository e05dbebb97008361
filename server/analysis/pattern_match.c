#include "server/analysis/pattern_match.h"

#include "base/alloc.h"
#include "base/lower_bound.h"

#include <stdlib.h>
#include <string.h>

/* ---- the pattern ---- */

/* Finds an attribute that must equal that of a present event: candidates are found by it. */
static void match_set_key(struct match_role *role, const struct event_pattern *p, uint32_t event)
{
    for (uint32_t i = 0; i < p->comparison_count && !role->has_key; i++) {
        const struct pattern_comparison *c = &p->comparisons[i];
        if (c->unequal || (c->a != event && c->b != event) ||
            p->events[c->a == event ? c->b : c->a].absent)
            continue;
        role->has_key = true;
        role->key = c->a == event ? c->of_a : c->of_b;
        role->partner_key = c->a == event ? c->of_b : c->of_a;
        role->partner = c->a == event ? c->b : c->a;
    }
}

struct pattern_match *pattern_match_new(const struct event_pattern *p,
                                        const struct event_clocks *clocks,
                                        const struct match_settings *settings)
{
    struct pattern_match *m = xcalloc(1, sizeof *m);
    m->pattern = p;
    m->clocks = clocks;
    m->settings = *settings;
    m->first_role = p->event_count;
    for (uint32_t i = 0; i < p->event_count; i++) {
        struct match_role *role = &m->roles[i];
        role->absent = p->events[i].absent;
        role->may_be_last = !role->absent;
        match_set_key(role, p, i);
        m->present += !role->absent;
        if (!role->absent && i < m->first_role)
            m->first_role = i;
    }
    for (uint32_t i = 0; i < p->relation_count; i++) {
        m->uses_next |= p->relations[i].kind == PATTERN_NEXT;
        if (p->relations[i].kind == PATTERN_NEXT ||
            (p->relations[i].kind == PATTERN_BEFORE && !settings->may_be_unknown))
            m->roles[p->relations[i].a].may_be_last = false;
    }
    return m;
}

void pattern_match_free(struct pattern_match *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < PATTERN_EVENTS_MAX; i++) {
        for (size_t k = 0; k < m->roles[i].bucket_count; k++)
            free(m->roles[i].all[k].chains);
        free(m->roles[i].all);
        map_free(&m->roles[i].buckets);
    }
    for (size_t i = 0; i < m->chain_count; i++)
        free(m->chains[i].items);
    for (size_t i = 0; i < m->line_room; i++)
        free(m->lines[i].items);
    free(m->lines);
    free(m->chains);
    map_free(&m->chain_of);
    free(m->events);
    free(m->done);
    free(m->found);
    free(m->found_uncertain);
    free(m);
}

/* ---- candidates ---- */

static void match_keep_for_role(struct pattern_match *m, uint32_t event, uint32_t number)
{
    struct match_role *role = &m->roles[number];
    const struct match_event *e = &m->events[event];
    uint32_t value = role->has_key ? e->values[role->key] : 0;
    if (role->has_key && !value)
        return; /* it equals none */
    size_t at = MAP_INDEX(&role->buckets, value, 0, role->all, role->bucket_count,
                          role->bucket_room, (struct match_bucket){0});
    size_t chains = m->chain_count;
    struct match_chain *list =
        MAP_ITEM(&m->chain_of, (uint64_t)number << 32 | at, e->clock.chain, m->chains,
                 m->chain_count, m->chain_room, (struct match_chain){.chain = e->clock.chain});
    if (chains < m->chain_count) {
        struct match_bucket *bucket = &role->all[at];
        bucket->chains =
            array_reserve(bucket->chains, &bucket->room, bucket->count + 1, sizeof *bucket->chains);
        bucket->chains[bucket->count++] = (uint32_t)chains;
        m->bytes += sizeof *list + 2 * sizeof(struct map_entry) + sizeof *bucket;
    }
    list->jumps |= list->count && m->events[list->items[list->count - 1]].time_ns > e->time_ns;
    list->items = array_reserve(list->items, &list->room, list->count + 1, sizeof *list->items);
    list->items[list->count++] = event;
    role->count++;
    m->bytes += sizeof *list->items;
}

static void match_keep_on_line(struct pattern_match *m, uint32_t event, uint32_t number)
{
    m->lines = array_reserve_zeroed(m->lines, &m->line_room, number + 1u, sizeof *m->lines);
    struct match_line *line = &m->lines[number];
    line->items = array_reserve(line->items, &line->room, line->count + 1, sizeof *line->items);
    line->items[line->count++] = event;
    m->bytes += sizeof *line->items;
}

/* Returns 1 + the event with a number on a line, if it was kept; else 0. */
static uint64_t match_numbered(const struct pattern_match *m, uint32_t line, uint64_t number)
{
    const struct match_line *on = line < m->line_room ? &m->lines[line] : NULL;
    if (!on)
        return 0;
    size_t i = LOWER_BOUND(k, 0, on->count, m->events[on->items[k]].number < number);
    return i < on->count && m->events[on->items[i]].number == number ? on->items[i] + 1ull : 0;
}

/* Keeps the last event for matches that end with later ones. */
static void match_keep(struct pattern_match *m)
{
    uint32_t event = (uint32_t)m->event_count - 1;
    const struct match_event *e = &m->events[event];
    for (uint32_t i = 0; i < m->pattern->event_count; i++)
        if (e->roles >> i & 1)
            match_keep_for_role(m, event, i);
    if (m->uses_next)
        match_keep_on_line(m, event, e->values[PATTERN_LINE]);
}

void pattern_match_add(struct pattern_match *m, const struct match_event *event)
{
    m->events = array_reserve(m->events, &m->event_room, m->event_count + 1, sizeof *m->events);
    m->events[m->event_count++] = *event;
    m->bytes += sizeof *event;
    if (m->settings.first_only)
        m->done = array_reserve_zeroed(m->done, &m->done_room, m->event_count, 1);
    m->anchor_role = 0;
    m->depth = 0;
    m->searching = true;
}

/* ---- relations ---- */

static bool match_before(const struct pattern_match *m, uint32_t a, uint32_t b)
{
    const struct match_event *x = &m->events[a], *y = &m->events[b];
    return x->point != y->point && event_clocks_before(m->clocks, x->clock, y->clock);
}

static enum causal_relation match_compare(const struct pattern_match *m, uint32_t a, uint32_t b)
{
    const struct match_event *x = &m->events[a], *y = &m->events[b];
    if (x->point == y->point)
        return ORDER_SAME;
    if (event_clocks_before(m->clocks, x->clock, y->clock))
        return ORDER_BEFORE;
    if (event_clocks_before(m->clocks, y->clock, x->clock))
        return ORDER_AFTER;
    return m->settings.may_be_unknown &&
                   m->settings.is_unknown(m->settings.context, x->position, y->position)
               ? ORDER_UNKNOWN
               : ORDER_CONCURRENT;
}

enum match_certainty { MATCH_NO, MATCH_UNCERTAIN, MATCH_YES };

static enum match_certainty match_relation_holds(const struct pattern_match *m,
                                                 const struct pattern_relation *r, uint32_t a,
                                                 uint32_t b)
{
    const struct match_event *x = &m->events[a], *y = &m->events[b];
    if (r->kind == PATTERN_NEXT)
        return x->values[PATTERN_LINE] == y->values[PATTERN_LINE] && x->number + 1 == y->number
                   ? MATCH_YES
                   : MATCH_NO;
    if (r->kind == PATTERN_WITHIN)
        return y->time_ns >= x->time_ns && y->time_ns - x->time_ns <= r->within_ns ? MATCH_YES
                                                                                   : MATCH_NO;
    static const enum causal_relation wanted[] = {[PATTERN_BEFORE] = ORDER_BEFORE,
                                                  [PATTERN_CONCURRENT] = ORDER_CONCURRENT,
                                                  [PATTERN_SIMULTANEOUS] = ORDER_SAME};
    enum causal_relation is = match_compare(m, a, b);
    return is == wanted[r->kind]                                    ? MATCH_YES
           : is == ORDER_UNKNOWN && r->kind != PATTERN_SIMULTANEOUS ? MATCH_UNCERTAIN
                                                                    : MATCH_NO;
}

/* Returns whether all comparisons of an event as a role with bound events hold. */
static bool match_comparisons_hold(const struct pattern_match *m, uint32_t role, uint32_t event)
{
    for (uint32_t i = 0; i < m->pattern->comparison_count; i++) {
        const struct pattern_comparison *c = &m->pattern->comparisons[i];
        bool first = c->a == role;
        uint32_t other = first ? c->b : c->a;
        if ((!first && c->b != role) || !(m->is_bound >> other & 1))
            continue;
        uint32_t x = m->events[first ? event : m->bound[other]].values[c->of_a],
                 y = m->events[first ? m->bound[other] : event].values[c->of_b];
        if (!x || !y || (x == y) == c->unequal)
            return false;
    }
    return true;
}

static bool match_is_bound_event(const struct pattern_match *m, uint32_t event)
{
    for (uint32_t bits = m->is_bound; bits; bits &= bits - 1)
        if (m->bound[__builtin_ctz(bits)] == event)
            return true;
    return false;
}

/* Returns whether an event can be bound to a role, as far as bound events are concerned. */
static enum match_certainty match_check(const struct pattern_match *m, uint32_t role,
                                        uint32_t event)
{
    const struct event_pattern *p = m->pattern;
    enum match_certainty answer = MATCH_YES;
    if (match_is_bound_event(m, event) || !match_comparisons_hold(m, role, event))
        return MATCH_NO;
    for (uint32_t i = 0; i < p->relation_count && answer != MATCH_NO; i++) {
        const struct pattern_relation *r = &p->relations[i];
        uint32_t other = r->a == role ? r->b : r->a;
        if ((r->a != role && r->b != role) || !(m->is_bound >> other & 1))
            continue;
        enum match_certainty holds = r->a == role
                                         ? match_relation_holds(m, r, event, m->bound[other])
                                         : match_relation_holds(m, r, m->bound[other], event);
        answer = holds < answer ? holds : answer;
    }
    return answer;
}

/* ---- candidates of a chain in a relation to bound events ---- */

/* Returns the index of the first event of a list that did not happen before an event. */
static size_t match_first_not_before(const struct pattern_match *m, const struct match_chain *list,
                                     size_t from, size_t end, uint32_t event)
{
    return LOWER_BOUND(i, from, end, match_before(m, list->items[i], event));
}

/* Returns the index of the first event of a list that happened after an event. */
static size_t match_first_after(const struct pattern_match *m, const struct match_chain *list,
                                size_t from, size_t end, uint32_t event)
{
    return LOWER_BOUND(i, from, end, !match_before(m, event, list->items[i]));
}

static void match_narrow_by_order(const struct pattern_match *m, const struct match_chain *list,
                                  const struct pattern_relation *r, uint32_t role, uint32_t other,
                                  size_t *from, size_t *end)
{
    bool exact = !m->settings.may_be_unknown || m->strict, first = r->a == role;
    if (r->kind == PATTERN_BEFORE && first && exact)
        *end = match_first_not_before(m, list, *from, *end, other);
    else if (r->kind == PATTERN_BEFORE && first)
        *end = match_first_after(m, list, *from, *end, other);
    else if (r->kind == PATTERN_BEFORE && exact)
        *from = match_first_after(m, list, *from, *end, other);
    else if (r->kind == PATTERN_BEFORE)
        *from = match_first_not_before(m, list, *from, *end, other);
    else if (r->kind == PATTERN_CONCURRENT) {
        *from = match_first_not_before(m, list, *from, *end, other);
        *end = match_first_after(m, list, *from, *end, other);
    }
}

static void match_narrow_by_time(const struct pattern_match *m, const struct match_chain *list,
                                 const struct pattern_relation *r, uint32_t role, uint32_t other,
                                 size_t *from, size_t *end)
{
    int64_t time = m->events[other].time_ns, begin = time, until = time;
    if (r->a == role)
        begin = time < INT64_MIN + r->within_ns ? INT64_MIN : time - r->within_ns;
    else
        until = time > INT64_MAX - r->within_ns ? INT64_MAX : time + r->within_ns;
    *from = LOWER_BOUND(i, *from, *end, m->events[list->items[i]].time_ns < begin);
    *end = LOWER_BOUND(i, *from, *end, m->events[list->items[i]].time_ns <= until);
}

/* Finds the part of a list that can be in the relations of a role to bound events. */
static void match_narrow(const struct pattern_match *m, const struct match_chain *list,
                         uint32_t role, size_t *from, size_t *end)
{
    const struct event_pattern *p = m->pattern;
    *from = 0;
    *end = list->count;
    for (uint32_t i = 0; i < p->relation_count && *from < *end; i++) {
        const struct pattern_relation *r = &p->relations[i];
        uint32_t other = r->a == role ? r->b : r->a;
        if ((r->a != role && r->b != role) || !(m->is_bound >> other & 1))
            continue;
        if (r->kind != PATTERN_WITHIN)
            match_narrow_by_order(m, list, r, role, m->bound[other], from, end);
        else if (!list->jumps)
            match_narrow_by_time(m, list, r, role, m->bound[other], from, end);
    }
}

/* ---- the search ---- */

/* Returns how well the bound events restrict the candidates of a role; the greatest first. */
static unsigned match_restriction(const struct pattern_match *m, uint32_t role)
{
    const struct event_pattern *p = m->pattern;
    unsigned best = 0;
    if (m->roles[role].has_key && m->is_bound >> m->roles[role].partner & 1)
        best = 2;
    for (uint32_t i = 0; i < p->relation_count; i++) {
        const struct pattern_relation *r = &p->relations[i];
        uint32_t other = r->a == role ? r->b : r->a;
        if ((r->a != role && r->b != role) || !(m->is_bound >> other & 1))
            continue;
        unsigned as = r->kind == PATTERN_NEXT || r->kind == PATTERN_SIMULTANEOUS ? 3 : 1;
        best = as > best ? as : best;
    }
    return best;
}

static uint32_t match_next_role(const struct pattern_match *m)
{
    uint32_t best = PATTERN_EVENTS_MAX;
    unsigned restriction = 0;
    for (uint32_t i = 0; i < m->pattern->event_count; i++) {
        if (m->roles[i].absent || m->is_bound >> i & 1)
            continue;
        unsigned as = match_restriction(m, i);
        if (best == PATTERN_EVENTS_MAX || as > restriction ||
            (as == restriction && m->roles[i].count < m->roles[best].count)) {
            best = i;
            restriction = as;
        }
    }
    return best;
}

/* Sets the events of a level to the one that a relation "next" allows, or to those of a
 * synchronization point; returns false if there is no such relation. */
static bool match_begin_single(struct pattern_match *m, struct match_level *level)
{
    const struct event_pattern *p = m->pattern;
    for (uint32_t i = 0; i < p->relation_count; i++) {
        const struct pattern_relation *r = &p->relations[i];
        bool first = r->a == level->role;
        uint32_t other = first ? r->b : r->a;
        if ((!first && r->b != level->role) || !(m->is_bound >> other & 1))
            continue;
        const struct match_event *e = &m->events[m->bound[other]];
        if (r->kind == PATTERN_NEXT) {
            uint64_t known =
                match_numbered(m, e->values[PATTERN_LINE], first ? e->number - 1 : e->number + 1);
            level->at = known ? known - 1 : 0;
            level->end = known;
            return true;
        }
        if (r->kind == PATTERN_SIMULTANEOUS) {
            level->at = e->point;
            level->end = m->bound[other] + 1u;
            while (level->end < m->event_count && m->events[level->end].point == e->point)
                level->end++;
            return true;
        }
    }
    return false;
}

static void match_begin_level(struct pattern_match *m, bool uncertain)
{
    struct match_level *level = &m->levels[m->depth++];
    *level = (struct match_level){.role = match_next_role(m), .uncertain = uncertain};
    struct match_role *role = &m->roles[level->role];
    if (match_begin_single(m, level))
        return;
    level->bucket_end = role->bucket_count;
    if (role->has_key && m->is_bound >> role->partner & 1) {
        uint32_t value = m->events[m->bound[role->partner]].values[role->partner_key];
        uintptr_t known = (uintptr_t)map_get(&role->buckets, value, 0);
        level->bucket = known ? known - 1 : 0;
        level->bucket_end = known;
    }
}

/* Goes to the next chain of a level; returns false at the end. */
static bool match_next_chain(struct pattern_match *m, struct match_level *level)
{
    struct match_role *role = &m->roles[level->role];
    while (level->bucket < level->bucket_end) {
        const struct match_bucket *bucket = &role->all[level->bucket];
        if (level->chain < bucket->count) {
            const struct match_chain *list = &m->chains[bucket->chains[level->chain++]];
            match_narrow(m, list, level->role, &level->at, &level->end);
            level->items = list->items;
            return true;
        }
        level->bucket++;
        level->chain = 0;
    }
    return false;
}

/* ---- absent events ---- */

static enum match_certainty match_is_between(const struct pattern_match *m,
                                             const struct pattern_absence *absence, uint32_t event)
{
    static const struct pattern_relation before = {.kind = PATTERN_BEFORE};
    if (match_is_bound_event(m, event) || !match_comparisons_hold(m, absence->event, event))
        return MATCH_NO;
    enum match_certainty x = match_relation_holds(m, &before, m->bound[absence->a], event),
                         y = match_relation_holds(m, &before, event, m->bound[absence->b]);
    return x < y ? x : y;
}

/* Returns whether an event of a list is between the two events of an absence. */
static enum match_certainty match_list_is_between(const struct pattern_match *m,
                                                  const struct pattern_absence *absence,
                                                  const struct match_chain *list, uint64_t *budget)
{
    enum match_certainty best = MATCH_NO;
    size_t from = 0, end = list->count;
    uint32_t a = m->bound[absence->a], b = m->bound[absence->b];
    if (m->settings.may_be_unknown) {
        from = match_first_not_before(m, list, 0, end, a);
        end = match_first_after(m, list, from, end, b);
    } else {
        from = match_first_after(m, list, 0, end, a);
        end = match_first_not_before(m, list, from, end, b);
    }
    for (size_t i = from; i < end && best != MATCH_YES; i++) {
        enum match_certainty is = match_is_between(m, absence, list->items[i]);
        best = is > best ? is : best;
        *budget -= *budget > 0;
    }
    return best;
}

static enum match_certainty match_is_absent(const struct pattern_match *m,
                                            const struct pattern_absence *absence, uint64_t *budget)
{
    const struct match_role *role = &m->roles[absence->event];
    enum match_certainty between = MATCH_NO;
    size_t i = 0, end = role->bucket_count;
    if (role->has_key) { /* the partner of an absent event is present */
        uint32_t value = m->events[m->bound[role->partner]].values[role->partner_key];
        uintptr_t known = (uintptr_t)map_get(&role->buckets, value, 0);
        i = known ? known - 1 : 0;
        end = known;
    }
    for (; i < end && between != MATCH_YES; i++)
        for (size_t k = 0; k < role->all[i].count && between != MATCH_YES; k++) {
            enum match_certainty is =
                match_list_is_between(m, absence, &m->chains[role->all[i].chains[k]], budget);
            between = is > between ? is : between;
        }
    return between == MATCH_YES ? MATCH_NO : between == MATCH_NO ? MATCH_YES : MATCH_UNCERTAIN;
}

/* ---- results ---- */

static void match_keep_found(struct pattern_match *m, bool uncertain)
{
    uint32_t roles = m->pattern->event_count;
    m->found =
        array_reserve(m->found, &m->found_room, (m->found_count + 1) * roles, sizeof *m->found);
    m->found_uncertain =
        array_reserve(m->found_uncertain, &m->uncertain_room, m->found_count + 1, 1);
    for (uint32_t i = 0; i < roles; i++)
        m->found[m->found_count * roles + i] = m->roles[i].absent ? 0 : m->bound[i];
    m->found_uncertain[m->found_count++] = uncertain;
}

/* Judges a match of which all events are bound; returns whether it is one. */
static bool match_complete(struct pattern_match *m, bool uncertain, uint64_t *budget)
{
    for (uint32_t i = 0; i < m->pattern->absence_count; i++) {
        enum match_certainty absent = match_is_absent(m, &m->pattern->absences[i], budget);
        if (absent == MATCH_NO)
            return false;
        uncertain |= absent == MATCH_UNCERTAIN || m->settings.incomplete;
    }
    if (m->settings.first_only)
        m->done[m->bound[m->first_role]] |= uncertain ? MATCH_DONE_UNCERTAIN : MATCH_DONE;
    if (uncertain && m->strict)
        return false;
    m->count += !uncertain;
    m->uncertain_count += uncertain;
    if (m->found_count < m->settings.limit && (!uncertain || m->settings.keep_uncertain))
        match_keep_found(m, uncertain);
    m->strict |= m->uncertain_count >= m->settings.count_limit;
    m->finished = m->count >= m->settings.count_limit;
    return true;
}

/* Returns to the level that binds the pattern's first event: it has its match. */
static void match_leave_done(struct pattern_match *m)
{
    while (m->depth && m->levels[m->depth - 1].role != m->first_role)
        m->is_bound &= ~(1u << m->levels[--m->depth].role);
}

static bool match_is_done(const struct pattern_match *m, uint32_t role, uint32_t event)
{
    return m->settings.first_only && role == m->first_role && m->done[event] & MATCH_DONE;
}

/* Binds the next candidate of the innermost level, or leaves the level. */
static void match_advance(struct pattern_match *m, uint64_t *budget)
{
    struct match_level *level = &m->levels[m->depth - 1];
    m->is_bound &= ~(1u << level->role);
    if (level->at >= level->end) {
        m->depth -= !match_next_chain(m, level);
        return;
    }
    uint32_t event = level->items ? level->items[level->at] : (uint32_t)level->at;
    level->at++;
    if (!(m->events[event].roles >> level->role & 1) || match_is_done(m, level->role, event))
        return;
    enum match_certainty answer = match_check(m, level->role, event);
    if (answer == MATCH_NO || (answer == MATCH_UNCERTAIN && m->strict))
        return;
    bool uncertain = level->uncertain || answer == MATCH_UNCERTAIN;
    m->bound[level->role] = event;
    m->is_bound |= 1u << level->role;
    if (m->depth + 1 < m->present)
        match_begin_level(m, uncertain);
    else if (match_complete(m, uncertain, budget) && m->settings.first_only && !uncertain)
        match_leave_done(m);
}

/* Begins the search with the last event as the next role that it can have; returns false if there
 * is none. */
static bool match_begin_anchor(struct pattern_match *m, uint64_t *budget)
{
    uint32_t event = (uint32_t)m->event_count - 1;
    while (m->anchor_role < m->pattern->event_count) {
        uint32_t role = m->anchor_role++;
        if (!m->roles[role].may_be_last || !(m->events[event].roles >> role & 1) ||
            match_is_done(m, role, event))
            continue;
        m->bound[role] = event;
        m->is_bound = 1u << role;
        if (m->present == 1)
            match_complete(m, false, budget);
        else
            match_begin_level(m, false);
        return true;
    }
    return false;
}

bool pattern_match_step(struct pattern_match *m, uint64_t *budget)
{
    while (m->searching && !m->finished) {
        if (!*budget)
            return false;
        --*budget;
        if (m->depth) {
            match_advance(m, budget);
        } else if (!match_begin_anchor(m, budget)) {
            m->searching = false;
            match_keep(m);
        }
    }
    return true;
}

void pattern_match_end(struct pattern_match *m)
{
    uint64_t budget = 0;
    uint32_t roles = m->pattern->event_count;
    m->is_bound = 0;
    for (uint32_t i = 0; i < roles; i++)
        m->is_bound |= (uint32_t)!m->roles[i].absent << i;
    if (m->finished && m->searching)
        match_keep(m);
    m->searching = false;
    size_t kept = 0;
    for (size_t k = 0; k < m->found_count; k++) {
        memcpy(m->bound, m->found + k * roles, roles * sizeof *m->bound);
        bool uncertain = m->found_uncertain[k], was = uncertain;
        for (uint32_t i = 0; i < m->pattern->absence_count && m->settings.may_be_unknown; i++)
            uncertain |= match_is_absent(m, &m->pattern->absences[i], &budget) != MATCH_YES;
        m->count -= uncertain && !was;
        m->uncertain_count += uncertain && !was;
        if (uncertain && !m->settings.keep_uncertain)
            continue;
        memmove(m->found + kept * roles, m->found + k * roles, roles * sizeof *m->found);
        m->found_uncertain[kept++] = uncertain;
    }
    m->found_count = kept;
}
