/* Saving a run: what must be known, beside the finished parts of its order, to go on from here.
 *
 * News are the names that were learnt (facts, as chunks of their own; call sites; texts), appended once. A
 * state is the rest; it is written again each time.  A file is saved whenever its journal has grown by a
 * region, and when the run ends. */
#ifndef SERVER_FILE_SAVING_H
#define SERVER_FILE_SAVING_H

#include "server/store/tracefile.h"

struct run;

/* From now on what the run learns is written down: saving is its keeper.  keep_bytes 0: everything is kept. */
void saving_begin(struct run *run, uint64_t keep_bytes);
/* Saves, or forgets, if it is time.  Between two rounds of telling. */
void saving_poll(struct run *run);
/* Saves if that spares a reader work. */
void saving_finish(struct run *run);

/* ---- reading ---- */

bool saving_read_news(struct run *run, struct chunk news, void (*play)(void *, struct chunk),
                      void *context);
/* hangup is called for each session that had left before the journal that follows. */
bool saving_read_state(struct run *run, struct chunk state,
                       void (*hangup)(void *context, uint32_t session), void *context);
void saving_read_threads(struct run *run, struct chunk threads);

#endif
