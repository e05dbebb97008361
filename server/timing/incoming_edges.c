#include "server/timing/incoming_edges.h"

#include "base/alloc.h"

#include <stdlib.h>

#define EDGES_MOST 8u /* maximum number of edges of one event, the newest */
#define COLLECTED_MOST 4u /* maximum number of edges of one hidden event, the newest */

struct incoming_edge_state {
    const struct run_metadata_source *teller;
    struct event_reader *events;
    struct intervals *intervals;
    const struct order_event *event;
    int64_t ns;
    uint32_t about;
};

static void incoming_edges_add(const struct incoming_edge_state *t, uint32_t thread,
                               int64_t from_ns)
{
    if (thread && thread != t->event->thread && from_ns <= t->ns)
        intervals_add_edge(t->intervals, t->event->thread,
                           (struct interval_edge){t->ns, from_ns, thread, t->about});
}

static void add_edge(const struct incoming_edge_state *t, uint64_t from)
{
    const struct order *order = t->teller->order;
    if (from < order_first(order))
        return;
    struct order_event e = *event_reader_at(t->events, from);
    if (e.line && !(e.line & HIDDEN_LINE)) {
        incoming_edges_add(t, e.thread, t->teller->time(t->teller->context, &e));
        return;
    }
    uint32_t first = e.edge_count > COLLECTED_MOST ? e.edge_count - COLLECTED_MOST : 0;
    for (uint32_t i = first; i < e.edge_count; i++) {
        uint64_t position = order_edge(order, from, i);
        struct order_event c = position < order_first(order)
                                   ? (struct order_event){0}
                                   : *event_reader_at(t->events, position);
        if (c.line && !(c.line & HIDDEN_LINE))
            incoming_edges_add(t, c.thread, t->teller->time(t->teller->context, &c));
    }
}

static void add_line(struct incoming_edges *ties, const struct incoming_edge_state *t)
{
    const struct order_event *e = t->event;
    ties->lines = array_reserve_zeroed(ties->lines, &ties->room, e->line, sizeof *ties->lines);
    struct ties_line *last = &ties->lines[e->line - 1];
    if (!e->after_gap && !order_line_shared(t->teller->order, e->line))
        incoming_edges_add(t, last->thread, last->ns);
    *last = (struct ties_line){t->ns, e->thread};
}

/* Returns the line of its order edges, unless that is another thread's line. */
static uint32_t incoming_edges_edge_line(const struct incoming_edge_state *t)
{
    const struct order_event *e = t->event;
    if (e->line != e->thread)
        return e->line;
    return e->about && !intervals_for_thread(t->intervals, e->about) ? e->about : 0;
}

void incoming_edges_note(struct incoming_edges *ties, const struct run_metadata_source *teller,
                         struct event_reader *events, struct intervals *intervals,
                         const struct order_event *event, uint64_t position, int64_t ns)
{
    struct incoming_edge_state t = {teller, events, intervals,
                                    event,  ns,     event->line == event->thread ? 0 : event->line};
    add_line(ties, &t);
    if (!event->edge_count)
        return;
    uint32_t first = event->edge_count > EDGES_MOST ? event->edge_count - EDGES_MOST : 0,
             known_by = incoming_edges_edge_line(&t);
    for (uint32_t i = first; i < event->edge_count; i++) {
        t.about = i < event->send_count ? 0 : known_by;
        add_edge(&t, order_edge(teller->order, position, i));
    }
}

void incoming_edges_free(struct incoming_edges *ties)
{
    free(ties->lines);
    *ties = (struct incoming_edges){0};
}
