/* Plans of collective calls: who needs whom.  What they order is what their data needs (MPI 3.1,
 * chapter 5):
 *
 *     all of all    Barrier, Allreduce, Allgather, Alltoall, Reduce_scatter: one point for all members
 *     from the root Bcast, Scatter: the root's event is before what each other gets
 *     to the root   Reduce, Gather: what each other gives is before what the root gets
 *     upwards       Scan, Exscan: each one's is before what those with a higher rank get
 *
 * Where parts are empty, or the call is only begun and waited for later, they are sends and
 * receives between those who really need each other. */
#ifndef CLIENTS_LIBPOET_MPI_COLLECTIVE_PLAN_H
#define CLIENTS_LIBPOET_MPI_COLLECTIVE_PLAN_H

#include "clients/libpoet/mpi/communicators.h"
#include "clients/libpoet/mpi/mpi_events.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct collective_plan;

/* Each counts one more collective call of the communicator.  begun: the call returns before it is
 * done; empty: no data go anywhere. */
struct collective_plan *collective_plan_new(struct communicator *c); /* nobody needs anybody */
struct collective_plan *collective_plan_all_of_all(struct communicator *c, bool begun, bool empty);
struct collective_plan *collective_plan_from_root(struct communicator *c, int root, bool empty);
struct collective_plan *collective_plan_to_root(struct communicator *c, int root, bool empty);
struct collective_plan *collective_plan_prefix(struct communicator *c, bool empty);

/* Where parts may be empty.  counts: one for each member; own: what this one gets, or gives. */
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
void collective_plan_end(struct collective_plan *plan,
                         const void *site); /* it is complete; frees it */
void collective_plan_free(struct collective_plan *plan); /* NULL too */

#pragma GCC visibility pop
#endif
