/* Comparison of two events: how they are related in the happened-before order. */
#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "server/order/causality/backward_search.h"
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
