/* Going on with a trace file whose server was killed, where it got to. */
#ifndef SERVER_TRACEFILE_TRACEFILE_RESUME_H
#define SERVER_TRACEFILE_TRACEFILE_RESUME_H

#include "server/tracefile/tracefile.h"

/* A chunk of the journal that no state knows; where it is. */
typedef void resuming_visit(void *context, uint64_t at, struct chunk chunk);

/* Opens a file to be written from where its journal ends, and visits what is of that behind its
 * newest state.  What was written in part is cut off: a chunk that is not whole, and a batch
 * (REACHED) that is not.  Nothing was changed and NULL with a reason: it cannot be; somebody else
 * writes it (EWOULDBLOCK in errno).  Then tracefile_replay_known, and it may be written. */
struct tracefile *tracefile_resume(const char *path, resuming_visit *visit, void *context,
                                   const char **why);
uint64_t tracefile_updates(const struct tracefile *file); /* place of the newest NEWS, 0 none */

#endif
