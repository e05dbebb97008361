#include "server/queries/crossing_messages.h"

#include "base/map.h"
#include "wire/layout_results.h"

#include <stdlib.h>

#define LOOK_LINE 200u  /* events searched on either side of the window, on one line */
#define LOOK_ALL 20000u /* on all lines together */

struct crossing_sides {
    const struct order *order;
    const uint32_t *row_of;
    uint32_t lines;
    struct crossing_side { /* positions; NO_POSITION beyond the last event */
        /* first event searched; first one not left of the window; first one right of it */
        uint64_t looked, left, right;
    } *of;
    struct crossing_info *found;
    size_t count, room;
    uint64_t send; /* the current send */
};

static const struct crossing_side *side_of(const struct crossing_sides *s, uint32_t line)
{
    return line && line <= s->lines && s->row_of[line - 1] ? &s->of[line - 1] : NULL;
}

static struct event_id ref_of(const struct order_event *e)
{
    return (struct event_id){e->line, e->number};
}

static void crossing_add(struct crossing_sides *s, uint64_t send, uint64_t receive)
{
    struct order_event from = order_event(s->order, send), to = order_event(s->order, receive);
    s->found = array_reserve(s->found, &s->room, s->count + 1, sizeof *s->found);
    s->found[s->count++] = (struct crossing_info){ref_of(&from), ref_of(&to)};
}

static void crossing_check_receive(void *context, uint64_t receive)
{
    struct crossing_sides *s = context;
    const struct crossing_side *to = side_of(s, order_event(s->order, receive).line);
    if (to && receive >= to->right)
        crossing_add(s, s->send, receive);
}

static void crossing_scan_back(struct crossing_sides *s, uint32_t line, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        uint64_t position = order_line_at(s->order, line, i);
        if (position == NO_POSITION) /* damaged */
            continue;
        s->send = position;
        if (order_sends(s->order, position))
            order_receives(s->order, position, crossing_check_receive, s);
    }
}

/* Finds messages by their receives if the send is too far left for the backward search. */
static void crossing_scan_ahead(struct crossing_sides *s, uint32_t line, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        uint64_t position = order_line_at(s->order, line, i);
        uint32_t sends = position != NO_POSITION ? order_received(s->order, position) : 0;
        for (uint32_t k = 0; k < sends; k++) {
            uint64_t send = order_edge(s->order, position, k);
            if (send < order_first(s->order))
                continue;
            const struct crossing_side *at = side_of(s, order_event(s->order, send).line);
            if (at && send < at->left && send < at->looked)
                crossing_add(s, send, position);
        }
    }
}

static uint64_t position_at(const struct order *order, uint32_t line, uint64_t ordinal)
{
    return ordinal < order_line_events(order, line) ? order_line_at(order, line, ordinal)
                                                    : NO_POSITION;
}

/* Returns, by line - 1, 1 + the last position in the window, 0 for none.  The caller frees it. */
static uint64_t *ends_of(const struct crossing_sides *s, const struct layout_result *p)
{
    uint64_t *ends = xcalloc(s->lines + 1, sizeof *ends);
    for (size_t i = 0; i < p->count; i++) {
        uint32_t line = order_event(s->order, p->events[i].position).line;
        uint64_t last = p->events[i].fold ? p->events[i].fold_end : p->events[i].position;
        if (side_of(s, line) && last >= ends[line - 1])
            ends[line - 1] = last + 1;
    }
    return ends;
}

size_t crossing_messages_find(const struct order *order, const struct layout_result *p,
                              const uint32_t *row_of, uint32_t lines, struct crossing_info **found)
{
    struct crossing_sides s = {.order = order, .row_of = row_of, .lines = lines};
    uint32_t rows = 0;
    s.of = xcalloc(lines + 1, sizeof *s.of);
    for (uint32_t line = 1; line <= lines; line++)
        rows += row_of[line - 1] != 0;
    uint64_t look = rows ? LOOK_ALL / rows : 0;
    look = look > LOOK_LINE ? LOOK_LINE : look;
    uint64_t *ends = ends_of(&s, p);
    for (int pass = 0; pass < 2 && p->more_left && p->more_right; pass++)
        for (uint32_t line = 1; line <= lines; line++) {
            if (!row_of[line - 1])
                continue;
            uint64_t n = order_line_events(order, line), first = order_line_first(order, line);
            uint64_t left = p->before[line - 1] < n ? p->before[line - 1] : n;
            left = left > first ? left : first;
            uint64_t right = ends[line - 1] ? order_line_from(order, line, ends[line - 1]) : left;
            uint64_t back = left - first > look ? left - look : first;
            if (pass == 0) {
                s.of[line - 1] = (struct crossing_side){position_at(order, line, back),
                                                        position_at(order, line, left),
                                                        position_at(order, line, right)};
                continue;
            }
            crossing_scan_back(&s, line, back, left);
            crossing_scan_ahead(&s, line, right, right + look < n ? right + look : n);
        }
    free(ends);
    free(s.of);
    *found = s.found;
    return s.count;
}
