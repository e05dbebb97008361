/* The file of a script, mapped, once all that it says of itself has been looked at. */
#ifndef CLIENTS_TRACE_REPLAY_READING_H
#define CLIENTS_TRACE_REPLAY_READING_H

#include "wire/script.h"

#pragma GCC visibility push(hidden)

/* NULL: there is none that can be played, and `wrong` says why. */
struct schedule_head *schedule_file_open(const char *path, const char **wrong);

#pragma GCC visibility pop
#endif
