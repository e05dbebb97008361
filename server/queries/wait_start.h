/* Begin of the wait before an event. */
#ifndef SERVER_QUERIES_WAIT_START_H
#define SERVER_QUERIES_WAIT_START_H

#include "server/run/run.h"

/* Returns the previous event of the same thread, on any line, or NO_POSITION. */
uint64_t wait_start_previous(const struct run *run, uint64_t position);
/* Returns that event if its thread waited with it; else NO_POSITION. */
uint64_t wait_start_time(const struct run *run, uint64_t position);

#endif
