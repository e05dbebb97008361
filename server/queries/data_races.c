#include "server/queries/data_races.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/run/call_sites.h"
#include "server/run/untraced_reasons.h"

#include <stdlib.h>

#define BATCH 256u

/* The time of a thread after one of its events: the next one ends it. */
struct data_races_interval {
    uint32_t thread;
    uint64_t point, next; /* positions; NO_POSITION: not found (yet) */
};

/* What is known of the order of two events. */
enum data_races_verdict { VERDICT_ORDERED = 1, VERDICT_RACE, VERDICT_UNKNOWN };

struct data_races {
    const struct run *run;
    struct map intervals; /* line, number of an event -> 1 + index */
    struct data_races_interval *items;
    size_t count, room;
    uint64_t first, position, end; /* of the log: begin, to be read next, and end */
    size_t *open; /* by thread: 1 + the interval that it is in; 0: none of these */
    uint32_t threads;
    struct order_event *events;
    size_t at, conflicts; /* of the conflicts: to be compared next, and their number */
    struct comparison *comparison;
    bool comparing;
    struct map verdicts; /* interval, position -> verdict | reasons << 2 */
    struct map places; /* a pair of places and memory -> 1 + race */
    struct data_race *found;
    size_t found_count, found_room;
    uint64_t unknown; /* conflicts of which the order is not known, */
    uint32_t unknown_reasons; /*   and why */
    /* of the events around them */
    size_t around;
    struct cone *cone;
    bool future;
};

/* ---- intervals ---- */

static void data_races_add_interval(struct data_races *r, const struct conflict_access *a)
{
    MAP_INDEX(&r->intervals, a->after.line, a->after.number, r->items, r->count, r->room,
              (struct data_races_interval){a->thread, NO_POSITION, NO_POSITION});
}

static struct data_races_interval *data_races_interval(const struct data_races *r,
                                                       struct event_id after)
{
    uintptr_t i = (uintptr_t)map_get(&r->intervals, after.line, after.number);
    return i ? &r->items[i - 1] : NULL;
}

static void data_races_begin(struct data_races *r, const struct run *run)
{
    *r = (struct data_races){.run = run,
                             .first = order_first(run->order),
                             .position = order_first(run->order),
                             .end = order_count(run->order),
                             .conflicts = conflicts_count(run),
                             .threads = order_line_count(run->order),
                             .comparison = comparison_new(run->order)};
    for (size_t i = 0; i < r->conflicts; i++)
        data_races_add_interval(r, &conflicts_at(run, i)->accesses[0]);
    if (!r->count)
        r->position = r->end;
    r->open = xcalloc(r->threads + 1u, sizeof *r->open);
    r->events = xcalloc(BATCH, sizeof *r->events);
}

static void data_races_end(struct data_races *r)
{
    cone_free(r->cone);
    comparison_free(r->comparison);
    map_free(&r->intervals);
    map_free(&r->verdicts);
    map_free(&r->places);
    free(r->items);
    free(r->open);
    free(r->events);
    free(r->found);
}

struct data_races *data_races_new(const struct run *run)
{
    struct data_races *r = xmalloc(sizeof *r);
    data_races_begin(r, run);
    return r;
}

static void data_races_read_event(struct data_races *r, const struct order_event *e,
                                  uint64_t position)
{
    if (!e->thread || e->thread > r->threads)
        return;
    size_t *open = &r->open[e->thread];
    if (*open && e->point > r->items[*open - 1].point) {
        r->items[*open - 1].next = position;
        *open = 0;
    }
    struct data_races_interval *begun =
        data_races_interval(r, (struct event_id){e->line, e->number});
    if (begun && begun->thread == e->thread) {
        begun->point = e->point;
        *open = (size_t)(begun - r->items) + 1;
    }
}

static bool data_races_read_log(struct data_races *r, uint64_t *budget)
{
    while (r->position < r->end && *budget) {
        size_t n = order_read(r->run->order, r->position, BATCH, r->events);
        for (size_t i = 0; i < n; i++)
            data_races_read_event(r, &r->events[i], r->position + i);
        r->position += n;
        *budget -= *budget < n ? *budget : n;
    }
    return r->position >= r->end;
}

/* ---- verdicts ---- */

/* Returns the event that follows the earlier access, or that is not after it and that everything
 * which is after the access is after; line 0: none. */
