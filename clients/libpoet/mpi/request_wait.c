/* Calls that wait for requests or test them. */
#include "clients/libpoet/mpi/request_batch.h"
#include "clients/libpoet/mpi/mpi_events.h"
#include "clients/libpoet/mpi/tracing_state.h"
#include "clients/libpoet/mpi/message_match.h"
#include "clients/libpoet/mpi/persistent_recv_replay.h"
#include "clients/libpoet/mpi/waitsome_replay.h"

API int MPI_Waitall(int count, MPI_Request *handles, MPI_Status *statuses)
{
    if (!mpi_tracing)
        return PMPI_Waitall(count, handles, statuses);
    struct request_batch b = request_batch_begin(count, handles, statuses);
    request_batch_wait_begin(&b, SITE);
    int e = WAITING(EVENT_wait, PMPI_Waitall(count, handles, b.statuses));
    if (e == MPI_SUCCESS)
        request_batch_complete_all(&b, true, SITE);
    request_batch_end(&b);
    return e;
}

API int MPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    MPI_Status own;
    if (!mpi_tracing)
        return PMPI_Wait(handle, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct request_batch b = request_batch_begin(1, handle, status);
    request_batch_wait_begin(&b, SITE);
    int e = WAITING(EVENT_wait, PMPI_Wait(handle, status));
    if (e == MPI_SUCCESS)
        request_batch_complete_all(&b, true, SITE);
    request_batch_end(&b);
    return e;
}

/* Which receives are complete, and when, depends on scheduling, and so it is recorded. */
static void request_wait_is_unordered(struct request_batch *b)
{
    for (int i = 0; b->requests && i < b->count; i++)
        if (b->requests[i] && b->requests[i]->kind == REQUEST_RECEIVE)
            b->requests[i]->any = true;
}

API int MPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    MPI_Status own;
    if (!mpi_tracing)
        return PMPI_Test(handle, flag, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct request_batch b = request_batch_begin(1, handle, status);
    request_wait_is_unordered(&b);
    int e = waitsome_replay_is_active(&b) ? waitsome_replay_test(&b, handle, flag, status)
                                          : PMPI_Test(handle, flag, status);
    if (e == MPI_SUCCESS && *flag)
        request_batch_complete_all(&b, false, SITE);
    request_batch_end(&b);
    return e;
}

API int MPI_Waitany(int count, MPI_Request *handles, int *index, MPI_Status *status)
{
    MPI_Status own;
    if (!mpi_tracing)
        return PMPI_Waitany(count, handles, index, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct request_batch b = request_batch_begin(count, handles, MPI_STATUSES_IGNORE);
    request_batch_wait_begin(&b, SITE);
    int first = waitsome_replay_next_receive(&b), e;
    if (first >= 0) {
        *index = first;
        e = WAITING(EVENT_wait, PMPI_Wait(&handles[first], status));
    } else {
        e = WAITING(EVENT_wait, PMPI_Waitany(count, handles, index, status));
    }
    request_batch_wait_end(&b);
    if (e == MPI_SUCCESS && *index != MPI_UNDEFINED && b.requests) {
        b.statuses[0] = *status;
        request_batch_complete_some(&b, 1, index, true, SITE);
    }
    request_batch_end(&b);
    return e;
}

API int MPI_Testany(int count, MPI_Request *handles, int *index, int *flag, MPI_Status *status)
{
    MPI_Status own;
    if (!mpi_tracing)
        return PMPI_Testany(count, handles, index, flag, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct request_batch b = request_batch_begin(count, handles, MPI_STATUSES_IGNORE);
    int e, one_done = 0;
    if (waitsome_replay_is_active(&b)) {
        int first = waitsome_replay_next_receive(&b);
        *flag = 0, *index = MPI_UNDEFINED;
        e = first >= 0 ? waitsome_replay_long(&handles[first], flag, status)
                       : waitsome_replay_others(&b, handles, &one_done, index, 1, SITE);
        if (one_done)
            *flag = 1, *status = b.statuses[0];
        else if (*flag)
            *index = first;
    } else {
        e = PMPI_Testany(count, handles, index, flag, status);
    }
    if (e == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED && b.requests) {
        b.statuses[0] = *status;
        request_batch_complete_some(&b, 1, index, false, SITE);
    }
    request_batch_end(&b);
    return e;
}

API int MPI_Testall(int count, MPI_Request *handles, int *flag, MPI_Status *statuses)
{
    if (!mpi_tracing)
        return PMPI_Testall(count, handles, flag, statuses);
    struct request_batch b = request_batch_begin(count, handles, statuses);
    request_wait_is_unordered(&b);
    int e = waitsome_replay_is_active(&b) ? waitsome_replay_test_all(&b, handles, flag)
                                          : PMPI_Testall(count, handles, flag, b.statuses);
    if (e == MPI_SUCCESS && *flag)
        request_batch_complete_all(&b, false, SITE);
    request_batch_end(&b);
    return e;
}

API int MPI_Waitsome(int count, MPI_Request *handles, int *done, int *indices, MPI_Status *statuses)
{
    if (!mpi_tracing)
        return PMPI_Waitsome(count, handles, done, indices, statuses);
    struct request_batch b = request_batch_begin(count, handles, statuses);
    request_batch_wait_begin(&b, SITE);
    int e = MPI_SUCCESS;
    *done = 0;
    if (waitsome_replay_is_active(&b))
        e = waitsome_replay_some(&b, handles, done, indices, true, SITE);
    bool any_done = *done > 0;
    if (e == MPI_SUCCESS && !any_done)
        e = WAITING(EVENT_wait, PMPI_Waitsome(count, handles, done, indices, b.statuses));
    request_batch_wait_end(&b);
    if (e == MPI_SUCCESS && !any_done && *done != MPI_UNDEFINED)
        request_batch_complete_some(&b, *done, indices, true, SITE);
    request_batch_end(&b);
    return e;
}

API int MPI_Testsome(int count, MPI_Request *handles, int *done, int *indices, MPI_Status *statuses)
{
    if (!mpi_tracing)
        return PMPI_Testsome(count, handles, done, indices, statuses);
    struct request_batch b = request_batch_begin(count, handles, statuses);
    int e;
    if (waitsome_replay_is_active(&b)) {
        e = waitsome_replay_some(&b, handles, done, indices, false, SITE);
    } else {
        e = PMPI_Testsome(count, handles, done, indices, b.statuses);
        if (e == MPI_SUCCESS && *done != MPI_UNDEFINED)
            request_batch_complete_some(&b, *done, indices, false, SITE);
    }
    request_batch_end(&b);
    return e;
}

/* A receive that is freed gets its message all the same, but at an unknown time. */
API int MPI_Request_free(MPI_Request *handle)
{
    tracing_state_lock();
    persistent_recv_find(1, handle);
    struct mpi_request *r =
        mpi_tracing && *handle != MPI_REQUEST_NULL ? mpi_request_find(*handle) : NULL;
    if (r && r->kind == REQUEST_RECEIVE && r->active)
        message_match_unpost(r);
    if (r)
        mpi_request_forget(r);
    tracing_state_unlock();
    return PMPI_Request_free(handle);
}
