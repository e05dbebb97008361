/* Replay of a trace file into a run: its NEWS, its newest checkpoint (checkpoint_write.h), and the
 * journal after it. */
#ifndef SERVER_CHECKPOINT_TRACE_REPLAY_H
#define SERVER_CHECKPOINT_TRACE_REPLAY_H

#include "server/run/run.h"

#include <stdio.h>

/* Reads a trace file into a new run.  Returns NULL with the reason in *why if it is not a trace
 * file. run->file.damage describes missing parts. */
struct run *trace_replay(const char *path, const char **why);
/* Returns the run of a file that is resumed (tracefile_resume), as of its newest state; the
 * caller must deliver the rest of the journal.  Takes ownership of the file, also on failure. */
struct run *trace_replay_resumed(struct tracefile *file, const char *path, uint64_t keep_bytes,
                                 const char **why);
/* Sets where "progress PERCENT" is written now and then if reading takes more than a second; NULL:
 * nowhere. */
void trace_replay_set_progress(FILE *where);

#endif
