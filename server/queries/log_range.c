/* Ranges of events in the order of the log, and single steps from one event to another. */
#include "server/queries/event_answer.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/query.h"
#include "wire/request_body.h"
#include "wire/query_results.h"
#include "wire/event_id.h"

#define LOOKED_MOST 16384u /* positions searched if many events are on hidden lines */
#define STEPS_MOST 20000u  /* events of one line searched for an edge to another line */

static void answer_list(const struct run *run, struct decoder *in, struct response *reply)
{
    const struct order *order = run->order;
    uint64_t first = order_first(order), position = decode_u64(in);
    uint32_t count = decode_u32(in);
    if (!decoder_finish(in))
        return;
    position = position < first ? first : position;
    count = count > LIMIT_LIST ? LIMIT_LIST : count;
    uint64_t end =
        position + LOOKED_MOST < order_count(order) ? position + LOOKED_MOST : order_count(order);
    for (; count && position < end; position++) {
        struct order_event e = order_event(order, position);
        if (!e.line || e.line & HIDDEN_LINE)
            continue;
        event_answer_query(reply, run, (struct event_id){e.line, e.number});
        count--;
    }
    response_chunk_begin(reply, RESPONSE_LOG_POSITION);
    encode_u64(reply->out, position);
    encode_u64(reply->out, order_count(order));
    response_chunk_end(reply);
}

const struct query query_log_range = {.at_once = answer_list};

/* ---- steps ---- */

static uint64_t ordinal_of(const struct order *order, uint32_t line, uint64_t position)
{
    return order_line_from(order, line, position);
}

static uint64_t log_range_neighbor(const struct order *order, uint32_t line, uint64_t position,
                                   bool back)
{
    uint64_t i = ordinal_of(order, line, position);
    if (back ? i <= order_line_first(order, line) : i + 1 >= order_line_events(order, line))
        return NO_POSITION;
    return order_line_at(order, line, back ? i - 1 : i + 1);
}

struct nearest_event {
    const struct order *order;
    uint32_t line;
    uint64_t position; /* of the nearest one so far */
    bool future;
};

static void log_range_offer_event(struct nearest_event *n, uint64_t position)
{
    struct order_event e = order_event(n->order, position);
    if (!e.line || e.line == n->line || e.line & HIDDEN_LINE)
        return;
    if (n->position == NO_POSITION || (n->future ? position < n->position : position > n->position))
        n->position = position;
}

static void offer_receive(void *context, uint64_t receive)
{
    log_range_offer_event(context, receive);
}

/* Offers the events of other lines that directly precede an event, or directly follow it. */
static void log_range_scan_neighbors(struct nearest_event *n, uint64_t position, bool own_point)
{
    struct order_event e = order_event(n->order, position);
    uint64_t end = order_point_end(n->order, position);
    for (uint64_t p = e.point; own_point && p <= end; p++)
        if (p != position)
            log_range_offer_event(n, p);
    for (uint32_t i = 0; !n->future && i < e.edge_count; i++)
        log_range_offer_event(n, order_edge(n->order, position, i));
    if (n->future && e.sends)
        order_receives(n->order, position, offer_receive, n);
}

/* Follows the line to the first event with an edge to another line; returns the event there. */
static uint64_t log_range_find_other_line(const struct order *order, uint32_t line,
                                          uint64_t position, bool future)
{
    struct nearest_event n = {order, line, NO_POSITION, future};
    log_range_scan_neighbors(&n, position, false);
    for (unsigned i = 0; n.position == NO_POSITION && i < STEPS_MOST; i++) {
        position = log_range_neighbor(order, line, position, !future);
        if (position == NO_POSITION)
            break;
        log_range_scan_neighbors(&n, position, true);
    }
    return n.position;
}

static void answer_step(const struct run *run, struct decoder *in, struct response *reply)
{
    const struct order *order = run->order;
    struct event_id from = decode_event_id(in);
    enum neighbor_step step = decode_u8(in);
    if (step >= STEPS)
        decoder_fail(in, "unknown kind of step requested");
    if (!decoder_finish(in))
        return;
    bool exists = from.line && !(from.line & HIDDEN_LINE) && from.line <= order_line_count(order);
    uint64_t position = exists ? order_position(order, from) : NO_POSITION, to = NO_POSITION;
    if (position != NO_POSITION)
        to = step == STEP_CAUSE || step == STEP_EFFECT
                 ? log_range_find_other_line(order, from.line, position, step == STEP_EFFECT)
                 : log_range_neighbor(order, from.line, position, step == STEP_LINE_BACK);
    struct order_event e = to == NO_POSITION ? (struct order_event){0} : order_event(order, to);
    referenced_lines_note(e.line);
    struct search_hit hit = {{e.line, e.number}, to};
    struct search_result found = {.done = true,
                                  .looked = 1,
                                  .count = to != NO_POSITION,
                                  .hits = &hit,
                                  .hit_count = to != NO_POSITION};
    response_chunk_begin(reply, RESPONSE_FOUND);
    encode_search_result(reply->out, &found);
    response_chunk_end(reply);
}

const struct query query_neighbor = {.at_once = answer_step};
