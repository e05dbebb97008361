/* Saving a run: what must be known, beside the finished parts of its order, to go on from here.
 *
 * News are the names that were learnt (facts, as chunks of their own; call sites; texts), appended
 * once. A state is the rest; of its lines only what changed is written again.  A file is saved
 * whenever its journal has grown by a region, and when the run ends; in steps, between which the
 * run goes on. */
#ifndef SERVER_CHECKPOINT_CHECKPOINT_WRITE_H
#define SERVER_CHECKPOINT_CHECKPOINT_WRITE_H

#include "server/tracefile/tracefile.h"
#include "server/eventloop/loop_turn.h"

struct run;

struct checkpoint_hangup {
    uint32_t session, epoch;
};

/* From now on what the run learns is written down: saving is its keeper.  keep_bytes 0: everything
 * is kept. */
void checkpoint_begin(struct run *run, uint64_t keep_bytes);
/* Behind that, of a run that is gone on with: what was written down before. */
void checkpoint_resume(struct run *run, uint64_t news, const struct checkpoint_hangup *hangups,
                       size_t count);
/* Begins to save, or forgets, if it is time.  Between two chunks that are told: the state is of
 * this moment. */
void checkpoint_poll(struct run *run);
/* Goes on with that for its share of the turn; true when there is no more to do now.  Between two
 * chunks, too. */
bool checkpoint_step(struct run *run, struct loop_share share);
/* Little should be told meanwhile: what is told is to be saved, and forgotten, too. */
bool checkpoint_is_urgent(const struct run *run);
/* So much was told meanwhile that nothing more should be before it is written: a loop that gets
 * little of the processor makes a step of it in a turn, and tells a whole chunk. */
bool checkpoint_is_overdue(const struct run *run);
/* Saves if that spares a reader work; false: the share is spent, and there is more to do. */
bool checkpoint_finish(struct run *run, struct loop_share share);

#endif
