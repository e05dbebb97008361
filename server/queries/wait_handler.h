/* Signal handlers in which threads wait. */
#ifndef SERVER_QUERIES_WAIT_HANDLER_H
#define SERVER_QUERIES_WAIT_HANDLER_H

#include "server/run/run.h"

/* Returns the event by which the signal was sent in whose handler a thread waits, by the event at
 * `position`, and sets the thread that sent it; 0 if it waits in none, or the sender is not
 * recorded. */
struct event_id wait_handler_signal(const struct run *run, uint64_t position, uint32_t *sender);

#endif
