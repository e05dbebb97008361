/* Fills the intervals of a run from its order: one pass over the log, in steps, which goes on where
 * the run grows.
 *
 * What one thread does are the events that it acts, on whatever line.  Between two of them it ran,
 * or, where the first is of a type that waits, it waited (wait_release.h says for whom).  Times of
 * one thread never fall: one that does counts as its thread's last. */
#ifndef SERVER_TIMING_INTERVAL_BUILDER_H
#define SERVER_TIMING_INTERVAL_BUILDER_H

#include "server/timing/intervals.h"
#include "server/timing/run_metadata_source.h"

struct interval_builder;

/* Of positions first .. end - 1, as far as there are any: of all, 0 and NO_POSITION.  What each
 * thread did last before them is known, too: who waits there waits since then. */
struct interval_builder *interval_builder_new(struct run_metadata_source teller, uint64_t first,
                                              uint64_t end);
void interval_builder_free(struct interval_builder *follow); /* of NULL nothing */
/* Looks at what is new, about `budget` events of it; true once all of it is known.  Nothing may be
 * forgotten meanwhile (then begin anew). */
bool interval_builder_step(struct interval_builder *follow, uint64_t *budget);
/* Has something come that tells more of waits that are over: receives of what was sent in them?
 * (Then begin anew.) */
bool interval_builder_outdated(const struct interval_builder *follow);
uint64_t interval_builder_first(
    const struct interval_builder *follow); /* the first position that it looked at */
uint64_t interval_builder_known(const struct interval_builder *follow); /* so many positions */
/* Until the next call of interval_builder_step. */
const struct intervals *interval_builder_intervals(const struct interval_builder *follow);
/* The waits that have not ended by what is known, by thread: they are no intervals yet.  Until a
 * time, or until their begin where that is later.  Returns how many (caller frees *waits). */
size_t interval_builder_open_waits(struct interval_builder *follow, int64_t until_ns,
                                   struct wait_record **waits);

#endif
