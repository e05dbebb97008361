/* Events in the order of the log, and single steps from one to another. */
#include "server/answer/answer.h"
#include "server/answer/finding.h"
#include "server/answer/named.h"

#define LOOKED_MOST 16384u /* positions, where many lines are hidden */
#define STEPS_MOST 20000u  /* along one line, to find where it meets another */

void answer_list(struct out *out, const struct run *run, uint64_t position, uint32_t count)
{
    const struct order *order = run->order;
    uint64_t first = order_first(order);
    position = position < first ? first : position;
    count = count > LIMIT_LIST ? LIMIT_LIST : count;
    uint64_t end = position + LOOKED_MOST < order_count(order) ? position + LOOKED_MOST : order_count(order);
    for (; count && position < end; position++) {
        struct event e = order_event(order, position);
        if (!e.line || e.line & HIDDEN_LINE)
            continue;
        answer_event(out, run, (struct ref){e.line, e.number});
        count--;
    }
    out_begin(out, MESSAGE_LIST_END);
    put_u64(out, position);
    put_u64(out, order_count(order));
    out_end(out);
}

/* ---- steps ---- */

static uint64_t ordinal_of(const struct order *order, uint32_t line, uint64_t position)
{
    return order_line_from(order, line, position);
}

static uint64_t neighbour(const struct order *order, uint32_t line, uint64_t position, bool back)
{
    uint64_t i = ordinal_of(order, line, position);
    if (back ? i <= order_line_first(order, line) : i + 1 >= order_line_events(order, line))
        return NO_POSITION;
    return order_line_at(order, line, back ? i - 1 : i + 1);
}

struct nearest {
    const struct order *order;
    uint32_t line;
    uint64_t position; /* the best so far */
    bool future;
};

static void offer(struct nearest *n, uint64_t position)
{
    struct event e = order_event(n->order, position);
    if (!e.line || e.line == n->line || e.line & HIDDEN_LINE)
        return;
    if (n->position == NO_POSITION ||
        (n->future ? position < n->position : position > n->position))
        n->position = position;
}

static void offer_receive(void *context, uint64_t receive) { offer(context, receive); }

/* What of other lines an event follows, or what of them follows it. */
static void look_beside(struct nearest *n, uint64_t position, bool own_point)
{
    struct event e = order_event(n->order, position);
    uint64_t end = order_point_end(n->order, position);
    for (uint64_t p = e.point; own_point && p <= end; p++)
        if (p != position)
            offer(n, p);
    for (uint32_t i = 0; !n->future && i < e.edge_count; i++)
        offer(n, order_edge(n->order, position, i));
    if (n->future && e.sends)
        order_receives(n->order, position, offer_receive, n);
}

/* Along the line, to the first event that something of another line is tied to. */
static uint64_t elsewhere(const struct order *order, uint32_t line, uint64_t position, bool future)
{
    struct nearest n = {order, line, NO_POSITION, future};
    look_beside(&n, position, false);
    for (unsigned i = 0; n.position == NO_POSITION && i < STEPS_MOST; i++) {
        position = neighbour(order, line, position, !future);
        if (position == NO_POSITION)
            break;
        look_beside(&n, position, true);
    }
    return n.position;
}

void answer_step(struct out *out, const struct run *run, struct ref from, enum asked_step step)
{
    const struct order *order = run->order;
    bool exists = from.line && !(from.line & HIDDEN_LINE) && from.line <= order_lines(order);
    uint64_t position = exists ? order_position(order, from) : NO_POSITION, to = NO_POSITION;
    if (position != NO_POSITION)
        to = step == STEP_CAUSE || step == STEP_EFFECT
                 ? elsewhere(order, from.line, position, step == STEP_EFFECT)
                 : neighbour(order, from.line, position, step == STEP_LINE_BACK);
    struct event e = to == NO_POSITION ? (struct event){0} : order_event(order, to);
    named_note(e.line);
    struct shown_hit hit = {{e.line, e.number}, to};
    struct shown_found found = {.done = true, .looked = 1, .count = to != NO_POSITION, .hits = &hit,
                                .hit_count = to != NO_POSITION};
    out_begin(out, MESSAGE_FOUND);
    put_found(out, &found);
    out_end(out);
}
