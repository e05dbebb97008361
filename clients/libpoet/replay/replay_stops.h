/* Breakpoints of a replayed run: threads are held before an event, for a debugger
 * (wire/replay_schedule.h).
 *
 * The debugger writes into the schedule before which event each thread must be held and which
 * threads it waits for, and sets a breakpoint at poet_stop_reached(), which is called once all of
 * them are there. It therefore stops once, however far that is. */
#ifndef CLIENTS_LIBPOET_REPLAY_REPLAY_STOPS_H
#define CLIENTS_LIBPOET_REPLAY_REPLAY_STOPS_H

#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/replay/shared_schedule.h"

#pragma GCC visibility push(hidden)

static inline bool replay_stop_is_debugged(void)
{
    return atomic_load_explicit(&tracer.replay.schedule->debugged, memory_order_relaxed) != 0;
}

/* This process has mapped the schedule. The first one is the debugger's. */
void replay_stop_begin(void);
/* The calling thread has taken that schedule. */
void replay_stop_check(struct schedule_line *me);
/* Return the process in which a thread of the schedule runs, and its thread id there; 0: none
 * yet. */
uint32_t replay_stop_process(uint32_t line);
uint32_t replay_stop_id(uint32_t line);
/* The thread is about to make its events `first` to `last`: holds it while it must not make one of
 * them. (Called before it waits for its turn: no other thread can need its progress then.) amid:
 * the record of these events has earlier ones, which are done when it is. */
void replay_stop_reach(struct schedule_line *me, uint64_t first, uint64_t last, bool amid);
/* Some thread has made progress. */
void replay_stop_done(void);
/* Notifies the debugger, if it wants that. */
void replay_stop_report(void);

#pragma GCC visibility pop
#endif
