/* Mapping between a replay schedule and this process: which thread follows which schedule, and
 * which line is which. Internal to thread_schedule.c, which queries what comes next, and
 * apply_event.c, which compares what is recorded. */
#ifndef CLIENTS_LIBPOET_REPLAY_SCHEDULE_MAPPING_H
#define CLIENTS_LIBPOET_REPLAY_SCHEDULE_MAPPING_H

#include "base/likely.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/replay/replay_hooks.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "clients/libpoet/replay/shared_schedule.h"
#include "wire/limits.h"

#pragma GCC visibility push(hidden)

/* Finds the thread's schedule, if it has one. */
void schedule_map_find_thread(struct traced_thread *thread);
/* Returns the thread's schedule, found at the first call, or NULL if it has none or the schedule
 * was abandoned. */
static inline struct thread_schedule *schedule_map_thread(struct traced_thread *thread)
{
    struct thread_schedule *part = &thread->schedule;
    if (UNLIKELY(!part->sought) && tracer.replay.schedule)
        schedule_map_find_thread(thread);
    return LIKELY(part->line) && shared_schedule_is_active() ? part : NULL;
}
/* events that may happen before an earlier one of the thread's schedule */
#define SCHEDULE_MAP_WINDOW 32u
/* Returns the k-th event that has not happened, or NULL if there is none. */
static inline const struct schedule_event *schedule_map_peek(const struct thread_schedule *part,
                                                             unsigned k)
{
    if (LIKELY(!part->met))
        return k < SCHEDULE_MAP_WINDOW && part->next + k < part->count
                   ? &part->events[part->next + k]
                   : NULL;
    for (unsigned i = 0; part->next + i < part->count && i < SCHEDULE_MAP_WINDOW; i++)
        if (!(part->met >> i & 1) && k-- == 0)
            return &part->events[part->next + i];
    return NULL;
}

/* Returns the entry of a type in tracer.replay.types, and sets it. */
uint16_t schedule_map_find_type(uint16_t type);
/* Returns whether an event has that type, one of libpoet's or of the program's own. */
static inline bool schedule_map_is_type(const struct schedule_event *event, uint16_t type)
{
    uint16_t of = type < LIMIT_TYPES
                      ? atomic_load_explicit(&tracer.replay.types[type], memory_order_relaxed)
                      : SCRIPT_NO_TYPE;
    return event->type == (LIKELY(of) ? of : schedule_map_find_type(type)) - 1u;
}
/* Returns the type as one of libpoet's; TYPE_NONE if it is the program's own, or event is NULL. */
static inline enum trace_type schedule_map_own_type(const struct schedule_event *event)
{
    return event && event->type < LIMIT_TYPES
               ? (enum trace_type)tracer.replay.own_types[event->type]
               : TYPE_NONE;
}
bool schedule_map_bind_line(struct trace_line *line, uint32_t as);
/* Maps a line of this run to one of the schedule from here on. Returns false if it is mapped to
 * another one. */
static inline bool schedule_map_accept_line(struct trace_line *line, uint32_t as)
{
    uint32_t is = atomic_load_explicit(&line->script, memory_order_relaxed);
    return LIKELY(is) ? is == as : schedule_map_bind_line(line, as);
}
/* Return the code in this process of a line of the schedule, and the reverse; 0: it has none here,
 * as far as is recorded. */
static inline uint32_t schedule_map_code(uint32_t as)
{
    uint64_t bound = as ? atomic_load(&shared_schedule_line(as)->bound) : 0;
    return bound >> 32 == tracer.replay.process ? (uint32_t)bound : 0;
}
uint32_t schedule_map_line(uint32_t code);
/* The thread is about to create a process, or to execute another program, which will report that it
 * comes from the message of that number (0: it will not). */
void schedule_map_new_process(const struct schedule_event *event, uint64_t message);
static inline void schedule_map_note_birth(const struct schedule_event *event, uint64_t message)
{
    enum trace_type type = schedule_map_own_type(event);
    if (UNLIKELY(type == TYPE_FORK || type == TYPE_EXEC))
        schedule_map_new_process(event, message);
}
/* Abandons the schedule: a thread did something else, at that line. */
void schedule_map_diverge(const struct thread_schedule *part, uint16_t type, uint32_t line);

#pragma GCC visibility pop
#endif
