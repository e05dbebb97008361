/* Waiting for requests and testing them. */
#include "clients/trace/mpi/batch.h"
#include "clients/trace/mpi/events.h"
#include "clients/trace/mpi/following.h"
#include "clients/trace/mpi/match.h"
#include "clients/trace/mpi/prepare.h"
#include "clients/trace/mpi/repeat.h"

API int MPI_Waitall(int count, MPI_Request *handles, MPI_Status *statuses)
{
    if (!following)
        return PMPI_Waitall(count, handles, statuses);
    struct batch b = batch_begin(count, handles, statuses);
    batch_await(&b, SITE);
    int e = WAITING(EVENT_wait, PMPI_Waitall(count, handles, b.statuses));
    if (e == MPI_SUCCESS)
        batch_all(&b, true, SITE);
    batch_end(&b);
    return e;
}

API int MPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    MPI_Status own;
    if (!following)
        return PMPI_Wait(handle, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct batch b = batch_begin(1, handle, status);
    batch_await(&b, SITE);
    int e = WAITING(EVENT_wait, PMPI_Wait(handle, status));
    if (e == MPI_SUCCESS)
        batch_all(&b, true, SITE);
    batch_end(&b);
    return e;
}

/* When a receive is found to be done is luck, and so it is told. */
static void told_by_luck(struct batch *b)
{
    for (int i = 0; b->requests && i < b->count; i++)
        if (b->requests[i] && b->requests[i]->kind == REQUEST_RECEIVE)
            b->requests[i]->any = true;
}

API int MPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    MPI_Status own;
    if (!following)
        return PMPI_Test(handle, flag, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct batch b = batch_begin(1, handle, status);
    told_by_luck(&b);
    int e = repeat_is(&b) ? repeat_test(&b, handle, flag, status) : PMPI_Test(handle, flag, status);
    if (e == MPI_SUCCESS && *flag)
        batch_all(&b, false, SITE);
    batch_end(&b);
    return e;
}

API int MPI_Waitany(int count, MPI_Request *handles, int *index, MPI_Status *status)
{
    MPI_Status own;
    if (!following)
        return PMPI_Waitany(count, handles, index, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct batch b = batch_begin(count, handles, MPI_STATUSES_IGNORE);
    batch_await(&b, SITE);
    int first = repeat_next(&b), e;
    if (first >= 0) {
        *index = first;
        e = WAITING(EVENT_wait, PMPI_Wait(&handles[first], status));
    } else {
        e = WAITING(EVENT_wait, PMPI_Waitany(count, handles, index, status));
    }
    batch_no_longer(&b);
    if (e == MPI_SUCCESS && *index != MPI_UNDEFINED && b.requests) {
        b.statuses[0] = *status;
        batch_some(&b, 1, index, true, SITE);
    }
    batch_end(&b);
    return e;
}

API int MPI_Testany(int count, MPI_Request *handles, int *index, int *flag, MPI_Status *status)
{
    MPI_Status own;
    if (!following)
        return PMPI_Testany(count, handles, index, flag, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct batch b = batch_begin(count, handles, MPI_STATUSES_IGNORE);
    int e, one_done = 0;
    if (repeat_is(&b)) {
        int first = repeat_next(&b);
        *flag = 0, *index = MPI_UNDEFINED;
        e = first >= 0 ? repeat_long(&handles[first], flag, status)
                       : repeat_others(&b, handles, &one_done, index, 1, SITE);
        if (one_done)
            *flag = 1, *status = b.statuses[0];
        else if (*flag)
            *index = first;
    } else {
        e = PMPI_Testany(count, handles, index, flag, status);
    }
    if (e == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED && b.requests) {
        b.statuses[0] = *status;
        batch_some(&b, 1, index, false, SITE);
    }
    batch_end(&b);
    return e;
}

API int MPI_Testall(int count, MPI_Request *handles, int *flag, MPI_Status *statuses)
{
    if (!following)
        return PMPI_Testall(count, handles, flag, statuses);
    struct batch b = batch_begin(count, handles, statuses);
    told_by_luck(&b);
    int e = repeat_is(&b) ? repeat_test_all(&b, handles, flag)
                          : PMPI_Testall(count, handles, flag, b.statuses);
    if (e == MPI_SUCCESS && *flag)
        batch_all(&b, false, SITE);
    batch_end(&b);
    return e;
}

API int MPI_Waitsome(int count, MPI_Request *handles, int *done, int *indices, MPI_Status *statuses)
{
    if (!following)
        return PMPI_Waitsome(count, handles, done, indices, statuses);
    struct batch b = batch_begin(count, handles, statuses);
    batch_await(&b, SITE);
    int e = MPI_SUCCESS;
    *done = 0;
    if (repeat_is(&b))
        e = repeat_some(&b, handles, done, indices, true, SITE);
    bool told = *done > 0;
    if (e == MPI_SUCCESS && !told)
        e = WAITING(EVENT_wait, PMPI_Waitsome(count, handles, done, indices, b.statuses));
    batch_no_longer(&b);
    if (e == MPI_SUCCESS && !told && *done != MPI_UNDEFINED)
        batch_some(&b, *done, indices, true, SITE);
    batch_end(&b);
    return e;
}

API int MPI_Testsome(int count, MPI_Request *handles, int *done, int *indices, MPI_Status *statuses)
{
    if (!following)
        return PMPI_Testsome(count, handles, done, indices, statuses);
    struct batch b = batch_begin(count, handles, statuses);
    int e;
    if (repeat_is(&b)) {
        e = repeat_some(&b, handles, done, indices, false, SITE);
    } else {
        e = PMPI_Testsome(count, handles, done, indices, b.statuses);
        if (e == MPI_SUCCESS && *done != MPI_UNDEFINED)
            batch_some(&b, *done, indices, false, SITE);
    }
    batch_end(&b);
    return e;
}

/* A receive that is freed gets its message all the same, but nobody sees when. */
API int MPI_Request_free(MPI_Request *handle)
{
    lock();
    prepare_find(1, handle);
    struct request *r = following && *handle != MPI_REQUEST_NULL ? request_of(*handle) : NULL;
    if (r && r->kind == REQUEST_RECEIVE && r->active)
        unposted(r);
    if (r)
        request_forget(r);
    unlock();
    return PMPI_Request_free(handle);
}
