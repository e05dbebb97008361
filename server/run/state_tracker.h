/* State tracker: follows the states of threads and other lines, event by event, by the rules of the
 * descriptions.
 *
 * A thread may occupy several lines at once: it is blocked if it is blocked in one of them, else
 * it is in the line that it entered last, else it is running.  For a line that belongs to no
 * thread the tracker counts the occupants. */
#ifndef SERVER_RUN_STATE_TRACKER_H
#define SERVER_RUN_STATE_TRACKER_H

#include "server/run/state_timeline.h"

/* The state codes are an enum band_state; the object of a state is the line that the thread is
 * in, or waits for. */
extern const struct timeline_callbacks state_tracker_source;

#endif
