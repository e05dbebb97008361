/* Relation of two events in the happened-before order: the comparison of both, and the causal chain
 * from one to the other. */
#include "base/alloc.h"
#include "base/map.h"
#include "server/order/causality/event_search.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>

#ifndef TURN_EVENTS /* tests make it small */
#define TURN_EVENTS 256u /* events that one search examines before the next has its turn */
#endif
#define TURNS_BEFORE_SCAN 8u
#define SCAN_TURN (TURN_EVENTS * TURN_EVENTS) /* the scan takes less time per event */

struct comparison {
    const struct order *order;
    struct search_scratch scratch;
    struct event_search search;
    uint64_t from, to; /* positions, the earlier first */
    unsigned turn;
    bool swapped, searched, done;
    enum causal_relation answer;
    uint32_t reasons;
};

/* Is a walk without a result conclusive? It skips events that lead nowhere new; damaged blocks
 * might be among them. */
static bool nothing_is_missing(const struct order *order)
{
    return order->log.unreadable.count == 0;
}

/* Gives each search a turn of about the same duration; returns true when the answer is known. */
static bool comparison_alternate_searches(struct comparison *c)
{
    struct event_search *search = &c->search;
    const struct order *order = c->order;
    unsigned turn = c->turn++;
    if (turn == 0) {
        bool done = backward_search_walk(search, TURN_EVENTS) && nothing_is_missing(order);
        if (!done && !search->found)
            forward_search_begin(search, c->from, c->to);
        return done || search->found;
    }
    return forward_search_run(search, TURN_EVENTS) ||
           (backward_search_walk(search, 2 * TURN_EVENTS) && nothing_is_missing(order)) ||
           search->found || (turn > TURNS_BEFORE_SCAN && backward_search_scan(search, SCAN_TURN)) ||
           search->found;
}

static enum causal_relation answer_of(struct comparison *c)
{
    if (c->search.found)
        return c->swapped ? ORDER_AFTER : ORDER_BEFORE;
    c->reasons = c->search.doubt ? UNTRACED_BIT(UNANSWERED_DAMAGED)
                                 : order_uncertainty_between(c->order, c->from, c->to);
    return c->reasons ? ORDER_UNKNOWN : ORDER_CONCURRENT;
}

/* Returns why an event has no place in the order, as a bit; 0 if it has one. */
static uint32_t comparison_unknown_reason(const struct order *order, struct event_id at,
                                          uint64_t position)
{
    const struct order_line *line = line_get(order, at.line);
    if (position != NO_POSITION && log_get(order, position, FIELD_LINE) == 0)
        return UNTRACED_BIT(UNANSWERED_DAMAGED);
    if (position != NO_POSITION)
        return log_get(order, position, FIELD_FLAGS) & FIELD_INCONSISTENT
                   ? UNTRACED_BIT(UNANSWERED_CONTRADICTORY)
                   : 0;
    return order_is_discarded(order, at)         ? UNTRACED_BIT(UNANSWERED_FORGOTTEN)
           : line && at.number > line->delivered ? UNTRACED_BIT(UNANSWERED_PENDING)
                                                 : UNTRACED_BIT(UNANSWERED_GONE);
}

/* Gets the answer if that needs no search; returns whether it does not. */
static bool is_plain(const struct order *order, struct event_id a, struct event_id b,
                     enum causal_relation *answer, uint32_t *reasons)
{
    uint64_t pa = order_position(order, a), pb = order_position(order, b);
    *answer = ORDER_UNKNOWN;
    *reasons = event_id_equal(a, b) ? 0
                                    : comparison_unknown_reason(order, a, pa) |
                                          comparison_unknown_reason(order, b, pb);
    if (pa == NO_POSITION || pb == NO_POSITION || pa == pb) {
        *answer = event_id_equal(a, b) ? ORDER_SAME : ORDER_UNKNOWN;
        return true;
    }
    if ((log_get(order, pa, FIELD_FLAGS) | log_get(order, pb, FIELD_FLAGS)) & FIELD_INCONSISTENT ||
        log_get(order, pa, FIELD_LINE) == 0 || log_get(order, pb, FIELD_LINE) == 0)
        return true;
    if (pa - log_get(order, pa, FIELD_POINT) != pb - log_get(order, pb, FIELD_POINT))
        return false;
    *answer = ORDER_SAME;
    return true;
}

static void comparison_start(struct comparison *c, struct event_id a, struct event_id b)
{
    c->turn = 0;
    c->searched = false;
    c->done = is_plain(c->order, a, b, &c->answer, &c->reasons);
    if (c->done)
        return;
    uint64_t pa = order_position(c->order, a), pb = order_position(c->order, b);
    c->swapped = pa > pb;
    c->from = c->swapped ? pb : pa;
    c->to = c->swapped ? pa : pb;
    uint64_t goal = c->from - log_get(c->order, c->from, FIELD_POINT);
    c->search = (struct event_search){.least = goal,
                                      .goal = goal,
                                      .scratch = c->search.scratch,
                                      .end = order_point_end(c->order, c->from)};
    backward_search_begin(&c->search, c->order, c->to);
}

