#include "clients/cli/swap_events.h"

#include "clients/cli/hold_points.h"
#include "base/alloc.h"

#include <stdlib.h>

bool swap_events_read(struct swap_events *f, const char *a, const char *b)
{
    return b && event_id_parse(a, &f->events[0]) && event_id_parse(b, &f->events[1]) &&
           f->events[0].line && f->events[1].line && !event_id_equal(f->events[0], f->events[1]);
}

static struct swap_occurrence swap_events_make_occurrence(const struct event_info *e)
{
    return (struct swap_occurrence){.at = e->at,
                                    .thread = e->thread ? e->thread : e->at.line,
                                    .type = e->type,
                                    .process = e->process,
                                    .site = e->site,
                                    .times = 1,
                                    .known = true};
}

/* Returns whether `at` is the event or the other half of its sync pair. */
static bool is_of_point(const struct event_info *e, struct event_id at)
{
    bool is = event_id_equal(e->at, at);
    for (uint32_t i = 0; i < e->partner_count && e->relation == RELATION_SYNC; i++)
        is |= event_id_equal(e->partners[i], at);
    return is;
}

/* Returns whether the event is part of the thread's last operation: the other half of a sync pair,
 * or of a type that has not occurred in it. Calls in a loop are operations of their own. */
static bool swap_events_continues(const struct swap_operation *last, const struct event_info *e)
{
    bool is = last->begin.known && last->begin.site == e->site;
    for (unsigned i = 0; is && i < last->type_count; i++)
        is = last->types[i] != e->type;
    return is || (last->begin.known && is_of_point(e, last->last));
}

/* Notes an event of a thread; returns the one with which its operation began, such as the lock
 * request: an earlier one at the same call site, or itself. */
static struct swap_occurrence swap_events_note(struct swap_events *f, const struct event_info *e)
{
    struct swap_occurrence is = swap_events_make_occurrence(e);
    f->last = array_reserve_zeroed(f->last, &f->room, is.thread + 1u, sizeof *f->last);
    struct swap_operation *last = &f->last[is.thread];
    if (!swap_events_continues(last, e))
        *last = (struct swap_operation){.begin = is};
    last->last = is.at;
    if (last->type_count < SWAP_OPERATION_TYPES)
        last->types[last->type_count++] = is.type;
    return last->begin;
}

/* Counts the thread's occurrences of that type and call site, including this one. */
static uint32_t swap_events_count_since(const struct swap_events *f,
                                        const struct swap_occurrence *is)
{
    uint32_t times = 1;
    for (size_t i = 0; i < f->count; i++)
        times += f->since[i].thread == is->thread && f->since[i].type == is->type &&
                 f->since[i].site == is->site;
    return times;
}

static unsigned named_by(const struct swap_events *f, const struct event_info *e)
{
    return is_of_point(e, f->events[0]) ? 1 : is_of_point(e, f->events[1]) ? 2 : 0;
}

/* Returns whether the thread has made any event so far. (Its creation is an event of another
 * thread.) */
static bool has_begun(const struct swap_events *f, uint32_t thread)
{
    return thread < f->room && f->last[thread].begin.known;
}

void swap_events_find(struct swap_events *f, const struct event_info *e)
{
    struct swap_occurrence is = swap_events_make_occurrence(e);
    unsigned named = named_by(f, e);
    if (f->first.known && named && named != f->first_named && !has_begun(f, is.thread))
        f->late = is;
    if (!f->events[0].line || f->first.known)
        return;
    struct swap_occurrence begin = swap_events_note(f, e);
    f->first_named = named;
    if (f->first_named)
        f->first = begin;
}

static bool comes_from(struct swap_events *f, const struct event_id *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (bitset_test(&f->after, events[i].line))
            return true;
    return false;
}

/* Returns whether the event is after the first one, or may be (any group event). */
static bool is_after(struct swap_events *f, const struct event_info *e)
{
    bool received = e->relation == RELATION_SYNC || e->relation == RELATION_RECEIVE;
    bool is = event_id_equal(e->at, f->first.at) || e->group ||
              bitset_test(&f->after, e->at.line) || bitset_test(&f->after, e->thread) ||
              (received && comes_from(f, e->partners, e->partner_count)) ||
              comes_from(f, e->after, e->after_count);
    if (is) {
        bitset_set(&f->after, e->at.line);
        bitset_set(&f->after, e->thread ? e->thread : e->at.line);
    }
    return is;
}

/* Returns whether to replay an event after the first one has begun: it may be needed to start the
 * other thread, and does not follow the first one. */
static bool swap_events_leads_to_other(struct swap_events *f, const struct event_info *e)
{
    uint32_t thread = f->late.thread;
    bool leads = !is_after(f, e) && f->late.known;
    if (e->thread == thread || e->at.line == thread) {
        leads &= e->site != f->late.site;
        f->late.known &= leads && e->thread != thread;
    }
    return leads;
}

bool swap_events_filter(struct swap_events *f, const struct event_info *e)
{
    struct swap_occurrence is = swap_events_make_occurrence(e);
    if (!f->first.known)
        return true;
    f->begun |= event_id_equal(e->at, f->first.at);
    bool repeated = !f->begun || (f->late.known && swap_events_leads_to_other(f, e));
    if (!f->begun || f->other.known)
        return repeated;
    unsigned named = named_by(f, e);
    if (named && named != f->first_named) {
        f->other = is;
        f->other.times = swap_events_count_since(f, &is);
    }
    f->since = array_reserve(f->since, &f->since_room, f->count + 1, sizeof *f->since);
    f->since[f->count++] = is;
    return repeated;
}

bool swap_events_hold_points(const struct swap_events *f, const struct trace_metadata *book,
                             struct schedule_control *head, const char **why)
{
    const struct swap_occurrence *both[] = {&f->first, &f->other};
    *head = hold_points_unresolved();
    *why = !f->other.known                      ? "the trace does not contain both of them"
           : f->first.thread == f->other.thread ? "one thread performed both"
                                                : NULL;
    for (uint32_t i = 0; i < 2 && !*why; i++) {
        struct hold_point *p = &head->points[head->point_count++];
        struct table_place place = {both[i]->process, both[i]->site};
        *p = (struct hold_point){.thread = both[i]->thread,
                                 .until = i ? HOLD_UNTIL_NOT_HELD : HOLD_UNTIL_DONE,
                                 .others = i ? 0 : 2,
                                 .count = f->other.times,
                                 .most = 1};
        if (!both[i]->site ||
            !hold_points_point(p, book, place, metadata_type_name(book, both[i]->type)))
            *why = "their call sites are unknown";
    }
    return !*why;
}

void swap_events_free(struct swap_events *f)
{
    free(f->last);
    free(f->since);
    bitset_free(&f->after);
}
