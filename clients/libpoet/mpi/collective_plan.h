/* Plans of collective calls: which member depends on which. They order what their data flow orders
 * (MPI 3.1, chapter 5):
 *
 *     all of all     Barrier, Allreduce, Allgather, Alltoall, Reduce_scatter: one synchronization
 *                    point for all members
 *     from the root  Bcast, Scatter: the root's event happened before those of the others
 *     to the root    Reduce, Gather: the events of the others happened before the root's
 *     upwards        Scan, Exscan: each member's event happened before those of higher ranks
 *
 * Where parts are empty, or the call is nonblocking, they are sends and receives between those
 * members that really depend on each other. */
#ifndef CLIENTS_LIBPOET_MPI_COLLECTIVE_PLAN_H
#define CLIENTS_LIBPOET_MPI_COLLECTIVE_PLAN_H

#include "clients/libpoet/mpi/communicators.h"
#include "clients/libpoet/mpi/mpi_events.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct collective_plan;

/* Create the plan of a call; each counts one more collective call of the communicator. begun: the
 * call is nonblocking; empty: no data are transferred. */
/* No member depends on another. */
struct collective_plan *collective_plan_new(struct communicator *c);
struct collective_plan *collective_plan_all_of_all(struct communicator *c, bool begun, bool empty);
struct collective_plan *collective_plan_from_root(struct communicator *c, int root, bool empty);
struct collective_plan *collective_plan_to_root(struct communicator *c, int root, bool empty);
struct collective_plan *collective_plan_prefix(struct communicator *c, bool empty);

/* For calls with parts that may be empty. counts: one for each member; own: what this one receives
 * or sends. */
struct collective_plan *collective_plan_scatter(struct communicator *c, int root, const int *counts,
                                                int own);
struct collective_plan *collective_plan_gather(struct communicator *c, int root, const int *counts,
                                               int own);
struct collective_plan *collective_plan_allgather(struct communicator *c, const int *counts,
                                                  bool begun);
struct collective_plan *collective_plan_alltoall(struct communicator *c, const int *out,
                                                 const int *in);
struct collective_plan *collective_plan_reduce_scatter(struct communicator *c, const int *counts,
                                                       bool begun);

void collective_plan_begin(struct collective_plan *plan, enum mpi_event type, poet_line_t about,
                           const void *site);
/* Called when it is complete; frees it. */
void collective_plan_end(struct collective_plan *plan, const void *site);
void collective_plan_free(struct collective_plan *plan); /* May be NULL. */

#pragma GCC visibility pop
#endif
