#include "server/run/event_times.h"

#include "base/alloc.h"
#include "base/lower_bound.h"
#include "base/map.h"
#include "server/run/clock_sync.h"

#include <stdlib.h>

static uint32_t process_of(const struct run *run, uint32_t line, uint32_t thread)
{
    line = thread && thread <= order_line_count(run->order) ? thread : line;
    return line && line <= order_line_count(run->order) ? run_line_at(run, line)->process : 0;
}

int64_t event_times_for_process(const struct run *run, const struct order_event *e)
{
    return event_times_of(run, &(struct event_time){e->time_ns, e->line, e->thread});
}

int64_t event_times_of(const struct run *run, const struct event_time *e)
{
    return run->processes.count < 2
               ? e->time_ns
               : clock_sync_correct(run, process_of(run, e->line, e->thread), e->time_ns);
}

int64_t event_times_fitted(const struct run *run, uint64_t position)
{
    struct order_event e = order_event(run->order, position);
    return event_times_for_process(run, &e);
}

int64_t event_times_begin(const struct run *run)
{
    int64_t least = run->clock.last_ns;
    for (uint32_t line = 1; line <= order_line_count(run->order); line++) {
        uint64_t first = order_line_first(run->order, line);
        if (first >= order_line_events(run->order, line))
            continue;
        uint64_t position = order_line_at(run->order, line, first);
        if (position != NO_POSITION && event_times_fitted(run, position) < least)
            least = event_times_fitted(run, position);
    }
    return least;
}

/* Returns whether a program ended otherwise than by itself: its threads may have waited since their
 * last events. */
static bool event_times_any_killed(const struct run *run)
{
    const struct run_processes *all = &run->processes;
    bool killed = false;
    for (uint32_t i = 0; i < all->count && !killed; i++)
        killed = !run_process_exited(run, i);
    return killed;
}

int64_t event_times_end(const struct run *run)
{
    const struct run_clock *clock = &run->clock;
    bool longer = !run->programs.connected && clock->ended_ns > clock->last_ns;
    return (longer && event_times_any_killed(run) ? clock->ended_ns : clock->last_ns) + 1;
}

int64_t event_times_point(const struct run *run, uint64_t position)
{
    uint64_t end = order_point_end(run->order, position);
    int64_t latest = event_times_fitted(run, position);
    for (uint64_t p = order_event(run->order, position).point; p < end + 1 && p <= end; p++) {
        int64_t time = p == position ? latest : event_times_fitted(run, p);
        latest = time > latest ? time : latest;
    }
    return latest;
}

/* ---- times along an exclusive line ----
 *
 * The own times of its events grow. The time of an event's point may be later, and so later than
 * that of events after it, but by no more than the members of a point are apart. So the points of
 * events are compared with a time only where the events themselves are that near to it. */

/* Number of events that are compared at most. They are fewer where clocks of several hosts meet,
 * since members are apart by their clocks, too. */
#define NEAR_MOST (1u << 14)
#define NEAR_MOST_OF_HOSTS (1u << 10)

/* Returns the first of some ordinals of a line at which an event's own time is at or after a time;
 * `end` if none is. */
static uint64_t event_times_search(const struct run *run, uint32_t line, uint64_t begin,
                                   uint64_t end, int64_t time_ns)
{
    const struct order *order = run->order;
    return LOWER_BOUND(i, begin, end,
                       order_line_at(order, line, i) != NO_POSITION &&
                           event_times_fitted(run, order_line_at(order, line, i)) < time_ns);
}

/* Ordinals of a line's events: those before `begin` are before a time, those from `end` on are at
 * or after it, and of those in between some may be. */
struct time_bracket {
    uint64_t begin, end;
};

static struct time_bracket event_times_bracket(const struct run *run, uint32_t line,
                                               int64_t time_ns)
{
    bool hosts = clock_sync_generation(run) != 0;
    uint64_t spread = order_point_spread_ns(run->order),
             most = hosts ? NEAR_MOST_OF_HOSTS : NEAR_MOST;
    uint64_t first = order_line_first(run->order, line);
    struct time_bracket b = {first, order_line_events(run->order, line)};
    b.end = event_times_search(run, line, first, b.end, time_ns);
    if (b.end - first > most)
        b.begin = b.end - most;
    if (!hosts && spread <= (uint64_t)time_ns - (uint64_t)INT64_MIN)
        b.begin = event_times_search(run, line, b.begin, b.end, time_ns - (int64_t)spread);
    return b;
}

