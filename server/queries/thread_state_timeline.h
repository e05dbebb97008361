/* The course of a run by what was measured: in which state each thread was
 * (server/timing/thread_states.h), on its own line's row.  Codes are an enum band_thread_state.  It
 * is told once all that there is was measured. */
#ifndef SERVER_QUERIES_THREAD_STATE_TIMELINE_H
#define SERVER_QUERIES_THREAD_STATE_TIMELINE_H

#include "server/run/state_timeline.h"

extern const struct timeline_callbacks thread_state_source;

#endif