static bool comparison_advance(struct comparison *c, uint64_t budget)
{
    for (uint64_t spent = 0; !c->done && spent <= budget;) {
        spent += c->searched || c->turn > TURNS_BEFORE_SCAN ? SCAN_TURN : TURN_EVENTS;
        c->searched = c->searched || comparison_alternate_searches(c);
        if (c->searched &&
            (c->search.found || order_uncertainty_step(c->order, c->to + 1, SCAN_TURN))) {
            c->done = true;
            c->answer = answer_of(c);
        }
    }
    return c->done;
}

struct comparison *comparison_new(const struct order *order)
{
    struct comparison *c = xmalloc(sizeof *c);
    *c = (struct comparison){.order = order};
    return c;
}

void comparison_begin(struct comparison *c, struct event_id a, struct event_id b)
{
    c->search.scratch = &c->scratch;
    comparison_start(c, a, b);
}

bool comparison_step(struct comparison *c, uint64_t budget)
{
    return comparison_advance(c, budget);
}

enum causal_relation comparison_answer(const struct comparison *c) { return c->answer; }

uint32_t comparison_reasons(const struct comparison *c)
{
    return c->answer == ORDER_UNKNOWN ? c->reasons : 0;
}

void comparison_free(struct comparison *c)
{
    if (c)
        search_scratch_release(&c->scratch);
    free(c);
}

enum causal_relation order_compare(const struct order *order, struct event_id a, struct event_id b)
{
    struct comparison c = {.order = order};
    comparison_start(&c, a, b); /* with the order's scratch memory, which is reused */
    comparison_advance(&c, UINT64_MAX - SCAN_TURN);
    return c.answer;
}

/* ---- causal chains ----
 *
 * The chain has the fewest steps between lines. It is found in one pass back through the log from
 * the later event. Moving back along an exclusive line costs nothing, moving to a cause on another
 * line costs a step. So the fewest steps from a line to the end only decrease during the pass, and
 * a way is recorded whenever they do. */

#define NO_WAY UINT32_MAX

struct causal_way { /* the edge from `from` to `to`, continued by the way `next` */
    uint64_t from, to;
    uint32_t steps, next; /* index of a way; NO_WAY: `to` is the end, or precedes it on its line */
};

struct causal_chain {
    const struct order *order;
    uint64_t from, to, least; /* least: first position of the point of `from` */
    uint64_t end; /* all positions from here on are processed */
    uint32_t found; /* index + 1 of the way from `from` */
    struct causal_way *ways;
    size_t way_count, way_room;
    uint32_t *best, *best_hidden; /* by line: index of its best way + 1, 0 none */
    struct map open; /* position -> 1 + index of the event's best way over an edge of its own */
};

static uint32_t *best_of(struct causal_chain *f, uint32_t line)
{
    return line & HIDDEN_LINE ? &f->best_hidden[(line & ~HIDDEN_LINE) - 1] : &f->best[line - 1];
}

static uint32_t steps_of(const struct causal_chain *f, uint32_t index)
{
    return index ? f->ways[index - 1].steps : NO_WAY;
}

/* Returns 1 + the index of the best way known from the event at a position, or 0. */
static uint32_t best_at(struct causal_chain *f, uint64_t position, const struct order_line *line,
                        uint32_t number)
{
    uint32_t along = line->shared ? 0 : *best_of(f, number);
    uint32_t over = f->open.count ? (uint32_t)(uintptr_t)map_get(&f->open, position, 0) : 0;
    return steps_of(f, over) < steps_of(f, along) ? over : along;
}

/* Records the way over the edge from `from` to `to`, with `next` as the best way from there, unless
 * one is known that is as good. */
static void open_way(struct causal_chain *f, uint64_t from, uint64_t to, uint32_t next)
{
    if (from < f->least)
        return;
    uint32_t steps = f->ways[next - 1].steps + 1;
    uint32_t known = f->open.count ? (uint32_t)(uintptr_t)map_get(&f->open, from, 0) : 0;
    uint32_t number = block_line_of(log_get(f->order, from, FIELD_LINE));
    const struct order_line *line = line_get(f->order, number);
    if (!line || steps_of(f, known) <= steps ||
        (!line->shared && steps_of(f, *best_of(f, number)) <= steps))
        return; /* such a way, or one along the line, is known */
    f->ways = array_reserve(f->ways, &f->way_room, f->way_count + 1, sizeof *f->ways);
    f->ways[f->way_count++] = (struct causal_way){from, to, steps, next - 1};
    map_put(&f->open, from, 0, (void *)(uintptr_t)f->way_count);
}

static void causal_chain_scan_edges(struct causal_chain *f, uint64_t position, uint32_t best)
{
    struct block_edges edges = block_edges(log_block(f->order, position), position % BLOCK_EVENTS);
    for (uint32_t i = 0; i < edges.count; i++) {
        open_way(f, position - block_edge(&edges, i), position, best);
        if (edges.more)
            edges = block_edges(log_block(f->order, position), position % BLOCK_EVENTS);
    }
}

/* Extends the best way of a point's members to the others, one step further. Returns false if none
 * has a way. */
