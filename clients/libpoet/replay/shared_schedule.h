/* The replay schedule that all processes of a replayed run share (wire/replay_schedule.h), as
 * mapped in this one. */
#ifndef CLIENTS_LIBPOET_REPLAY_SHARED_SCHEDULE_H
#define CLIENTS_LIBPOET_REPLAY_SHARED_SCHEDULE_H

#include "clients/libpoet/core/tracer.h"
#include "wire/replay_schedule.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define SCRIPT_NO_TYPE UINT16_MAX /* no index of a type's name */

static inline bool shared_schedule_is_active(void)
{
    return tracer.replay.schedule && atomic_load_explicit(&tracer.replay.schedule->state,
                                                          memory_order_relaxed) == SCHEDULE_ACTIVE;
}

/* Returns a line of the schedule; line 0 for numbers beyond the last one. */
static inline struct schedule_line *shared_schedule_line(uint32_t line)
{
    struct schedule_line *all =
        (void *)((char *)tracer.replay.schedule + tracer.replay.schedule->lines_at);
    return &all[line <= tracer.replay.schedule->line_count ? line : 0];
}

static inline const struct schedule_event *
shared_schedule_events(const struct schedule_line *thread)
{
    const struct schedule_event *all =
        (const void *)((char *)tracer.replay.schedule + tracer.replay.schedule->events_at);
    return all + thread->first;
}

/* Returns what is wrong with the schedule, which must be at a multiple of 64, or NULL if its
 * parts and the events of its lines lie in it and its names are terminated. Lines that an event
 * names are looked up by shared_schedule_line(), which checks their number. */
const char *shared_schedule_validate(const struct schedule_head *script, uint64_t bytes);
/* Returns NULL with the reason in *why if there is none that can be replayed. */
struct schedule_head *shared_schedule_open(const char *path, const char **why);

#pragma GCC visibility pop
#endif
