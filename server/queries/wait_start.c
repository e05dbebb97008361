#include "server/queries/wait_start.h"

/* Keeps an event as the latest if it belongs to the thread of event `of` and precedes it. */
static void wait_start_consider_event(const struct run *run, uint64_t position,
                                      const struct order_event *of, uint64_t *latest)
{
    if (position == NO_POSITION || position >= of->point || position < order_first(run->order))
        return;
    if (*latest != NO_POSITION && position <= *latest)
        return;
    struct order_event e = order_event(run->order, position);
    if (e.line && !(e.line & HIDDEN_LINE) && e.thread == of->thread)
        *latest = position;
}

/* Events of a line searched backwards for the thread's previous event there. */
#define LINE_STEPS 4096u

/* The thread's previous event directly precedes this event or its partner, on their lines or by
 * an edge; else it is searched on the line. */
uint64_t wait_start_previous(const struct run *run, uint64_t position)
{
    uint64_t latest = NO_POSITION;
    struct order_event of = order_event(run->order, position);
    if (!of.line || !of.thread)
        return latest;
    uint64_t first = of.relation == RELATION_SYNC ? of.point : position;
    uint64_t last = of.relation == RELATION_SYNC ? order_point_end(run->order, position) : position;
    for (uint64_t p = first; p <= last && p < first + 2; p++) {
        struct order_event e = p == position ? of : order_event(run->order, p);
        wait_start_consider_event(run, order_previous(run->order, p), &of, &latest);
        for (uint32_t i = e.send_count; i + e.opened < e.edge_count; i++)
            wait_start_consider_event(run, order_edge(run->order, p, i), &of, &latest);
    }
    if (latest == NO_POSITION)
        wait_start_consider_event(run, order_previous_of_thread(run->order, position, LINE_STEPS),
                                  &of, &latest);
    return latest;
}

uint64_t wait_start_time(const struct run *run, uint64_t position)
{
    uint64_t before = wait_start_previous(run, position);
    if (before == NO_POSITION)
        return before;
    struct order_event e = order_event(run->order, before);
    const struct target_event *look =
        run_event_type(run, e.line, e.type, (enum relation)e.relation);
    return look && look->waits ? before : NO_POSITION;
}
