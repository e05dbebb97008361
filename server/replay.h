/* A run out of its trace file. */
#ifndef SERVER_REPLAY_H
#define SERVER_REPLAY_H

#include "server/run.h"

/* NULL with *why if it is no trace file.  run->damage says what is missing. */
struct run *replay(const char *path, const char **why);

#endif
