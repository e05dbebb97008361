/* Whether a script (wire/replay_schedule.h) is one: what it names lies in it. */
#ifndef CLIENTS_LIBPOET_REPLAY_SCHEDULE_VALIDATE_H
#define CLIENTS_LIBPOET_REPLAY_SCHEDULE_VALIDATE_H

#include "wire/replay_schedule.h"

#pragma GCC visibility push(hidden)

#define SCRIPT_NO_TYPE UINT16_MAX /* no index of a type's name */

/* What is wrong with it, from an address that is a multiple of 64; NULL: its parts and the events
 * of its lines lie in it, and its names end.  What an event names is looked up by
 * shared_schedule_line(), which knows how many there are. */
const char *schedule_validate_file(const struct schedule_head *script, uint64_t bytes);

#pragma GCC visibility pop
#endif
