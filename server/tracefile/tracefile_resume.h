/* Resumes a trace file whose server was killed, at the end of its journal. */
#ifndef SERVER_TRACEFILE_TRACEFILE_RESUME_H
#define SERVER_TRACEFILE_TRACEFILE_RESUME_H

#include "server/tracefile/tracefile.h"

/* Called for a chunk of the journal that the checkpoint does not cover; at: its place. */
typedef void resuming_visit(void *context, uint64_t at, struct chunk chunk);

/* Opens a file for writing at the end of its journal and visits the journal after its newest
 * checkpoint.  Cuts off an incomplete chunk or batch (REACHED) at the end.  Returns NULL with a
 * reason if the file cannot be resumed, and changes nothing then; errno is EWOULDBLOCK if another
 * process writes it.  The caller must call tracefile_replay_known() before it writes the file. */
struct tracefile *tracefile_resume(const char *path, resuming_visit *visit, void *context,
                                   const char **why);
uint64_t tracefile_updates(const struct tracefile *file); /* place of the newest NEWS, 0 none */

#endif
