/* Timeline of the measured states of each thread (server/timing/thread_states.h), on its thread
 * line's row.  Codes are an enum band_thread_state.  It is sent once all existing events are
 * processed. */
#ifndef SERVER_QUERIES_THREAD_STATE_TIMELINE_H
#define SERVER_QUERIES_THREAD_STATE_TIMELINE_H

#include "server/run/state_timeline.h"

extern const struct timeline_callbacks thread_state_source;

#endif
