#include "server/timing/event_reader.h"

#include "base/alloc.h"

#include <stdlib.h>

void event_reader_begin(struct event_reader *events, const struct order *order)
{
    *events = (struct event_reader){.order = order};
    events->kept = xcalloc(EVENTS_KEPT, sizeof *events->kept);
}

void event_reader_free(struct event_reader *events)
{
    free(events->kept);
    *events = (struct event_reader){0};
}

const struct order_event *event_reader_other(struct event_reader *events, uint64_t position)
{
    events->other = order_event(events->order, position);
    return &events->other;
}

const struct order_event *event_reader_read(struct event_reader *events, uint64_t position)
{
    uint64_t at = position % EVENTS_KEPT, most = EVENTS_KEPT - at;
    if (position != events->end)
        events->from = position;
    events->end =
        position + order_read(events->order, position, most < EVENTS_AHEAD ? most : EVENTS_AHEAD,
                              &events->kept[at]);
    if (events->end - events->from > EVENTS_KEPT)
        events->from = events->end - EVENTS_KEPT;
    return &events->kept[at];
}
