/* A run out of its trace file. */
#ifndef SERVER_FILE_REPLAY_H
#define SERVER_FILE_REPLAY_H

#include "server/run/run.h"

#include <stdio.h>

/* NULL with *why if it is no trace file.  run->damage says what is missing. */
struct run *replay(const char *path, const char **why);
/* If reading takes more than a second, "progress PERCENT" goes there now and then; NULL nowhere. */
void replay_tell(FILE *where);

#endif
