#include "server/cuts/cut_bridges.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#ifndef CLOCKS_MOST
#define CLOCKS_MOST (1u << 26) /* entries of all clocks: a gigabyte */
#endif
#define CHAIN_OF_THREAD 0x40000000u /* of events of a thread on shared lines */
#define CHAIN_ALONE 0x80000000u /* of an event that is on no line in order, nor of a thread */

struct cut_clock_entry {
    uint32_t chain;
    uint64_t position; /* the last event of the chain */
};

struct cut_clock { /* its entries, by chain */
    size_t first;
    uint32_t count;
};

struct cut_clock_list {
    struct cut_clock_entry *items;
    size_t count, room;
};

struct cut_bridges {
    const struct order *order;
    uint64_t first; /* positions before it have no clock */
    struct cut_clock_list entries; /* of all clocks */
    struct cut_clock *clocks; /* by number - 1; 0 is the empty one */
    size_t clock_count, clock_room;
    struct cut_event_clock {
        uint32_t clock; /* of an event that is left out */
        uint32_t chain; /* of one that is kept; 0: it is left out */
        uint8_t doubt; /* of one that is left out */
    } *events; /* by position - first */
    size_t event_room;
    uint32_t *sent; /* by line - 1: the clock of all edges that its events got */
    uint32_t lines, alone;
    /* of the point that was passed: edges of its first kept event, and its doubt */
    struct cut_clock_list edges, scratch;
    uint64_t *positions;
    size_t position_count, position_room;
    size_t member; /* of the point, the first kept one; SIZE_MAX: none */
    uint8_t doubt;
};

struct cut_bridges *cut_bridges_new(const struct order *order, uint64_t first)
{
    struct cut_bridges *b = xcalloc(1, sizeof *b);
    b->order = order;
    b->first = first;
    b->lines = order_line_count(order);
    b->sent = xcalloc(b->lines + 1u, sizeof *b->sent);
    return b;
}

void cut_bridges_free(struct cut_bridges *b)
{
    if (!b)
        return;
    free(b->entries.items);
    free(b->clocks);
    free(b->events);
    free(b->sent);
    free(b->edges.items);
    free(b->scratch.items);
    free(b->positions);
    free(b);
}

bool cut_bridges_too_many(const struct cut_bridges *b) { return b->entries.count > CLOCKS_MOST; }

/* ---- clocks ---- */

/* Merges sorted entries into the edges: of each chain the later event. */
static void cut_bridges_merge(struct cut_bridges *b, const struct cut_clock_entry *more,
                              size_t count)
{
    struct cut_clock_list *to = &b->scratch, *from = &b->edges;
    to->items = array_reserve(to->items, &to->room, from->count + count + 1, sizeof *to->items);
    to->count = 0;
    for (size_t i = 0, k = 0; i < from->count || k < count;) {
        if (k == count || (i < from->count && from->items[i].chain < more[k].chain)) {
            to->items[to->count++] = from->items[i++];
        } else if (i == from->count || more[k].chain < from->items[i].chain) {
            to->items[to->count++] = more[k++];
        } else {
            to->items[to->count] = from->items[i++];
            if (more[k].position > to->items[to->count].position)
                to->items[to->count] = more[k];
            to->count++;
            k++;
        }
    }
    struct cut_clock_list before = b->edges;
    b->edges = b->scratch;
    b->scratch = before;
}

static void cut_bridges_merge_clock(struct cut_bridges *b, uint32_t number)
{
    if (number)
        cut_bridges_merge(b, b->entries.items + b->clocks[number - 1].first,
                          b->clocks[number - 1].count);
}

/* Returns whether the edges are those of a clock. */
static bool cut_bridges_is_clock(const struct cut_bridges *b, uint32_t number)
{
    const struct cut_clock *c = number ? &b->clocks[number - 1] : NULL;
    if (!c || c->count != b->edges.count)
        return !c && !b->edges.count;
    for (uint32_t i = 0; i < c->count; i++)
        if (b->entries.items[c->first + i].chain != b->edges.items[i].chain ||
            b->entries.items[c->first + i].position != b->edges.items[i].position)
            return false;
    return true;
}

/* Returns the number of a clock with the edges; like: one that may be equal. */
static uint32_t cut_bridges_store(struct cut_bridges *b, uint32_t like)
{
    if (cut_bridges_is_clock(b, like))
        return like;
    if (cut_bridges_is_clock(b, 0))
        return 0;
    b->entries.items = array_reserve(b->entries.items, &b->entries.room,
                                     b->entries.count + b->edges.count, sizeof *b->entries.items);
    memcpy(b->entries.items + b->entries.count, b->edges.items,
           b->edges.count * sizeof *b->edges.items);
    b->clocks = array_reserve(b->clocks, &b->clock_room, b->clock_count + 1, sizeof *b->clocks);
    b->clocks[b->clock_count++] = (struct cut_clock){b->entries.count, (uint32_t)b->edges.count};
    b->entries.count += b->edges.count;
    return (uint32_t)b->clock_count;
}

/* ---- predecessors ---- */

static bool cut_bridges_is_exclusive(const struct cut_bridges *b, uint32_t line)
{
    return line & HIDDEN_LINE || !order_line_shared(b->order, line);
}

static uint32_t cut_bridges_chain(struct cut_bridges *b, const struct order_event *e)
{
    return cut_bridges_is_exclusive(b, e->line) ? e->line
           : e->thread                          ? CHAIN_OF_THREAD | e->thread
                                                : CHAIN_ALONE | ++b->alone;
}