static bool event_times_is_before(const struct run *run, uint32_t line, uint64_t ordinal,
                                  int64_t time_ns)
{
    uint64_t position = order_line_at(run->order, line, ordinal);
    return position != NO_POSITION && event_times_point(run, position) < time_ns;
}

/* Returns the ordinal of a line's first event at or after a time, or the number of its events. */
static uint64_t event_times_ordinal(const struct run *run, uint32_t line, int64_t time_ns)
{
    struct time_bracket b = event_times_bracket(run, line, time_ns);
    while (b.begin < b.end && event_times_is_before(run, line, b.begin, time_ns))
        b.begin++;
    return b.begin;
}

/* Returns the ordinal after a line's last event before a time, or that of its first event. */
static uint64_t event_times_ordinal_after(const struct run *run, uint32_t line, int64_t time_ns)
{
    struct time_bracket b = event_times_bracket(run, line, time_ns);
    while (b.begin < b.end && !event_times_is_before(run, line, b.end - 1, time_ns))
        b.end--;
    return b.end;
}

/* Returns the number of a line's events before a time. */
static uint64_t event_times_count_before(const struct run *run, uint32_t line, int64_t time_ns)
{
    struct time_bracket b = event_times_bracket(run, line, time_ns);
    uint64_t count = b.begin - order_line_first(run->order, line);
    for (; b.begin < b.end; b.begin++)
        count += event_times_is_before(run, line, b.begin, time_ns);
    return count;
}

static void event_times_visit(const struct run *run, uint32_t line, int64_t from_ns, int64_t to_ns,
                              void (*visit)(void *context, uint64_t position, int64_t time_ns),
                              void *context)
{
    uint64_t at = event_times_bracket(run, line, from_ns).begin,
             end = event_times_bracket(run, line, to_ns).end;
    for (; at < end; at++) {
        uint64_t position = order_line_at(run->order, line, at);
        int64_t time_ns = position == NO_POSITION ? to_ns : event_times_point(run, position);
        if (time_ns >= from_ns && time_ns < to_ns)
            visit(context, position, time_ns);
    }
}

/* Returns the position of a line's first event at or after a time, or NO_POSITION. */
static uint64_t line_from(const struct run *run, uint32_t line, int64_t time_ns)
{
    uint64_t at = event_times_ordinal(run, line, time_ns);
    return at < order_line_events(run->order, line) ? order_line_at(run->order, line, at)
                                                    : NO_POSITION;
}

/* Lowers *first to the first position of an event of an exclusive line with a point at or after a
 * time, and raises *after to the position after the last one before it. */
static void event_times_bounds(const struct run *run, uint32_t line, int64_t time_ns,
                               uint64_t *first, uint64_t *after)
{
    uint64_t at = line_from(run, line, time_ns);
    uint64_t last = event_times_ordinal_after(run, line, time_ns);
    *first = at < *first ? at : *first;
    at = last > order_line_first(run->order, line) ? order_line_at(run->order, line, last - 1)
                                                   : NO_POSITION;
    *after = at != NO_POSITION && at >= *after ? at + 1 : *after;
}

uint64_t event_times_position(const struct run *run, int64_t time_ns)
{
    uint64_t least = order_count(run->order);
    for (uint32_t line = 1; line <= order_line_count(run->order); line++) {
        uint64_t position = line_from(run, line, time_ns);
        least = position < least ? position : least;
    }
    return least;
}

uint64_t event_times_position_after(const struct run *run, int64_t time_ns)
{
    uint64_t after = order_first(run->order);
    for (uint32_t line = 1; line <= order_line_count(run->order); line++) {
        uint64_t ordinal = time_ns == INT64_MAX ? order_line_events(run->order, line)
                                                : event_times_ordinal_after(run, line, time_ns + 1);
        if (ordinal <= order_line_first(run->order, line))
            continue;
        uint64_t position = order_line_at(run->order, line, ordinal - 1);
        if (position != NO_POSITION && position >= after)
            after = position + 1;
    }
    return after;
}

