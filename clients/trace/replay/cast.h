/* Who plays which part of a script, and which line of it is which of this process: inside part.c, which asks what comes
 * next, and play.c, which compares what is done. */
#ifndef CLIENTS_TRACE_REPLAY_CAST_H
#define CLIENTS_TRACE_REPLAY_CAST_H

#include "clients/trace/core/likely.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/part.h"
#include "clients/trace/replay/script.h"
#include "clients/trace/replay/shared.h"
#include "wire/limits.h"

#pragma GCC visibility push(hidden)

/* Finds the thread's, which it may have none of. */
void cast_seek(struct thread *thread);
/* A thread's, found when it is first asked for; NULL: it has none, or the script is left. */
static inline struct part *cast_part(struct thread *thread)
{
    struct part *part = &thread->part;
    if (!LIKELY(part->sought) && script)
        cast_seek(thread);
    return LIKELY(part->line != NULL) && script_plays() ? part : NULL;
}
#define CAST_WINDOW 32u /* events that may be met before the first one that is not */
/* The k-th event that is not met; NULL: there is none. */
static inline const struct script_event *cast_ahead(const struct part *part, unsigned k)
{
    if (LIKELY(!part->met))
        return k < CAST_WINDOW && part->next + k < part->count ? &part->events[part->next + k]
                                                               : NULL;
    for (unsigned i = 0; part->next + i < part->count && i < CAST_WINDOW; i++)
        if (!(part->met >> i & 1) && k-- == 0)
            return &part->events[part->next + i];
    return NULL;
}

/* 1 + that of the script, SCRIPT_NO_TYPE: none; 0: cast_find() was not asked yet.  By ours and the program's. */
extern _Atomic uint16_t cast_types[LIMIT_TYPES];
uint16_t cast_find(uint16_t type);
/* Is an event of that type of ours, or of the program's own? */
static inline bool cast_is(const struct script_event *event, uint16_t type)
{
    uint16_t of = type < LIMIT_TYPES ? atomic_load_explicit(&cast_types[type], memory_order_relaxed)
                                     : SCRIPT_NO_TYPE;
    return event->type == (LIKELY(of) ? of : cast_find(type)) - 1u;
}
extern uint8_t cast_ours[LIMIT_TYPES]; /* an enum trace_type, by types of the script */
/* Its type as one of ours; TYPE_NONE: it is of the program's own, or NULL. */
static inline enum trace_type cast_type(const struct script_event *event)
{
    return event && event->type < LIMIT_TYPES ? (enum trace_type)cast_ours[event->type] : TYPE_NONE;
}
bool cast_binds(struct line *line, uint32_t as);
/* A line of this run is that one of the script from here on; false: it is another one. */
static inline bool cast_takes(struct line *line, uint32_t as)
{
    uint32_t is = atomic_load_explicit(&line->script, memory_order_relaxed);
    return LIKELY(is) ? is == as : cast_binds(line, as);
}
extern uint64_t cast_process; /* this one, as bound of struct script_line names it */
/* The code of a line of the script in this process, and the other way; 0: it has none here, as far as is known. */
static inline uint32_t cast_code(uint32_t as)
{
    uint64_t bound = as ? atomic_load(&script_line(as)->bound) : 0;
    return bound >> 32 == cast_process ? (uint32_t)bound : 0;
}
uint32_t cast_line(uint32_t code);
/* The thread is about to do that: to make a process, or another program of this one, which will say that it comes from
 * the message of that number (0: it will not). */
void cast_bear(const struct script_event *event, uint64_t message);
static inline void cast_birth(const struct script_event *event, uint64_t message)
{
    enum trace_type type = cast_type(event);
    if (!LIKELY(type != TYPE_FORK && type != TYPE_EXEC))
        cast_bear(event, message);
}
/* The script is left: a thread did something else, at that line. */
void cast_differ(const struct part *part, uint16_t type, uint32_t line);

#pragma GCC visibility pop
#endif
