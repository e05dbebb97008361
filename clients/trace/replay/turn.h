/* Turns: a thread waits until a line has come to a number. */
#ifndef CLIENTS_TRACE_REPLAY_TURN_H
#define CLIENTS_TRACE_REPLAY_TURN_H

#include "clients/trace/replay/shared.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Until `line` has come to `number`; me: the thread that waits.  False: the script was left. */
bool turn_wait(struct script_line *me, uint32_t line, uint32_t number);
/* It has; quietly: who waits for that sees it only when he looks the next time. */
void turn_come(uint32_t line, uint32_t number, bool quietly);
/* The script is left, unless it was: *end says why. */
void script_leave(const struct script_end *end);

#pragma GCC visibility pop
#endif
