#include "server/run/unordered_shared_events.h"

#include "base/map.h"
#include "base/alloc.h"
#include "server/run/event_times.h"

#include <stdlib.h>

#define PIECE 256u /* events per range */

struct unordered_ranges { /* ranges of a line's events, PIECE events each */
    struct unordered_range {
        int64_t least_ns, most_ns;
        uint64_t least, most; /* positions */
        uint32_t count;
    } *items;
    size_t room;
    /* ordinals before it were added; the range of an event is its ordinal / PIECE */
    uint64_t known;
};

struct unordered_events {
    struct map lines; /* line -> struct unordered_ranges */
};

static void unordered_events_free(void *state)
{
    struct unordered_events *astray = state;
    for (struct map_walk walk = {.map = &astray->lines}; map_next(&walk);) {
        struct unordered_ranges *pieces = walk.value;
        free(pieces->items);
        free(pieces);
    }
    map_free(&astray->lines);
    free(astray);
}

static struct unordered_ranges *unordered_events_ranges_of(const struct run *run, uint32_t line)
{
    const struct unordered_events *all = run_addon(&run->addons, RUN_ADDON_UNORDERED_EVENTS);
    return all ? map_get(&all->lines, line, 0) : NULL;
}

static struct unordered_ranges *unordered_events_build_ranges(const struct run *run, uint32_t line)
{
    struct run *cache = (struct run *)(uintptr_t)run; /* its observable state does not change */
    struct unordered_events *all = run_addon_make(&cache->addons, RUN_ADDON_UNORDERED_EVENTS,
                                                  sizeof *all, unordered_events_free);
    struct unordered_ranges *pieces = xcalloc(1, sizeof *pieces);
    pieces->known = order_line_first(run->order, line);
    pieces->known -= pieces->known % PIECE;
    map_put(&all->lines, line, 0, pieces);
    return pieces;
}

static void unordered_events_add(struct unordered_ranges *pieces, uint64_t position,
                                 int64_t time_ns)
{
    size_t i = pieces->known / PIECE;
    pieces->items =
        array_reserve_zeroed(pieces->items, &pieces->room, i + 1, sizeof *pieces->items);
    struct unordered_range *p = &pieces->items[i];
    p->least_ns = !p->count || time_ns < p->least_ns ? time_ns : p->least_ns;
    p->most_ns = !p->count || time_ns > p->most_ns ? time_ns : p->most_ns;
    p->least = !p->count || position < p->least ? position : p->least;
    p->most = !p->count || position > p->most ? position : p->most;
    p->count++;
}

bool unordered_events_update(const struct run *run, uint32_t line, uint64_t *budget)
{
    struct unordered_ranges *pieces = unordered_events_ranges_of(run, line);
    uint64_t end = order_line_events(run->order, line);
    if (!pieces)
        pieces = unordered_events_build_ranges(run, line);
    for (; pieces->known < end && *budget; pieces->known++, --*budget) {
        uint64_t position = pieces->known >= order_line_first(run->order, line)
                                ? order_line_at(run->order, line, pieces->known)
                                : NO_POSITION;
        if (position != NO_POSITION)
            unordered_events_add(pieces, position, event_times_point(run, position));
    }
    return pieces->known >= end;
}

/* Visits the events of one range that are within a time span; returns their number. */
static uint64_t unordered_events_add_event(
    const struct run *run, uint32_t line, uint64_t piece, int64_t from_ns, int64_t to_ns,
    void (*visit)(void *context, uint64_t position, int64_t time_ns), void *context)
{
    uint64_t at = piece * PIECE, end = at + PIECE, count = 0;
    uint64_t last = order_line_events(run->order, line), first = order_line_first(run->order, line);
    for (at = at < first ? first : at; at < end && at < last; at++) {
        uint64_t position = order_line_at(run->order, line, at);
        int64_t time = position == NO_POSITION ? 0 : event_times_point(run, position);
        if (position == NO_POSITION || time < from_ns || time >= to_ns)
            continue;
        count++;
        if (visit)
            visit(context, position, time);
    }
    return count;
}

void unordered_events_visit(const struct run *run, uint32_t line, int64_t from_ns, int64_t to_ns,
                            void (*visit)(void *context, uint64_t position, int64_t time_ns),
                            void *context)
{
    const struct unordered_ranges *pieces = unordered_events_ranges_of(run, line);
    uint64_t count = pieces ? (pieces->known + PIECE - 1) / PIECE : 0;
    for (uint64_t i = order_line_first(run->order, line) / PIECE; i < count; i++) {
        const struct unordered_range *p = &pieces->items[i];
        if (i < pieces->room && p->count && p->most_ns >= from_ns && p->least_ns < to_ns)
            unordered_events_add_event(run, line, i, from_ns, to_ns, visit, context);
    }
}

uint64_t unordered_events_before(const struct run *run, uint32_t line, int64_t time_ns)
{
    const struct unordered_ranges *pieces = unordered_events_ranges_of(run, line);
    uint64_t count = pieces ? (pieces->known + PIECE - 1) / PIECE : 0, before = 0;
    for (uint64_t i = order_line_first(run->order, line) / PIECE; i < count && i < pieces->room;
         i++) {
        const struct unordered_range *p = &pieces->items[i];
        if (p->count && p->most_ns < time_ns)
            before += p->count;
        else if (p->count && p->least_ns < time_ns)
            before += unordered_events_add_event(run, line, i, INT64_MIN, time_ns, NULL, NULL);
    }
    return before;
}

struct unordered_bounds {
    int64_t time_ns;
    uint64_t *first, *after;
};

static void unordered_events_update_bounds(void *context, uint64_t position, int64_t time_ns)
{
    struct unordered_bounds *b = context;
    if (time_ns >= b->time_ns && position < *b->first)
        *b->first = position;
    if (time_ns < b->time_ns && position >= *b->after)
        *b->after = position + 1;
}

void unordered_events_bounds(const struct run *run, uint32_t line, int64_t time_ns, uint64_t *first,
                             uint64_t *after)
{
    struct unordered_bounds b = {time_ns, first, after};
    const struct unordered_ranges *pieces = unordered_events_ranges_of(run, line);
    uint64_t count = pieces ? (pieces->known + PIECE - 1) / PIECE : 0;
    for (uint64_t i = order_line_first(run->order, line) / PIECE; i < count && i < pieces->room;
         i++) {
        const struct unordered_range *p = &pieces->items[i];
        if (p->count && p->most_ns < time_ns)
            unordered_events_update_bounds(&b, p->most, p->most_ns);
        else if (p->count && p->least_ns >= time_ns)
            unordered_events_update_bounds(&b, p->least, p->least_ns);
        else if (p->count)
            unordered_events_add_event(run, line, i, INT64_MIN, INT64_MAX,
                                       unordered_events_update_bounds, &b);
    }
}
