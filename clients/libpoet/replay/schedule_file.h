/* The file of a script, mapped, once all that it says of itself has been looked at. */
#ifndef CLIENTS_LIBPOET_REPLAY_SCHEDULE_FILE_H
#define CLIENTS_LIBPOET_REPLAY_SCHEDULE_FILE_H

#include "wire/replay_schedule.h"

#pragma GCC visibility push(hidden)

/* NULL: there is none that can be played, and `wrong` says why. */
struct schedule_head *schedule_file_open(const char *path, const char **wrong);

#pragma GCC visibility pop
#endif