/* ---- events by time ---- */

#define PIECE 256u /* events per range */
/* To index exclusive lines the first window has to read them whole, so only this many. */
#define INDEXED_EVENTS_MOST (1u << 22)
#define INDEXED_LINES_MOST 4096u

/* ---- indexed lines ---- */

struct unordered_ranges { /* ranges of a line's events, PIECE events each */
    struct unordered_range {
        int64_t least_ns, most_ns;
        /* The greatest time of it and all ranges before it, the least one of it and all after it:
         * both grow from range to range. */
        int64_t latest_ns, earliest_ns;
        uint64_t least, most; /* positions */
        uint64_t before; /* number of events in the ranges before it */
        uint32_t count;
        bool decreases; /* a time in it is less than the one before */
        int64_t last_ns;
    } *items;
    size_t count, room;
    /* ordinals before it were added; the range of an event is its ordinal / PIECE */
    uint64_t known;
    uint64_t clocks; /* generation of the clock fit by which times were indexed */
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
    map_put(&all->lines, line, 0, pieces);
    return pieces;
}

/* Empties an index: it begins with the range of the line's first event. */
static void unordered_events_begin(const struct run *run, uint32_t line, uint64_t clocks,
                                   struct unordered_ranges *pieces)
{
    pieces->known = order_line_first(run->order, line);
    pieces->known -= pieces->known % PIECE;
    pieces->count = pieces->known / PIECE;
    pieces->clocks = clocks;
    pieces->items = array_reserve_zeroed(pieces->items, &pieces->room, pieces->count + 1,
                                         sizeof *pieces->items);
    for (size_t i = 0; i < pieces->count; i++)
        pieces->items[i] =
            (struct unordered_range){.latest_ns = INT64_MIN, .earliest_ns = INT64_MIN};
}

/* Returns the range of the next event; makes it, and any without an event before it. */
static struct unordered_range *unordered_events_last_range(struct unordered_ranges *pieces)
{
    size_t i = pieces->known / PIECE;
    pieces->items =
        array_reserve_zeroed(pieces->items, &pieces->room, i + 1, sizeof *pieces->items);
    for (; pieces->count <= i; pieces->count++) {
        const struct unordered_range *previous =
            pieces->count ? &pieces->items[pieces->count - 1] : NULL;
        pieces->items[pieces->count] =
            (struct unordered_range){.latest_ns = previous ? previous->latest_ns : INT64_MIN,
                                     .earliest_ns = INT64_MAX,
                                     .before = previous ? previous->before + previous->count : 0};
    }
    return &pieces->items[i];
}

static void unordered_events_add(struct unordered_ranges *pieces, uint64_t position,
                                 int64_t time_ns)
{
    struct unordered_range *p = unordered_events_last_range(pieces);
    p->least_ns = !p->count || time_ns < p->least_ns ? time_ns : p->least_ns;
    p->most_ns = !p->count || time_ns > p->most_ns ? time_ns : p->most_ns;
    p->least = !p->count || position < p->least ? position : p->least;
    p->most = !p->count || position > p->most ? position : p->most;
    p->decreases |= p->count && time_ns < p->last_ns;
    p->last_ns = time_ns;
    p->count++;
    p->latest_ns = time_ns > p->latest_ns ? time_ns : p->latest_ns;
    for (; p->earliest_ns > time_ns; p--) {
        p->earliest_ns = time_ns;
        if (p == pieces->items)
            break;
    }
}

