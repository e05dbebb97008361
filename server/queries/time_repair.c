#include "server/queries/time_repair.h"

#include "base/lower_bound.h"
#include "base/alloc.h"

#include <stdlib.h>

#define LOOKS 16u /* maximum number of events visited that are not given */

struct time_repair {
    const struct order *order;
    struct repaired_event *events; /* sorted by position */
    size_t count;
};

struct repair_moment {
    int64_t time_ns;
    uint64_t position; /* NO_POSITION: no event */
};

static const struct repair_moment time_repair_no_moment = {INT64_MIN, NO_POSITION};

static struct repair_moment time_repair_later_moment(struct repair_moment a, struct repair_moment b)
{
    if (a.position == NO_POSITION || b.position == NO_POSITION)
        return a.position == NO_POSITION ? b : a;
    if (a.time_ns != b.time_ns)
        return a.time_ns > b.time_ns ? a : b;
    return a.position > b.position ? a : b;
}

int repaired_event_by_position(const void *a, const void *b)
{
    uint64_t x = ((const struct repaired_event *)a)->position,
             y = ((const struct repaired_event *)b)->position;
    return x < y ? -1 : x > y;
}

/* Returns the i-th direct predecessor of an event: those of its edges, then the previous one on its
 * line; NO_POSITION if there are no more. */
static uint64_t time_repair_nth_cause(const struct order *order, uint64_t position,
                                      const struct order_event *e, uint32_t i)
{
    if (i < e->edge_count)
        return order_edge(order, position, i);
    if (e->line & HIDDEN_LINE || order_line_shared(order, e->line))
        return NO_POSITION;
    return order_previous(order, position);
}

/* ---- a few steps back from each event ---- */

/* Returns the first given event of a synchronization point, or NULL. */
static const struct repaired_event *time_repair_find_point(const struct time_repair *r,
                                                           uint64_t point)
{
    size_t low = LOWER_BOUND(i, 0, r->count, r->events[i].point < point);
    return low < r->count && r->events[low].point == point ? &r->events[low] : NULL;
}

/* Returns the latest predecessor of a point among the given events, also through up to LOOKS
 * points without one. */
static struct repair_moment latest_before(const struct time_repair *r, uint64_t point,
                                          unsigned *looks)
{
    struct repair_moment latest = time_repair_no_moment;
    uint64_t last = order_point_end(r->order, point);
    for (uint64_t p = point; p <= last; p++) {
        struct order_event e = order_event(r->order, p);
        for (uint32_t i = 0; i < e.edge_count + 1; i++) {
            uint64_t from = time_repair_nth_cause(r->order, p, &e, i);
            if (from == NO_POSITION || from < order_first(r->order))
                continue;
            uint64_t cause = order_event(r->order, from).point;
            if (cause >= point)
                continue;
            const struct repaired_event *f = time_repair_find_point(r, cause);
            if (f)
                latest = time_repair_later_moment(latest,
                                                  (struct repair_moment){f->time_ns, f->position});
            else if ((*looks)++ < LOOKS)
                latest = time_repair_later_moment(latest, latest_before(r, cause, looks));
        }
    }
    return latest;
}

static size_t members_end(const struct time_repair *r, size_t first)
{
    size_t end = first + 1;
    while (end < r->count && r->events[end].point == r->events[first].point)
        end++;
    return end;
}

static void set_members(const struct time_repair *r, size_t first, size_t end,
                        struct repair_moment latest)
{
    for (size_t i = first; i < end; i++) {
        struct repaired_event *f = &r->events[i];
        f->time_ns = latest.position != NO_POSITION && latest.time_ns > f->clock_ns ? latest.time_ns
                                                                                    : f->clock_ns;
        f->behind = latest.position;
    }
}

/* ---- a pass over the log ---- */

static struct repair_moment latest_in(const struct order *order, uint64_t point, uint64_t last,
                                      uint64_t begin, const struct repair_moment *latest)
{
    struct repair_moment moment = time_repair_no_moment;
    for (uint64_t p = point; p <= last; p++) {
        struct order_event e = order_event(order, p);
        for (uint32_t i = 0; i < e.edge_count + 1; i++) {
            uint64_t from = time_repair_nth_cause(order, p, &e, i);
            if (from != NO_POSITION && from >= begin && from < point)
                moment = time_repair_later_moment(moment, latest[from - begin]);
        }
    }
    return moment;
}

/* Repairs the events in one pass over the log from the first to the last of them; does nothing
 * if that range is too long. */
static void repair_through_log(const struct time_repair *r)
{
    uint64_t begin = r->events[0].point,
             end = order_point_end(r->order, r->events[r->count - 1].position);
    if (end - begin >= REPAIR_LOG_MAX)
        return;
    struct repair_moment *latest = xmalloc((end - begin + 1) * sizeof *latest);
    for (uint64_t p = begin, last, next = 0; p <= end; p = last + 1) {
        last = order_point_end(r->order, p);
        struct repair_moment moment = latest_in(r->order, p, last, begin, latest);
        if (next < r->count && r->events[next].point == p) {
            size_t after = members_end(r, next);
            set_members(r, next, after, moment);
            moment = (struct repair_moment){r->events[next].time_ns, r->events[next].position};
            next = after;
        }
        for (uint64_t member = p; member <= last && member <= end; member++)
            latest[member - begin] = moment;
    }
    free(latest);
}

/* A cause precedes its effects in the log.  Usually a few steps back from each event suffice.
 * They do not if an event with a later time precedes it in the log, and they do not decide
 * whether that event also happened before it. */
void time_repair_events(const struct order *order, struct repaired_event *events, size_t count)
{
    struct time_repair r = {order, events, count};
    int64_t latest = INT64_MIN;
    bool whole = true;
    if (count)
        qsort(events, count, sizeof *events, repaired_event_by_position);
    for (size_t first = 0, end; first < count; first = end) {
        unsigned looks = 0;
        struct repair_moment before = latest_before(&r, events[first].point, &looks);
        end = members_end(&r, first);
        set_members(&r, first, end, before);
        for (size_t i = first; i < end && looks > LOOKS; i++)
            events[i].behind = events[i].position;
        whole &= looks <= LOOKS || events[first].time_ns >= latest;
        latest = events[first].time_ns > latest ? events[first].time_ns : latest;
    }
    if (!whole)
        repair_through_log(&r);
}