static bool causal_chain_spread_in_point(struct causal_chain *f, uint64_t first, uint64_t last)
{
    uint32_t least = 0;
    uint64_t through = first;
    for (uint64_t p = first; p <= last; p++) {
        uint32_t number = block_line_of(log_get(f->order, p, FIELD_LINE));
        const struct order_line *line = line_get(f->order, number);
        if (!line || log_get(f->order, p, FIELD_FLAGS) & FIELD_INCONSISTENT)
            return false;
        uint32_t best = best_at(f, p, line, number);
        if (best && steps_of(f, best) < steps_of(f, least)) {
            least = best;
            through = p;
        }
    }
    for (uint64_t p = first; p <= last && least; p++) {
        uint32_t number = block_line_of(log_get(f->order, p, FIELD_LINE));
        uint32_t best = best_at(f, p, line_get(f->order, number), number);
        if (p != through && steps_of(f, best) > steps_of(f, least) + 1)
            open_way(f, p, through, least);
    }
    return least != 0;
}

static void causal_chain_visit_point(struct causal_chain *f, uint64_t first, uint64_t last)
{
    if (!causal_chain_spread_in_point(f, first, last))
        return;
    for (uint64_t p = first; p <= last; p++) {
        uint32_t number = block_line_of(log_get(f->order, p, FIELD_LINE));
        const struct order_line *line = line_get(f->order, number);
        uint32_t best = best_at(f, p, line, number);
        if (!line->shared && steps_of(f, best) < steps_of(f, *best_of(f, number)))
            *best_of(f, number) = best;
        causal_chain_scan_edges(f, p, best);
    }
    for (uint64_t p = first; p <= last; p++)
        map_remove(&f->open, p, 0); /* the best one is recorded by its line */
}

static void causal_chain_append_event(struct event_id **chain, size_t *count, size_t *room,
                                      const struct order *order, uint64_t position)
{
    struct event_id ref = {block_line_of(log_get(order, position, FIELD_LINE)),
                           log_get(order, position, FIELD_NUMBER)};
    if (*count && event_id_equal((*chain)[*count - 1], ref))
        return;
    *chain = array_reserve(*chain, room, *count + 1, sizeof **chain);
    (*chain)[(*count)++] = ref;
}

struct causal_chain *causal_chain_new(const struct order *order, struct event_id a,
                                      struct event_id b)
{
    size_t lines = order_line_count(order), hidden = order_hidden_lines(order);
    struct causal_chain *f = xmalloc(sizeof *f);
    *f = (struct causal_chain){
        .order = order, .from = order_position(order, a), .to = order_position(order, b)};
    f->least = f->from - log_get(order, f->from, FIELD_POINT);
    f->end = order_point_end(order, f->to) + 1;
    f->best = xcalloc(lines + 1, sizeof *f->best);
    f->best_hidden = xcalloc(hidden + 1, sizeof *f->best_hidden);
    /* The way from the end to itself takes no step. */
    f->ways = array_reserve(f->ways, &f->way_room, 1, sizeof *f->ways);
    f->ways[f->way_count++] = (struct causal_way){f->to, f->to, 0, NO_WAY};
    map_put(&f->open, f->to, 0, (void *)(uintptr_t)1);
    return f;
}

bool causal_chain_step(struct causal_chain *f, uint64_t budget)
{
    while (f->end > f->least && budget--) {
        uint64_t last = f->end - 1, span = log_get(f->order, last, FIELD_POINT);
        uint64_t first = last - (span > last ? 0 : span);
        f->end = first;
        if (first > f->from) {
            causal_chain_visit_point(f, first, last);
            continue;
        }
        uint32_t number = block_line_of(log_get(f->order, f->from, FIELD_LINE));
        if (causal_chain_spread_in_point(f, first, last))
            f->found = best_at(f, f->from, line_get(f->order, number), number);
        f->end = f->least;
    }
    return f->end <= f->least;
}

size_t causal_chain_find(struct causal_chain *f, struct event_id **chain)
{
    size_t count = 0, room = 0;
    *chain = NULL;
    if (!f->found)
        return 0;
    causal_chain_append_event(chain, &count, &room, f->order, f->from);
    for (uint32_t i = f->found - 1; f->ways[i].steps; i = f->ways[i].next) {
        causal_chain_append_event(chain, &count, &room, f->order, f->ways[i].from);
        causal_chain_append_event(chain, &count, &room, f->order, f->ways[i].to);
    }
    causal_chain_append_event(chain, &count, &room, f->order, f->to);
    return count;
}

void causal_chain_free(struct causal_chain *f)
{
    if (!f)
        return;
    free(f->ways);
    free(f->best);
    free(f->best_hidden);
    map_free(&f->open);
    free(f);
}

size_t order_causal_chain(const struct order *order, struct event_id a, struct event_id b,
                          struct event_id **chain)
{
    *chain = NULL;
    if (order_compare(order, a, b) != ORDER_BEFORE)
        return 0;
    struct causal_chain *search = causal_chain_new(order, a, b);
    causal_chain_step(search, UINT64_MAX);
    size_t count = causal_chain_find(search, chain);
    causal_chain_free(search);
    return count;
}