static struct event_id data_races_next(const struct data_races *r, const struct conflict *c)
{
    const struct conflict_access *a = &c->accesses[0];
    const struct data_races_interval *i = data_races_interval(r, a->after);
    if (a->flags & ACCESS_RELEASE || i->point == NO_POSITION) /* (it may be discarded) */
        return a->after;
    if (i->next != NO_POSITION) {
        struct order_event e = order_event(r->run->order, i->next);
        return (struct event_id){e.line, e.number};
    }
    /* what a thread does after its last event comes before its end, which is joined */
    return order_line_closed(r->run->order, a->thread) ? a->after : (struct event_id){0};
}

static bool data_races_exists(const struct data_races *r, struct event_id at)
{
    return at.line && at.line <= order_line_count(r->run->order) && at.number &&
           at.number <= order_line_highest(r->run->order, at.line);
}

/* Returns reasons for which events may be missing between the access and the event that follows
 * it. */
static uint32_t data_races_gap(const struct data_races *r, const struct conflict *c)
{
    const struct data_races_interval *i = data_races_interval(r, c->accesses[0].after);
    if (i->next == NO_POSITION)
        return 0;
    struct order_event e = order_event(r->run->order, i->next);
    return (e.after_gap ? UNTRACED_BIT(UNTRACED_LOST) : 0) | (e.doubt ? UNTRACED_BIT(e.doubt) : 0);
}

/* Returns the verdict with its reasons; 0: the comparison must be continued. */
static uintptr_t data_races_judge(struct data_races *r, const struct conflict *c, uint64_t budget)
{
    struct event_id a = data_races_next(r, c), b = c->accesses[1].after;
    uint32_t hiding = untraced_reasons_hiding_order(r->run), reasons;
    uint32_t mechanisms = untraced_reasons_mechanisms(r->run) & ~UNTRACED_BIT(UNTRACED_CALLS);
    hiding |= data_races_gap(r, c);
    if (!data_races_exists(r, b) || (a.line && !data_races_exists(r, a)))
        return VERDICT_UNKNOWN | (uintptr_t)UNTRACED_BIT(UNANSWERED_GONE) << 2;
    uint64_t later = order_position(r->run->order, b);
    if (later >= r->end && !order_is_discarded(r->run->order, b)) /* what precedes it, too */
        return VERDICT_UNKNOWN | (uintptr_t)UNTRACED_BIT(UNANSWERED_PENDING) << 2;
    if (!a.line)
        return VERDICT_RACE | (uintptr_t)(hiding | mechanisms) << 2;
    if (!r->comparing)
        comparison_begin(r->comparison, a, b);
    r->comparing = true;
    if (!comparison_step(r->comparison, budget))
        return 0;
    r->comparing = false;
    switch (comparison_answer(r->comparison)) {
    case ORDER_BEFORE:
    case ORDER_SAME:
        return VERDICT_ORDERED;
    case ORDER_UNKNOWN:
        reasons = comparison_reasons(r->comparison);
        return reasons >> UNANSWERED_PENDING ? VERDICT_UNKNOWN | (uintptr_t)reasons << 2
                                             : VERDICT_RACE | (uintptr_t)(reasons | hiding) << 2;
    case ORDER_AFTER:
    case ORDER_CONCURRENT:
        break;
    }
    return VERDICT_RACE | (uintptr_t)(hiding | mechanisms) << 2;
}

/* ---- races ---- */

static uint64_t data_races_mix(struct call_site_key place)
{
    return (place.space * 0x9e3779b97f4a7c15u) ^ (place.offset * 0xff51afd7ed558ccdu);
}

/* Which access came first does not matter. */
static struct data_race *data_races_find(struct data_races *r, size_t number)
{
    const struct conflict *c = conflicts_at(r->run, number);
    uint64_t places[2];
    for (int i = 0; i < 2; i++)
        places[i] = data_races_mix(call_sites_key(r->run, c->process, c->accesses[i].address)) +
                    c->accesses[i].flags % ACCESS_RELEASE;
    uint64_t block = data_races_mix(call_sites_key(r->run, c->process, c->block_site)) + c->memory;
    return MAP_ITEM(&r->places, places[0] + places[1], (places[0] ^ places[1]) + block, r->found,
                    r->found_count, r->found_room,
                    (struct data_race){.conflict = number,
                                       .first_byte = c->address,
                                       .end_byte = c->address + c->bytes,
                                       .reasons = UINT32_MAX,
                                       .next = NO_POSITION,
                                       .before = NO_POSITION,
                                       .after = NO_POSITION});
}

