/* Turns: a thread waits until a line has come to a number. */
#ifndef CLIENTS_TRACE_REPLAY_TURN_H
#define CLIENTS_TRACE_REPLAY_TURN_H

#include "wire/script.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern struct script_head *script; /* NULL: none */

static inline bool script_plays(void)
{
    return script && atomic_load_explicit(&script->state, memory_order_relaxed) == SCRIPT_PLAYS;
}

struct script_line *script_line(uint32_t line); /* what is beyond the last one is line 0 */
const struct script_event *script_events(const struct script_line *thread);

/* Until `line` has come to `number`; me: the thread that waits.  False: the script was left. */
bool turn_wait(struct script_line *me, uint32_t line, uint32_t number);
/* It has; quietly: who waits for that sees it only when he looks the next time. */
void turn_come(uint32_t line, uint32_t number, bool quietly);
/* The script is left, unless it was: *end says why. */
void script_leave(const struct script_end *end);

#pragma GCC visibility pop
#endif