/* Merges what comes with a predecessor: itself, if it is kept and `kept` is set; what is before it,
 * if it is left out. */
static void cut_bridges_add_cause(struct cut_bridges *b, uint64_t position, bool kept)
{
    if (position == NO_POSITION || position < b->first)
        return;
    const struct cut_event_clock *e = &b->events[position - b->first];
    if (!e->chain) {
        b->doubt = e->doubt ? e->doubt : b->doubt;
        cut_bridges_merge_clock(b, e->clock);
    } else if (kept) {
        cut_bridges_merge(b, &(struct cut_clock_entry){e->chain, position}, 1);
    }
}

static void cut_bridges_add_causes(struct cut_bridges *b, uint64_t position,
                                   const struct order_event *e, bool kept)
{
    if (cut_bridges_is_exclusive(b, e->line))
        cut_bridges_add_cause(b, order_previous(b->order, position), kept);
    for (uint32_t i = 0; i < e->edge_count; i++)
        cut_bridges_add_cause(b, order_edge(b->order, position, i), kept);
}

/* Removes edges that earlier events of the line have, or that its order implies. */
static void cut_bridges_reduce(struct cut_bridges *b, uint32_t line)
{
    const struct cut_clock *sent = b->sent[line - 1] ? &b->clocks[b->sent[line - 1] - 1] : NULL;
    size_t count = 0, k = 0;
    struct cut_clock_list *edges = &b->edges;
    for (size_t i = 0; i < edges->count; i++) {
        struct cut_clock_entry e = edges->items[i];
        while (sent && k < sent->count && b->entries.items[sent->first + k].chain < e.chain)
            k++;
        bool known = sent && k < sent->count &&
                     b->entries.items[sent->first + k].chain == e.chain &&
                     b->entries.items[sent->first + k].position >= e.position;
        if (!known && e.chain != line)
            edges->items[count++] = e;
    }
    edges->count = count;
}

/* Sets the edges that the first kept event of the point gets. */
static void cut_bridges_set_edges(struct cut_bridges *b, uint32_t line)
{
    bool exclusive = line && !(line & HIDDEN_LINE) && cut_bridges_is_exclusive(b, line);
    if (exclusive)
        cut_bridges_reduce(b, line);
    b->positions =
        array_reserve(b->positions, &b->position_room, b->edges.count + 1, sizeof *b->positions);
    for (size_t i = 0; i < b->edges.count; i++)
        b->positions[i] = b->edges.items[i].position;
    b->position_count = b->edges.count;
    if (exclusive && b->edges.count) {
        cut_bridges_merge_clock(b, b->sent[line - 1]);
        b->sent[line - 1] = cut_bridges_store(b, b->sent[line - 1]);
    }
}

/* ---- points ---- */

/* Notes a point of which no event is kept. */
static void cut_bridges_leave_out(struct cut_bridges *b, uint64_t first, uint64_t last)
{
    uint64_t before = order_previous(b->order, first);
    uint32_t like =
        before != NO_POSITION && before >= b->first ? b->events[before - b->first].clock : 0;
    uint32_t clock = cut_bridges_store(b, like);
    for (uint64_t p = first; p <= last; p++)
        b->events[p - b->first] = (struct cut_event_clock){.clock = clock, .doubt = b->doubt};
}

/* Notes the members of a point: what follows one that is left out follows the kept ones. */
static void cut_bridges_note_members(struct cut_bridges *b, uint64_t first, uint64_t last,
                                     const bool *kept)
{
    b->edges.count = 0;
    for (uint64_t p = first; p <= last; p++) {
        struct order_event e = order_event(b->order, p);
        if (!kept[p - first])
            continue;
        b->events[p - b->first] = (struct cut_event_clock){.chain = cut_bridges_chain(b, &e)};
        cut_bridges_merge(b, &(struct cut_clock_entry){b->events[p - b->first].chain, p}, 1);
    }
    uint32_t clock = 0;
    for (uint64_t p = first; p <= last; p++) {
        if (kept[p - first])
            continue;
        clock = clock ? clock : cut_bridges_store(b, 0);
        b->events[p - b->first] = (struct cut_event_clock){.clock = clock};
    }
}

void cut_bridges_pass(struct cut_bridges *b, uint64_t first, uint64_t last, const bool *kept)
{
    b->events = array_reserve(b->events, &b->event_room, last - b->first + 1, sizeof *b->events);
    b->edges.count = 0;
    b->doubt = 0;
    b->member = SIZE_MAX;
    uint32_t line = 0;
    for (uint64_t p = first; p <= last; p++) {
        struct order_event e = order_event(b->order, p);
        bool here = kept[p - first];
        if (here && b->member == SIZE_MAX) {
            b->member = (size_t)(p - first);
            line = e.line;
        }
        if (!here && e.doubt)
            b->doubt = e.doubt;
        if (e.state == EVENT_ORDERED || cut_bridges_is_exclusive(b, e.line))
            cut_bridges_add_causes(b, p, &e, !here);
    }
    if (b->member == SIZE_MAX) {
        cut_bridges_leave_out(b, first, last);
        return;
    }
    cut_bridges_set_edges(b, line);
    cut_bridges_note_members(b, first, last, kept);
}

const uint64_t *cut_bridges_edges(const struct cut_bridges *b, size_t i, size_t *count)
{
    *count = i == b->member ? b->position_count : 0;
    return b->positions;
}

uint8_t cut_bridges_doubt(const struct cut_bridges *b, size_t i)
{
    return i == b->member ? b->doubt : 0;
}
