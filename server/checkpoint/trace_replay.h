/* A run out of its trace file. */
#ifndef SERVER_CHECKPOINT_TRACE_REPLAY_H
#define SERVER_CHECKPOINT_TRACE_REPLAY_H

#include "server/run/run.h"

#include <stdio.h>

/* NULL with *why if it is no trace file.  run->damage says what is missing. */
struct run *trace_replay(const char *path, const char **why);
/* A run out of a file that is gone on with (tracefile_resume), as far as its newest state knows it;
 * the rest of its journal is to be told.  It takes the file over, in any case. */
struct run *trace_replay_resumed(struct tracefile *file, const char *path, uint64_t keep_bytes,
                                 const char **why);
/* If reading takes more than a second, "progress PERCENT" goes there now and then; NULL nowhere. */
void trace_replay_set_progress(FILE *where);

#endif
