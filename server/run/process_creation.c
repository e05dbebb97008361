#include "server/run/process_creation.h"

/* (lines are never removed, so each is examined once) */
uint32_t process_creation_line(const struct run *run, size_t process)
{
    struct run_process *p = &run->processes.items[process];
    uint32_t lines = order_line_count(run->order);
    while (!p->first_line && p->lines_seen < lines)
        if (run_line_at(run, ++p->lines_seen)->process == process)
            p->first_line = p->lines_seen;
    return p->first_line;
}

uint64_t process_creation_message(const struct run *run, size_t process)
{
    uint32_t line = process_creation_line(run, process);
    uint64_t first = line ? order_position(run->order, (struct event_id){line, 1}) : NO_POSITION;
    if (first == NO_POSITION || !order_received(run->order, first))
        return NO_POSITION;
    uint64_t sent = order_edge(run->order, first, 0);
    return sent >= order_first(run->order) ? sent : NO_POSITION;
}
