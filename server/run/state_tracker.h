/* In which state threads and other lines are, event by event, as the descriptions say.
 *
 * A thread may be in several lines at once, and how in each: it waits if it is blocked in one of
 * them, else it is in the one it came into last, else it runs.  Of a line that belongs to no thread
 * it counts who is in it. */
#ifndef SERVER_RUN_STATE_TRACKER_H
#define SERVER_RUN_STATE_TRACKER_H

#include "server/run/state_timeline.h"

/* Its codes are an enum band_state; what a state is about is the line that it is in, or waits
 * for. */
extern const struct timeline_callbacks state_tracker_source;

#endif
