/* Plans of collective calls: who needs whom.  What they order is what their data needs (MPI 3.1, chapter 5):
 *
 *     all of all    Barrier, Allreduce, Allgather, Alltoall, Reduce_scatter: one point for all members
 *     from the root Bcast, Scatter: the root's event is before what each other gets
 *     to the root   Reduce, Gather: what each other gives is before what the root gets
 *     upwards       Scan, Exscan: each one's is before what those with a higher rank get
 *
 * Where parts are empty, or the call is only begun and waited for later, they are sends and receives between
 * those who really need each other. */
#ifndef CLIENTS_TRACE_MPI_PLAN_H
#define CLIENTS_TRACE_MPI_PLAN_H

#include "clients/trace/mpi/comms.h"
#include "clients/trace/mpi/events.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct plan;

/* Each counts one more collective call of the communicator.  begun: the call returns before it is done; empty: no
 * data go anywhere. */
struct plan *plan_new(struct comm *c); /* nobody needs anybody */
struct plan *plan_all_of_all(struct comm *c, bool begun, bool empty);
struct plan *plan_from_root(struct comm *c, int root, bool empty);
struct plan *plan_to_root(struct comm *c, int root, bool empty);
struct plan *plan_upwards(struct comm *c, bool empty);

/* Where parts may be empty.  counts: one for each member; own: what this one gets, or gives. */
struct plan *plan_scatter(struct comm *c, int root, const int *counts, int own);
struct plan *plan_gather(struct comm *c, int root, const int *counts, int own);
struct plan *plan_allgather(struct comm *c, const int *counts, bool begun);
struct plan *plan_alltoall(struct comm *c, const int *out, const int *in);
struct plan *plan_reduce_scatter(struct comm *c, const int *counts, bool begun);

void plan_begin(struct plan *plan, enum event type, poet_line_t about, const void *site);
void plan_end(struct plan *plan, const void *site); /* it is complete; frees it */
void plan_free(struct plan *plan); /* NULL too */

#pragma GCC visibility pop
#endif
