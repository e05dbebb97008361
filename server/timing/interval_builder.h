/* Builder of the intervals of a run: one pass over the log, in steps, which continues as the run
 * grows.
 *
 * The events of a thread are those in which it acts, on any line.  Between two of them it ran or,
 * if the first is of a type that waits, it waited (wait_release.h finds for which thread).  Times
 * of one thread never decrease: an earlier one counts as the thread's last. */
#ifndef SERVER_TIMING_INTERVAL_BUILDER_H
#define SERVER_TIMING_INTERVAL_BUILDER_H

#include "server/timing/intervals.h"
#include "server/timing/run_metadata_source.h"

struct interval_builder;

/* Makes a builder for positions first .. end - 1, as far as they exist; for all: 0 and NO_POSITION.
 * The last event of each thread before them is taken into account: a thread that waits there waits
 * since then. */
struct interval_builder *interval_builder_new(struct run_metadata_source teller, uint64_t first,
                                              uint64_t end);
void interval_builder_free(struct interval_builder *follow); /* NULL: does nothing */
/* Processes about `budget` new events; returns true once all are processed.  Nothing may be
 * discarded meanwhile (else make a new builder). */
bool interval_builder_step(struct interval_builder *follow, uint64_t *budget);
/* Returns whether receives have arrived of messages that were sent in waits that are over, so that
 * more is known of these waits (make a new builder then). */
bool interval_builder_outdated(const struct interval_builder *follow);
/* Returns the first position that it processed. */
uint64_t interval_builder_first(const struct interval_builder *follow);
/* Returns the number of positions processed. */
uint64_t interval_builder_known(const struct interval_builder *follow);
/* Returns the intervals, valid until the next interval_builder_step(). */
const struct intervals *interval_builder_intervals(const struct interval_builder *follow);
/* Returns the number of waits that have not ended, and sets *waits (the caller frees it), sorted by
 * thread.  They are not among the intervals yet.  Each lasts until until_ns, or until its begin if
 * that is later; that of a thread with a closed line, until it was closed. */
size_t interval_builder_open_waits(struct interval_builder *follow, int64_t until_ns,
                                   struct wait_record **waits);

#endif
