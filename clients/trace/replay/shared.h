/* The script that all processes of a repeated run share (wire/script.h), as this one has it mapped. */
#ifndef CLIENTS_TRACE_REPLAY_SHARED_H
#define CLIENTS_TRACE_REPLAY_SHARED_H

#include "wire/script.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern struct script_head *script; /* NULL: none */

static inline bool script_plays(void)
{
    return script && atomic_load_explicit(&script->state, memory_order_relaxed) == SCRIPT_PLAYS;
}

/* What is beyond the last one is line 0. */
static inline struct script_line *script_line(uint32_t line)
{
    struct script_line *all = (void *)((char *)script + script->lines_at);
    return &all[line <= script->line_count ? line : 0];
}

static inline const struct script_event *script_events(const struct script_line *thread)
{
    const struct script_event *all = (const void *)((char *)script + script->events_at);
    return all + thread->first;
}

#pragma GCC visibility pop
#endif
