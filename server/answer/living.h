/* The course of a run by what was measured: in which state each thread was
 * (server/measure/states.h), on its own line's row.  Codes are an enum band_thread_state.  It is
 * told once all that there is was measured. */
#ifndef SERVER_ANSWER_LIVING_H
#define SERVER_ANSWER_LIVING_H

#include "server/run/course.h"

extern const struct timeline_callbacks thread_state_source;

#endif
