/* Validation of a replay schedule (wire/replay_schedule.h): everything that it refers to lies in
 * it. */
#ifndef CLIENTS_LIBPOET_REPLAY_SCHEDULE_VALIDATE_H
#define CLIENTS_LIBPOET_REPLAY_SCHEDULE_VALIDATE_H

#include "wire/replay_schedule.h"

#pragma GCC visibility push(hidden)

#define SCRIPT_NO_TYPE UINT16_MAX /* no index of a type's name */

/* Returns what is wrong with the schedule, whose address must be a multiple of 64, or NULL if its
 * parts and the events of its lines lie in it and its names are terminated. Lines that an event
 * names are looked up by shared_schedule_line(), which checks their number. */
const char *schedule_validate_file(const struct schedule_head *script, uint64_t bytes);

#pragma GCC visibility pop
#endif
