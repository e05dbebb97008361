/* Begin of a wait: the event before it, and the signal that is handled where the thread waits. */
#ifndef SERVER_QUERIES_WAIT_START_H
#define SERVER_QUERIES_WAIT_START_H

#include "server/run/run.h"

/* Returns the previous event of the same thread, on any line, or NO_POSITION. */
uint64_t wait_start_previous(const struct run *run, uint64_t position);
/* Returns that event if its thread waited with it; else NO_POSITION. */
uint64_t wait_start_time(const struct run *run, uint64_t position);

/* Returns the event by which the signal was sent that a thread handles while it waits, by the event
 * at `position`, and sets the thread that sent it; 0 if it waits in none, or the sender is not
 * recorded. */
struct event_id wait_handler_signal(const struct run *run, uint64_t position, uint32_t *sender);

#endif
