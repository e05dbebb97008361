/* Writes checkpoints of a run: all that is needed, beside the finished parts of its order, to
 * continue from here.
 *
 * News are names that were declared since the last checkpoint (facts, as chunks of their own;
 * call sites; texts), appended once.  A state is the rest; of its lines only what changed is
 * written again.  A file is saved whenever its journal has grown by a region, and when the run
 * ends; in steps, between which the run continues. */
#ifndef SERVER_CHECKPOINT_CHECKPOINT_WRITE_H
#define SERVER_CHECKPOINT_CHECKPOINT_WRITE_H

#include "server/tracefile/tracefile.h"
#include "server/eventloop/event_loop.h"

struct run;

struct checkpoint_hangup {
    uint32_t session, epoch;
};

/* Begins to record for checkpoints what the run learns: installs run->fact_writer. keep_bytes 0:
 * everything is kept. */
void checkpoint_begin(struct run *run, uint64_t keep_bytes);
/* Must follow checkpoint_begin() for a run that is resumed: restores what was saved before. */
void checkpoint_resume(struct run *run, uint64_t news, const struct checkpoint_hangup *hangups,
                       size_t count);
/* Begins to save, or to discard, if that is due.  Must be called between two chunks, as the
 * checkpoint is that of this moment. */
void checkpoint_poll(struct run *run);
/* Continues that for its share of the turn; returns true when there is no more to do now.  Must be
 * called between two chunks, too. */
bool checkpoint_step(struct run *run, struct loop_share share);
/* Returns whether little more should be delivered to the order for now, as a save is in progress
 * and only a part of the run is kept. */
bool checkpoint_is_urgent(const struct run *run);
/* Returns whether so much was delivered since the save began that nothing more should be until
 * the save is complete: a loop with little CPU time does one step of the save in a turn, but
 * delivers a whole chunk. */
bool checkpoint_is_overdue(const struct run *run);
/* Saves if that spares a reader work; returns false if the share is used up and there is more to
 * do. */
bool checkpoint_finish(struct run *run, struct loop_share share);

/* Bits of numbers in the format. */
/* with the process of a site: the thread and context, and the caller that led to it follow */
#define SITE_IN_FUNCTION 0x80000000u
#define SITE_CALLED 0x40000000u
#define THREAD_UNCERTAINTY_SHIFT 28 /* with a thread's session: why its next event is uncertain */

#endif