/* Returns the reason for which the memory may have been two blocks of the heap, one after the
 * other; 0: it was not. */
static uint32_t data_races_reuse(const struct run *run, const struct conflict *c)
{
    const struct run_process *process = &run->processes.items[c->process];
    for (size_t i = 0; i < process->module_count; i++)
        if (c->address - process->modules[i].start <
            process->modules[i].end - process->modules[i].start)
            return 0;
    return c->memory == MEMORY_UNSEEN ? UNTRACED_BIT(UNTRACED_OBJECT) : 0;
}

static void data_races_add(struct data_races *r, size_t number, uint32_t reasons)
{
    const struct conflict *c = conflicts_at(r->run, number);
    reasons |= data_races_reuse(r->run, c);
    struct data_race *race = data_races_find(r, number);
    race->count++;
    if (c->address < race->first_byte)
        race->first_byte = c->address;
    if (c->address + c->bytes > race->end_byte)
        race->end_byte = c->address + c->bytes;
    if (race->reasons == UINT32_MAX || (race->reasons && !reasons)) {
        race->conflict = number;
        race->reasons = reasons;
        race->next = data_races_interval(r, c->accesses[0].after)->next;
    }
}

static bool data_races_compare(struct data_races *r, uint64_t *budget)
{
    for (; r->at < r->conflicts && *budget; *budget -= *budget < 100 ? *budget : 100) {
        const struct conflict *c = conflicts_at(r->run, r->at);
        uint64_t interval = (uint64_t)(data_races_interval(r, c->accesses[0].after) - r->items)
                                << 1 |
                            ((c->accesses[0].flags & ACCESS_RELEASE) != 0);
        uint64_t later = (uint64_t)c->accesses[1].after.line << 40 ^ c->accesses[1].after.number;
        uintptr_t verdict = (uintptr_t)map_get(&r->verdicts, interval, later);
        if (!verdict) {
            verdict = data_races_judge(r, c, *budget);
            if (!verdict)
                return false;
            map_put(&r->verdicts, interval, later, (void *)verdict);
        }
        if ((verdict & 3) == VERDICT_RACE)
            data_races_add(r, r->at, (uint32_t)(verdict >> 2));
        if ((verdict & 3) == VERDICT_UNKNOWN) {
            r->unknown++;
            r->unknown_reasons |= (uint32_t)(verdict >> 2);
        }
        r->at++;
    }
    return r->at == r->conflicts;
}

/* ---- the events around ---- */

static bool data_races_is_known(const struct data_races *r, uint64_t position)
{
    return position != NO_POSITION && position >= order_first(r->run->order);
}

/* Returns false if the cone must be continued. */
static bool data_races_look_around(struct data_races *r, struct data_race *race, uint64_t budget)
{
    const struct conflict *c = conflicts_at(r->run, race->conflict);
    uint64_t from = r->future ? race->next : order_position(r->run->order, c->accesses[1].after);
    uint64_t *to = r->future ? &race->after : &race->before;
    uint32_t line = c->accesses[r->future ? 1 : 0].thread;
    if (!data_races_is_known(r, from) || order_line_shared(r->run->order, line))
        return true;
    if (!r->cone)
        r->cone = cone_new(r->run->order, from, r->future,
                           r->future ? order_count(r->run->order) : order_first(r->run->order));
    if (!cone_step(r->cone, budget))
        return false;
    *to = cone_contains_on_line(r->cone, line);
    cone_free(r->cone);
    r->cone = NULL;
    return true;
}

bool data_races_step(struct data_races *r, uint64_t *budget)
{
    if (r->first != order_first(r->run->order)) { /* events were discarded */
        const struct run *run = r->run;
        data_races_end(r);
        data_races_begin(r, run);
    }
    if (!data_races_read_log(r, budget) || !data_races_compare(r, budget))
        return false;
    for (; r->around < r->found_count; r->around += !r->future) {
        if (!*budget || !data_races_look_around(r, &r->found[r->around], *budget))
            return false;
        *budget -= *budget < 1000 ? *budget : 1000;
        r->future = !r->future;
    }
    return true;
}

const struct data_race *data_races_found(const struct data_races *r, size_t *count)
{
    *count = r->found_count;
    return r->found;
}

uint64_t data_races_unknown(const struct data_races *r, uint32_t *reasons)
{
    *reasons = r->unknown_reasons;
    return r->unknown;
}

void data_races_free(struct data_races *r)
{
    if (!r)
        return;
    data_races_end(r);
    free(r);
}
