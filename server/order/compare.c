/* How two events stand to each other. */
#include "server/order/past.h"

#include <stdlib.h>

#ifndef TURN_EVENTS /* tests make it small */
#define TURN_EVENTS 256u /* that one search looks at before the next has its turn */
#endif
#define TURNS_BEFORE_SCAN 8u
#define SCAN_TURN (64u * TURN_EVENTS)

struct comparison {
    const struct order *order;
    struct scratch scratch;
    struct search search;
    uint64_t from, to; /* positions, the earlier first */
    unsigned turn;
    bool swapped, done;
    enum precedence answer;
};

/* The walk leaves out what cannot lead anywhere new; where events are lost that may be what
 * forbids an answer. */
static bool nothing_is_missing(const struct order *order)
{
    return order->figures.lost == 0 && order->partners_lost == 0 && order->damaged_blocks == 0;
}

/* One turn of each search, about as long for each; true when the answer is known. */
static bool take_turns(struct comparison *c)
{
    struct search *search = &c->search;
    const struct order *order = c->order;
    unsigned turn = c->turn++;
    if (turn == 0) {
        bool done = search_walk(search, TURN_EVENTS) && nothing_is_missing(order);
        if (!done && !search->found)
            search_ahead_begin(search, c->from, c->to);
        return done || search->found;
    }
    return search_ahead(search, TURN_EVENTS) ||
           (search_walk(search, 2 * TURN_EVENTS) && nothing_is_missing(order)) || search->found ||
           (turn > TURNS_BEFORE_SCAN && search_scan(search, SCAN_TURN)) || search->found;
}

static enum precedence answer_of(const struct comparison *c)
{
    if (c->search.found)
        return c->swapped ? ORDER_AFTER : ORDER_BEFORE;
    return c->search.doubt ? ORDER_UNKNOWN : ORDER_CONCURRENT;
}

/* Answers that need no search. */
static bool is_plain(const struct order *order, struct ref a, struct ref b, enum precedence *answer)
{
    uint64_t pa = order_position(order, a), pb = order_position(order, b);
    *answer = ORDER_UNKNOWN;
    if (pa == NO_POSITION || pb == NO_POSITION || pa == pb) {
        *answer = ref_equal(a, b) ? ORDER_SAME : ORDER_UNKNOWN;
        return true;
    }
    if ((log_get(order, pa, ROW_FLAGS) | log_get(order, pb, ROW_FLAGS)) & ROW_CONTRADICTORY ||
        log_get(order, pa, ROW_LINE) == 0 || log_get(order, pb, ROW_LINE) == 0)
        return true;
    if (pa - log_get(order, pa, ROW_POINT) != pb - log_get(order, pb, ROW_POINT))
        return false;
    *answer = ORDER_SAME;
    return true;
}

static void begin(struct comparison *c, struct ref a, struct ref b)
{
    c->turn = 0;
    c->done = is_plain(c->order, a, b, &c->answer);
    if (c->done)
        return;
    uint64_t pa = order_position(c->order, a), pb = order_position(c->order, b);
    c->swapped = pa > pb;
    c->from = c->swapped ? pb : pa;
    c->to = c->swapped ? pa : pb;
    uint64_t goal = c->from - log_get(c->order, c->from, ROW_POINT);
    c->search = (struct search){.least = goal, .goal = goal, .scratch = c->search.scratch,
                                .end = order_point_end(c->order, c->from)};
    search_begin(&c->search, c->order, c->to);
}

static bool go_on(struct comparison *c, uint64_t budget)
{
    for (uint64_t spent = 0; !c->done && spent <= budget;) {
        spent += c->turn > TURNS_BEFORE_SCAN ? SCAN_TURN : TURN_EVENTS;
        if (take_turns(c)) {
            c->done = true;
            c->answer = answer_of(c);
        }
    }
    return c->done;
}

struct comparison *comparison_new(const struct order *order)
{
    size_t room = 0;
    struct comparison *c = grow(NULL, &room, 1, sizeof *c);
    *c = (struct comparison){.order = order};
    return c;
}

void comparison_begin(struct comparison *c, struct ref a, struct ref b)
{
    c->search.scratch = &c->scratch;
    begin(c, a, b);
}

bool comparison_step(struct comparison *c, uint64_t budget) { return go_on(c, budget); }

enum precedence comparison_answer(const struct comparison *c) { return c->answer; }

void comparison_free(struct comparison *c)
{
    if (c)
        scratch_release(&c->scratch);
    free(c);
}

enum precedence order_compare(const struct order *order, struct ref a, struct ref b)
{
    struct comparison c = {.order = order};
    begin(&c, a, b); /* with the scratch of the order, which is used again and again */
    go_on(&c, UINT64_MAX - SCAN_TURN);
    return c.answer;
}
