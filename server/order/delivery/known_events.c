#include "server/order/delivery/known_events.h"

#include "server/order/delivery/occupancy.h"
#include "server/order/log/event_log.h"
#include "server/order/log/late_receives.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/line_table.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#define SENDS_MOST 0xffffu /* as many as a row counts */

static bool known_event_has_lines(const struct order *order, const struct order_event *e)
{
    uint32_t hidden = e->line & HIDDEN_LINE ? e->line & ~HIDDEN_LINE : 0;
    size_t visible = order->lines.visible.count;
    if (hidden ? hidden > order->lines.hidden.count + 1 : !e->line || e->line > visible)
        return false;
    return e->line != HIDDEN_LINE && e->thread <= visible && e->about <= visible;
}

/* Returns whether the event begins a point, or belongs to that of the newest one. */
static bool known_event_has_point(const struct order *order, const struct order_event *e)
{
    uint64_t count = order->log.count;
    return e->point == count ||
           (e->point < count && e->point == count - 1 - log_get(order, count - 1, FIELD_POINT));
}

static bool known_event_is_valid(const struct order *order, const struct order_event *e,
                                 const uint64_t *edges)
{
    if (!known_event_has_lines(order, e) || !known_event_has_point(order, e) || !e->type ||
        e->relation >= RELATION_COUNT || e->state == EVENT_PENDING ||
        e->state > EVENT_CONTRADICTORY || e->doubt >= UNTRACED_COUNT ||
        e->send_count > e->edge_count || e->send_count > SENDS_MOST ||
        (e->opened && e->edge_count == e->send_count))
        return false;
    for (uint32_t i = 0; i < e->edge_count; i++)
        if (edges[i] >= e->point)
            return false;
    const struct order_line *line = line_get(order, e->line);
    return e->number > (line ? line->delivered : 0) && e->number <= INT64_MAX;
}

/* Returns the kind of a hidden line: that of the line of which its first event collects others. */
static uint32_t known_event_hidden_kind(const struct order *order, const struct order_event *e,
                                        const uint64_t *edges)
{
    uint32_t line = e->edge_count ? block_line_of(log_get(order, edges[0], FIELD_LINE)) : 0;
    return line ? line_get(order, line)->kind : 0;
}

static void known_event_skip(struct order *order, uint32_t line, uint64_t count, bool lost)
{
    if (count && lost)
        log_gap(order, line, count);
    else if (count)
        log_leave_out(order, line, count);
}

void order_forget_occupants(struct order *order, uint32_t number)
{
    struct order_line *line = number & HIDDEN_LINE ? NULL : line_get(order, number);
    if (!line)
        return;
    line_touch(order, number);
    line->occupant_count = 0;
}

bool order_append_known(struct order *order, struct order_event event, const uint64_t *edges,
                        bool forget)
{
    if (!known_event_is_valid(order, &event, edges))
        return false;
    uint32_t number;
    if (!line_get(order, event.line))
        line_new_hidden(order, known_event_hidden_kind(order, &event, edges), &number);
    struct order_line *line = line_get(order, event.line);
    if (forget && event.number - 1 > line->delivered)
        order_forget_occupants(order, event.line);
    known_event_skip(order, event.line, event.number - 1 - line->delivered, event.after_gap);
    if (event.opened)
        order_opened_by(order, event.line,
                        (struct event_id){
                            block_line_of(log_get(order, edges[event.edge_count - 1], FIELD_LINE)),
                            log_get(order, edges[event.edge_count - 1], FIELD_NUMBER)});
    if (!(event.line & HIDDEN_LINE))
        occupancy_apply(order, &event);
    uint64_t position = order->log.count;
    log_append(order, &event, edges, NULL);
    for (uint32_t i = 0; i < event.send_count; i++)
        log_receive(order, edges[i], position, event.send_count == 1);
    if (event.thread && !(event.line & HIDDEN_LINE)) {
        line_touch(order, event.thread);
        line_get(order, event.thread)->acted = order->log.count;
    }
    return true;
}