static bool unordered_events_update(const struct run *run, uint32_t line, uint64_t *budget)
{
    struct unordered_ranges *pieces = unordered_events_ranges_of(run, line);
    uint64_t end = order_line_events(run->order, line), clocks = clock_sync_generation(run);
    bool is_new = !pieces;
    if (is_new)
        pieces = unordered_events_build_ranges(run, line);
    if (is_new || pieces->clocks != clocks)
        unordered_events_begin(run, line, clocks, pieces);
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
    const struct run *run, uint32_t line, const struct unordered_ranges *pieces, uint64_t piece,
    int64_t from_ns, int64_t to_ns,
    void (*visit)(void *context, uint64_t position, int64_t time_ns), void *context)
{
    uint64_t at = piece * PIECE, end = at + PIECE, count = 0;
    uint64_t last = pieces->known, first = order_line_first(run->order, line);
    bool grows = !pieces->items[piece].decreases;
    at = at < first ? first : at;
    end = end > last ? last : end;
    if (grows && from_ns > INT64_MIN)
        at = LOWER_BOUND(i, at, end, event_times_is_before(run, line, i, from_ns));
    if (grows && !visit)
        return LOWER_BOUND(i, at, end, event_times_is_before(run, line, i, to_ns)) - at;
    for (; at < end; at++) {
        uint64_t position = order_line_at(run->order, line, at);
        int64_t time = position == NO_POSITION ? 0 : event_times_point(run, position);
        if (position != NO_POSITION && grows && time >= to_ns)
            break;
        if (position == NO_POSITION || time < from_ns || time >= to_ns)
            continue;
        count++;
        if (visit)
            visit(context, position, time);
    }
    return count;
}

/* Returns the first range with an event at or after a time. */
static size_t unordered_events_first_range(const struct run *run, uint32_t line,
                                           const struct unordered_ranges *pieces, int64_t time_ns)
{
    size_t begin = order_line_first(run->order, line) / PIECE;
    begin = begin < pieces->count ? begin : pieces->count;
    return LOWER_BOUND(i, begin, pieces->count, pieces->items[i].latest_ns < time_ns);
}

/* Returns the range behind the last one with an event before a time. */
static size_t unordered_events_after_range(const struct unordered_ranges *pieces, size_t begin,
                                           int64_t time_ns)
{
    return LOWER_BOUND(i, begin, pieces->count, pieces->items[i].earliest_ns < time_ns);
}

static void unordered_events_visit(const struct run *run, uint32_t line, int64_t from_ns,
                                   int64_t to_ns,
                                   void (*visit)(void *context, uint64_t position, int64_t time_ns),
                                   void *context)
{
    const struct unordered_ranges *pieces = unordered_events_ranges_of(run, line);
    if (!pieces)
        return;
    size_t i = unordered_events_first_range(run, line, pieces, from_ns);
    for (size_t end = unordered_events_after_range(pieces, i, to_ns); i < end; i++) {
        const struct unordered_range *p = &pieces->items[i];
        if (p->count && p->most_ns >= from_ns && p->least_ns < to_ns)
            unordered_events_add_event(run, line, pieces, i, from_ns, to_ns, visit, context);
    }
}

static uint64_t unordered_events_before(const struct run *run, uint32_t line, int64_t time_ns)
{
    const struct unordered_ranges *pieces = unordered_events_ranges_of(run, line);
    if (!pieces)
        return 0;
    uint64_t before = 0;
    size_t begin = order_line_first(run->order, line) / PIECE,
           i = unordered_events_first_range(run, line, pieces, time_ns);
    if (i > begin) /* (some events of the first range may be discarded) */
        before =
            unordered_events_add_event(run, line, pieces, begin, INT64_MIN, INT64_MAX, NULL, NULL) +
            pieces->items[i - 1].before + pieces->items[i - 1].count - pieces->items[begin].before -
            pieces->items[begin].count;
    for (size_t end = unordered_events_after_range(pieces, i, time_ns); i < end; i++) {
        const struct unordered_range *p = &pieces->items[i];
        if (p->count && p->most_ns < time_ns)
            before += p->count;
        else if (p->count && p->least_ns < time_ns)
            before +=
                unordered_events_add_event(run, line, pieces, i, INT64_MIN, time_ns, NULL, NULL);
    }
    return before;
}

