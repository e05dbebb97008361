#include "clients/trace/mpi/complete.h"

#include "clients/trace/mpi/events.h"
#include "clients/trace/mpi/following.h"
#include "clients/trace/mpi/match.h"
#include "clients/trace/mpi/plan.h"
#include "clients/trace/mpi/ranks.h"

static bool got_message(struct request *r, const MPI_Status *status, const void *site)
{
    uint64_t key[2];
    int cancelled = 0;
    PMPI_Test_cancelled(status, &cancelled);
    lock();
    if (cancelled || status->MPI_SOURCE < 0)
        unposted(r);
    bool known = r->active && received(r, status->MPI_SOURCE, status->MPI_TAG, key);
    unlock();
    if (cancelled || status->MPI_SOURCE < 0)
        return false;
    bool traced = known && rank_traced(peer_of(r->comm, status->MPI_SOURCE));
    poet_event_t event =
        note_got(EVENT_receive, peer_line(r->comm, status->MPI_SOURCE), traced ? key : NULL,
                 r->any && traced ? r->asked : 0, status->MPI_SOURCE, r->together, site);
    if (!traced)
        poet_annotate(
            event,
            known
                ? "its sender is not traced"
                : "which message it was cannot be told: an earlier receive that it fits is under way");
    return true;
}

bool completed(struct request *r, const MPI_Status *status, const void *site)
{
    bool received = r->kind == REQUEST_RECEIVE && r->active && got_message(r, status, site);
    if (r->kind == REQUEST_COLLECTIVE) {
        plan_end(r->plan, site);
        r->plan = NULL;
    }
    r->active = r->awaited = r->taken = r->together = false;
    if (!r->persistent) {
        lock();
        request_forget(r);
        unlock();
    }
    return received;
}
