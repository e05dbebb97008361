/* The replay schedule that all processes of a replayed run share (wire/replay_schedule.h), as
 * mapped in this one. */
#ifndef CLIENTS_LIBPOET_REPLAY_SCHEDULE_MEMORY_H
#define CLIENTS_LIBPOET_REPLAY_SCHEDULE_MEMORY_H

#include "wire/replay_schedule.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern struct schedule_head *shared_schedule; /* NULL: none */

static inline bool shared_schedule_is_active(void)
{
    return shared_schedule &&
           atomic_load_explicit(&shared_schedule->state, memory_order_relaxed) == SCHEDULE_ACTIVE;
}

/* Returns a line of the schedule; line 0 for numbers beyond the last one. */
static inline struct schedule_line *shared_schedule_line(uint32_t line)
{
    struct schedule_line *all = (void *)((char *)shared_schedule + shared_schedule->lines_at);
    return &all[line <= shared_schedule->line_count ? line : 0];
}

static inline const struct schedule_event *
shared_schedule_events(const struct schedule_line *thread)
{
    const struct schedule_event *all =
        (const void *)((char *)shared_schedule + shared_schedule->events_at);
    return all + thread->first;
}

#pragma GCC visibility pop
#endif