static uint64_t unordered_events_first(const struct run *run, uint32_t line, int64_t time_ns)
{
    const struct unordered_ranges *pieces = unordered_events_ranges_of(run, line);
    uint64_t end = order_line_events(run->order, line);
    size_t piece = pieces ? unordered_events_first_range(run, line, pieces, time_ns) : 0;
    if (!pieces || piece == pieces->count)
        return end;
    uint64_t at = piece * PIECE, first = order_line_first(run->order, line);
    for (at = at < first ? first : at; at < end; at++) {
        uint64_t position = order_line_at(run->order, line, at);
        if (position != NO_POSITION && event_times_point(run, position) >= time_ns)
            break;
    }
    return at;
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

static void unordered_events_bounds(const struct run *run, uint32_t line, int64_t time_ns,
                                    uint64_t *first, uint64_t *after)
{
    struct unordered_bounds b = {time_ns, first, after};
    const struct unordered_ranges *pieces = unordered_events_ranges_of(run, line);
    if (!pieces)
        return;
    size_t begin = unordered_events_first_range(run, line, pieces, time_ns);
    size_t end = unordered_events_after_range(pieces, begin, time_ns);
    /* (and its neighbors: all of one is before the time, all of the other after it) */
    begin -= begin > order_line_first(run->order, line) / PIECE;
    end += end < pieces->count;
    for (size_t i = begin; i < end; i++) {
        const struct unordered_range *p = &pieces->items[i];
        if (p->count && p->most_ns < time_ns)
            unordered_events_update_bounds(&b, p->most, p->most_ns);
        else if (p->count && p->least_ns >= time_ns)
            unordered_events_update_bounds(&b, p->least, p->least_ns);
        else if (p->count)
            unordered_events_add_event(run, line, pieces, i, INT64_MIN, INT64_MAX,
                                       unordered_events_update_bounds, &b);
    }
}

/* ---- all lines ---- */

bool events_by_time_may_index(const struct run *run, const uint32_t *lines, uint32_t count)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < count; i++)
        events += order_line_events(run->order, lines[i]) - order_line_first(run->order, lines[i]);
    return count <= INDEXED_LINES_MOST && events <= INDEXED_EVENTS_MOST;
}

static bool events_by_time_is_indexed(const struct run *run, uint32_t line, bool all_indexed)
{
    return all_indexed || order_line_shared(run->order, line);
}

bool events_by_time_update(const struct run *run, uint32_t line, bool all_indexed, uint64_t *budget)
{
    return !events_by_time_is_indexed(run, line, all_indexed) ||
           unordered_events_update(run, line, budget);
}

uint64_t events_by_time_count(const struct run *run, uint32_t line, bool all_indexed,
                              int64_t from_ns, int64_t to_ns)
{
    if (events_by_time_is_indexed(run, line, all_indexed))
        return unordered_events_before(run, line, to_ns) -
               unordered_events_before(run, line, from_ns);
    return to_ns > from_ns ? event_times_count_before(run, line, to_ns) -
                                 event_times_count_before(run, line, from_ns)
                           : 0;
}

void events_by_time_visit(const struct run *run, uint32_t line, bool all_indexed, int64_t from_ns,
                          int64_t to_ns,
                          void (*visit)(void *context, uint64_t position, int64_t time_ns),
                          void *context)
{
    if (events_by_time_is_indexed(run, line, all_indexed))
        unordered_events_visit(run, line, from_ns, to_ns, visit, context);
    else if (to_ns > from_ns)
        event_times_visit(run, line, from_ns, to_ns, visit, context);
}

void events_by_time_bounds(const struct run *run, uint32_t line, bool all_indexed, int64_t time_ns,
                           uint64_t *first, uint64_t *after)
{
    if (events_by_time_is_indexed(run, line, all_indexed))
        unordered_events_bounds(run, line, time_ns, first, after);
    else
        event_times_bounds(run, line, time_ns, first, after);
}

uint64_t events_by_time_first(const struct run *run, uint32_t line, bool all_indexed,
                              int64_t time_ns)
{
    if (order_line_shared(run->order, line))
        return order_line_first(run->order, line) + unordered_events_before(run, line, time_ns);
    return all_indexed ? unordered_events_first(run, line, time_ns)
                       : event_times_ordinal(run, line, time_ns);
}
