/* Consistent cut: a set of events that is closed under happened-before, so that the state between
 * it and the rest is one that the execution could have been in.  The smallest one with some events
 * is the union of their causal pasts; the largest one without some events leaves out what happened
 * after them.
 *
 * One pass over the log, in steps, that ends where all that is before is in the set, or all that is
 * after is not; one bit per event in between (Mattern 1989 defines the state of a cut).  An
 * inconsistent event that is contained stands for nothing: the caller ignores it.  The order may
 * grow meanwhile, but not discard events.  Not thread-safe. */
#ifndef SERVER_ORDER_CAUSALITY_CONSISTENT_CUT_H
#define SERVER_ORDER_CAUSALITY_CONSISTENT_CUT_H

#include "server/order/order.h"

struct consistent_cut;

/* Begins the union of the causal pasts of events, with the events themselves and those that are
 * simultaneous with them, or without. */
struct consistent_cut *consistent_cut_past(const struct order *order, const uint64_t *positions,
                                           size_t count, bool with);
/* The choice of the wanted events; the cut frees the context by `free`, if that is not NULL. */
struct consistent_cut_choice {
    bool (*wants)(const void *context, uint64_t position);
    const void *context;
    void (*free)(const void *context);
};
/* Begins the largest cut in which each event is wanted: of the positions from `low` on, up to
 * `high`, if the choice wants it; all before low, and none from high on. */
struct consistent_cut *consistent_cut_largest(const struct order *order, uint64_t low,
                                              uint64_t high, struct consistent_cut_choice choice);
/* Continues for about `budget` events; returns true when done.  The functions below are for a cut
 * that is done. */
bool consistent_cut_step(struct consistent_cut *cut, uint64_t budget);
bool consistent_cut_contains(const struct consistent_cut *cut, uint64_t position);
/* All positions before the first result are in the cut, none from the second one on is. */
uint64_t consistent_cut_low(const struct consistent_cut *cut);
uint64_t consistent_cut_high(const struct consistent_cut *cut);
/* Returns the position of the last event of an exclusive line in the cut, or NO_POSITION. */
uint64_t consistent_cut_last(const struct consistent_cut *cut, uint32_t line);
void consistent_cut_free(struct consistent_cut *cut);

#endif
