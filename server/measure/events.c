#include "server/measure/events.h"

#include "memory/memory.h"

#include <stdlib.h>

void events_begin(struct events *events, const struct order *order)
{
    *events = (struct events){.order = order};
    events->kept = memory_zeroed(EVENTS_KEPT, sizeof *events->kept);
}

void events_free(struct events *events)
{
    free(events->kept);
    *events = (struct events){0};
}

const struct event *events_other(struct events *events, uint64_t position)
{
    events->other = order_event(events->order, position);
    return &events->other;
}

const struct event *events_read(struct events *events, uint64_t position)
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
