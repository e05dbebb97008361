/* Turns: a thread waits until a line has come to a number. */
#ifndef CLIENTS_TRACE_REPLAY_TURN_H
#define CLIENTS_TRACE_REPLAY_TURN_H

#include "clients/trace/core/likely.h"
#include "clients/trace/replay/shared.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

static inline bool turn_has_come(const struct script_line *line, uint32_t number)
{
    return (int32_t)(atomic_load(&line->done) - number) >= 0;
}

bool turn_wait_for(struct script_line *me, struct script_line *line, uint32_t number);
/* Until `line` has come to `number`; me: the thread that waits.  False: the script was left. */
static inline bool turn_wait(struct script_line *me, uint32_t line, uint32_t number)
{
    struct script_line *l = script_line(line);
    return LIKELY(turn_has_come(l, number)) || turn_wait_for(me, l, number);
}
/* Those who wait for what it has come to since `before`. */
void turn_wake(struct script_line *line, uint32_t before, uint32_t number);
/* It has; quietly: nearly nobody waits for that, and who begins to just now sees it only when he looks the next time. */
static inline void turn_come(uint32_t line, uint32_t number, bool quietly)
{
    struct script_line *l = script_line(line);
    if (LIKELY(quietly && !atomic_load_explicit(&l->waiting, memory_order_relaxed))) {
        atomic_store_explicit(&l->done, number, memory_order_release);
        return;
    }
    uint32_t before = atomic_exchange(&l->done, number);
    if (!LIKELY(!atomic_load(&l->waiting)))
        turn_wake(l, before, number);
}
/* So long a thread is waited for at most, until it comes to its next event. */
unsigned turn_patience_ms(const struct script_line *thread);
/* The script is left, unless it was: *end says why. */
void script_leave(const struct script_end *end);

#pragma GCC visibility pop
#endif
