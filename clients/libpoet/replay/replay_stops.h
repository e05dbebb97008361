/* Stops: threads of a repeated run that are held before an event, for a debugger
 * (wire/replay_schedule.h).
 *
 * The debugger writes into the script before which event each thread is to be held and whom it
 * waits for, and sets a breakpoint at poet_stop_reached(), which is called once all of them are
 * there.  So it stops once, however far that is. */
#ifndef CLIENTS_LIBPOET_REPLAY_REPLAY_STOPS_H
#define CLIENTS_LIBPOET_REPLAY_REPLAY_STOPS_H

#include "clients/libpoet/replay/schedule_memory.h"

#pragma GCC visibility push(hidden)

static inline bool replay_stop_is_debugged(void)
{
    return atomic_load_explicit(&shared_schedule->debugged, memory_order_relaxed) != 0;
}

/* This process has the script.  The first one is the debugger's. */
void replay_stop_begin(void);
/* The calling thread plays that part. */
void replay_stop_check(struct schedule_line *me);
/* Which process that thread plays its part in, and which thread it is there; 0: none yet. */
uint32_t replay_stop_process(uint32_t line);
uint32_t replay_stop_id(uint32_t line);
/* It is about to make its events `first` to `last`: held here while it is not to make one of them.
 * (Before it waits for its turn: nothing of what it waits for can need it then.) amid: the record
 * that they are of has some before, which are done when it is. */
void replay_stop_reach(struct schedule_line *me, uint64_t first, uint64_t last, bool amid);
/* Somebody has done some. */
void replay_stop_done(void);
/* The debugger is told, if it wants to be. */
void replay_stop_report(void);

#pragma GCC visibility pop
#endif
