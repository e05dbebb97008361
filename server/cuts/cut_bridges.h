/* Order through events that a cut leaves out: for each event of the cut the events of it that
 * happened before it by way of others, in the order of the log.
 *
 * Events of the cut are on chains, which are lines, or the events of a thread on shared lines, so
 * that of each chain only the last predecessor counts: a vector clock with one entry per chain
 * that has events (Fidge 1988, Mattern 1989). Each event that is left out has the clock of what
 * happened before it; equal clocks of succeeding events are stored once. Not thread-safe. */
#ifndef SERVER_CUTS_CUT_BRIDGES_H
#define SERVER_CUTS_CUT_BRIDGES_H

#include "server/order/order.h"

struct cut_bridges;

/* `first`: the first position that is passed. */
struct cut_bridges *cut_bridges_new(const struct order *order, uint64_t first);
void cut_bridges_free(struct cut_bridges *bridges);
/* Passes the next point, with the positions first .. last, of which `kept` has a flag for each. */
void cut_bridges_pass(struct cut_bridges *bridges, uint64_t first, uint64_t last, const bool *kept);
/* Returns the positions of events that must become predecessors of the kept event `i` of the point
 * that was passed, beside its own; *count of them, valid until the next pass. */
const uint64_t *cut_bridges_edges(const struct cut_bridges *bridges, size_t i, size_t *count);
/* Returns whether an event was left out before it that may hide order: it is uncertain. */
uint8_t cut_bridges_doubt(const struct cut_bridges *bridges, size_t i);
/* Returns whether the clocks take too much memory. */
bool cut_bridges_too_many(const struct cut_bridges *bridges);

#endif
