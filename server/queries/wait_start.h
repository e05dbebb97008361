/* Since when the thread of an event had waited before it. */
#ifndef SERVER_QUERIES_WAIT_START_H
#define SERVER_QUERIES_WAIT_START_H

#include "server/run/run.h"

/* The event before it of the same thread, on whatever line, or NO_POSITION. */
uint64_t wait_start_previous(const struct run *run, uint64_t position);
/* That one, if its thread waited by it; else NO_POSITION. */
uint64_t wait_start_time(const struct run *run, uint64_t position);

#endif
