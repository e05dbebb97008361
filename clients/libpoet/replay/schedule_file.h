/* The file of a replay schedule: mapped and validated. */
#ifndef CLIENTS_LIBPOET_REPLAY_SCHEDULE_FILE_H
#define CLIENTS_LIBPOET_REPLAY_SCHEDULE_FILE_H

#include "wire/replay_schedule.h"

#pragma GCC visibility push(hidden)

/* Returns NULL if there is none that can be replayed, and sets `wrong` to the reason. */
struct schedule_head *schedule_file_open(const char *path, const char **wrong);

#pragma GCC visibility pop
#endif
