#include "clients/libpoet/mpi/completion.h"

#include "clients/libpoet/mpi/mpi_events.h"
#include "clients/libpoet/mpi/tracing_state.h"
#include "clients/libpoet/mpi/message_match.h"
#include "clients/libpoet/mpi/collective_plan.h"
#include "clients/libpoet/mpi/ranks.h"

static bool completion_record_message(struct mpi_request *r, const MPI_Status *status,
                                      const void *site)
{
    uint64_t key[2];
    int cancelled = 0;
    PMPI_Test_cancelled(status, &cancelled);
    tracing_state_lock();
    if (cancelled || status->MPI_SOURCE < 0)
        message_match_unpost(r);
    bool known = r->active && message_match_receive(r, status->MPI_SOURCE, status->MPI_TAG, key);
    tracing_state_unlock();
    if (cancelled || status->MPI_SOURCE < 0)
        return false;
    bool traced = known && rank_traced(communicator_world_rank(r->comm, status->MPI_SOURCE));
    poet_event_t event = mpi_event_record_received(
        EVENT_receive, communicator_line(r->comm, status->MPI_SOURCE), traced ? key : NULL,
        r->any && traced ? r->asked : 0, status->MPI_SOURCE, r->together, site);
    if (!traced)
        poet_annotate(event, known ? "sender not traced"
                                   : "ambiguous match with an earlier pending receive");
    return true;
}

bool completion_finish(struct mpi_request *r, const MPI_Status *status, const void *site)
{
    bool received =
        r->kind == REQUEST_RECEIVE && r->active && completion_record_message(r, status, site);
    if (r->kind == REQUEST_COLLECTIVE) {
        collective_plan_end(r->plan, site);
        r->plan = NULL;
    }
    r->active = r->awaited = r->taken = r->together = false;
    if (!r->persistent) {
        tracing_state_lock();
        mpi_request_forget(r);
        tracing_state_unlock();
    }
    return received;
}
