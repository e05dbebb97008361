/* Turns in a replay: a thread waits until a line has reached a number. */
#ifndef CLIENTS_LIBPOET_REPLAY_REPLAY_TICKET_H
#define CLIENTS_LIBPOET_REPLAY_REPLAY_TICKET_H

#include "base/likely.h"
#include "clients/libpoet/replay/shared_schedule.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

static inline bool replay_ticket_is_reached(const struct schedule_line *line, uint32_t number)
{
    return (int32_t)(atomic_load(&line->done) - number) >= 0;
}

bool replay_ticket_wait_for(struct schedule_line *me, struct schedule_line *line, uint32_t number);
/* Waits until `line` has reached `number`; me: the waiting thread. Returns false if the schedule
 * was abandoned. */
static inline bool replay_ticket_wait(struct schedule_line *me, uint32_t line, uint32_t number)
{
    struct schedule_line *l = shared_schedule_line(line);
    return LIKELY(replay_ticket_is_reached(l, number)) || replay_ticket_wait_for(me, l, number);
}
/* Wakes the threads that wait for a number that the line has reached since `before`. */
void replay_ticket_wake(struct schedule_line *line, uint32_t before, uint32_t number);
/* Sets the number that the line has reached. quietly: hardly any thread waits for it, so none is
 * woken; one that begins to wait just now notices at its next check. */
static inline void replay_ticket_set_reached(uint32_t line, uint32_t number, bool quietly)
{
    struct schedule_line *l = shared_schedule_line(line);
    if (LIKELY(quietly && !atomic_load_explicit(&l->waiting, memory_order_relaxed))) {
        atomic_store_explicit(&l->done, number, memory_order_release);
        return;
    }
    uint32_t before = atomic_exchange(&l->done, number);
    if (UNLIKELY(atomic_load(&l->waiting)))
        replay_ticket_wake(l, before, number);
}
/* Returns the maximum time to wait for a thread to make its next event. */
unsigned replay_ticket_timeout_ms(const struct schedule_line *thread);
/* Abandons the schedule, unless that was done already; *end is the reason. */
void shared_schedule_abandon(const struct schedule_end *end);

#pragma GCC visibility pop
#endif
