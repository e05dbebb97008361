/* Waiting for requests and testing them. */
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
                 r->any && traced ? r->asked : 0, status->MPI_SOURCE, true, site);
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
    r->active = r->awaited = r->taken = false;
    if (!r->persistent) {
        lock();
        request_forget(r);
        unlock();
    }
    return received;
}

/* ---- many at once ---- */

struct batch {
    struct request **requests; /* NULL: not followed */
    MPI_Status *statuses, *own;
    int count;
    bool any; /* is followed, and under way */
};

static struct batch begin(int count, const MPI_Request *handles, MPI_Status *statuses)
{
    struct batch b = {.count = count, .statuses = statuses};
    b.requests = take((size_t)count + 1, sizeof *b.requests);
    if (statuses == MPI_STATUSES_IGNORE)
        b.statuses = b.own = take((size_t)count + 1, sizeof *b.own);
    if (!b.requests ||
        (statuses == MPI_STATUSES_IGNORE && !b.own)) { /* no memory: none of them is followed */
        give(b.requests);
        return (struct batch){.statuses = statuses};
    }
    lock();
    for (int i = 0; i < count; i++) {
        struct request *r = handles[i] == MPI_REQUEST_NULL ? NULL : request_of(handles[i]);
        b.requests[i] = r && r->active ? r : NULL;
        if (b.requests[i])
            r->taken = true;
        b.any |= b.requests[i] != NULL;
    }
    unlock();
    return b;
}

static void end(struct batch *b)
{
    lock();
    for (int i = 0; i < b->count; i++)
        if (b->requests[i])
            b->requests[i]->taken = b->requests[i]->awaited = false;
    unlock();
    give(b->requests);
    give(b->own);
}

/* The thread waits: for the first of them that is under way. */
static void await(struct batch *b, const void *site)
{
    const struct request *first = NULL;
    lock();
    for (int i = 0; i < b->count; i++)
        if (b->requests[i]) {
            b->requests[i]->awaited = true;
            first = first ? first : b->requests[i];
        }
    unlock();
    if (first)
        note(EVENT_wait,
             first->kind == REQUEST_COLLECTIVE ? first->comm->line
                                               : peer_line(first->comm, first->peer),
             site);
}

static void no_longer(struct batch *b)
{
    lock();
    for (int i = 0; i < b->count; i++)
        if (b->requests[i])
            b->requests[i]->awaited = false;
    unlock();
}

/* What one that is complete brought, and whether that is an event. */
static bool one(struct batch *b, int i, const MPI_Status *status, const void *site)
{
    struct request *r = b->requests[i];
    bool event = r && (r->kind == REQUEST_COLLECTIVE || r->kind == REQUEST_RECEIVE);
    if (r)
        event = completed(r, status, site) || (event && r->kind == REQUEST_COLLECTIVE);
    b->requests[i] = NULL;
    return event;
}

static void all(struct batch *b, bool waited, const void *site)
{
    bool event = false;
    for (int i = 0; i < b->count; i++)
        event |= one(b, i, &b->statuses[i], site);
    if (!event && waited && b->any)
        note(EVENT_completed, 0, site);
}

/* Which of them is done first is luck, and so it is told. */
static void some(struct batch *b, int count, const int *indices, bool waited, const void *site)
{
    bool event = false, any = false;
    for (int i = 0; b->requests && i < count; i++) {
        any |= b->requests[indices[i]] != NULL;
        if (b->requests[indices[i]])
            b->requests[indices[i]]->any = true;
        event |= one(b, indices[i], &b->statuses[i], site);
    }
    if (!event && waited && any)
        note(EVENT_completed, 0, site);
}

API int MPI_Waitall(int count, MPI_Request *handles, MPI_Status *statuses)
{
    if (!following)
        return PMPI_Waitall(count, handles, statuses);
    struct batch b = begin(count, handles, statuses);
    await(&b, SITE);
    int e = WAITING(EVENT_wait, PMPI_Waitall(count, handles, b.statuses));
    if (e == MPI_SUCCESS)
        all(&b, true, SITE);
    end(&b);
    return e;
}

API int MPI_Testall(int count, MPI_Request *handles, int *flag, MPI_Status *statuses)
{
    if (!following)
        return PMPI_Testall(count, handles, flag, statuses);
    struct batch b = begin(count, handles, statuses);
    int e = PMPI_Testall(count, handles, flag, b.statuses);
    if (e == MPI_SUCCESS && *flag)
        all(&b, false, SITE);
    end(&b);
    return e;
}

API int MPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    MPI_Status own;
    if (!following)
        return PMPI_Wait(handle, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct batch b = begin(1, handle, status);
    await(&b, SITE);
    int e = WAITING(EVENT_wait, PMPI_Wait(handle, status));
    if (e == MPI_SUCCESS)
        all(&b, true, SITE);
    end(&b);
    return e;
}

/* ---- in a run that is repeated ---- */

/* The receive of which the thread's next event tells; -1: it is none of them. */
static int next_done(const struct batch *b)
{
    int source;
    uint32_t asked = asked_next(EVENT_receive, &source);
    for (int i = 0; asked && b->requests && i < b->count; i++)
        if (b->requests[i] && b->requests[i]->kind == REQUEST_RECEIVE &&
            b->requests[i]->asked == asked)
            return i;
    return -1;
}

/* A receive was there when it was tested, or was not; MPI goes on with the rest meanwhile. */
static int test_again(const struct batch *b, MPI_Request *handle, int *flag, MPI_Status *status)
{
    int e, there = 0;
    if (next_done(b) != 0) {
        *flag = 0;
        return PMPI_Request_get_status(*handle, &there, status);
    }
    for (int i = 0; (e = PMPI_Test(handle, flag, status)) == MPI_SUCCESS && !*flag; i++)
        if (i == LOOKS_MOST)
            break;
    return e;
}

API int MPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    MPI_Status own;
    if (!following)
        return PMPI_Test(handle, flag, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct batch b = begin(1, handle, status);
    struct request *r = b.requests ? b.requests[0] : NULL;
    if (r && r->kind == REQUEST_RECEIVE)
        r->any = true;
    int e = r && r->any && again(EVENT_receive) >= 0 ? test_again(&b, handle, flag, status)
                                                     : PMPI_Test(handle, flag, status);
    if (e == MPI_SUCCESS && *flag)
        all(&b, false, SITE);
    end(&b);
    return e;
}

API int MPI_Waitany(int count, MPI_Request *handles, int *index, MPI_Status *status)
{
    MPI_Status own;
    if (!following)
        return PMPI_Waitany(count, handles, index, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct batch b = begin(count, handles, MPI_STATUSES_IGNORE);
    await(&b, SITE);
    int first = next_done(&b), e;
    if (first >= 0) {
        *index = first;
        e = WAITING(EVENT_wait, PMPI_Wait(&handles[first], status));
    } else {
        e = WAITING(EVENT_wait, PMPI_Waitany(count, handles, index, status));
    }
    no_longer(&b);
    if (e == MPI_SUCCESS && *index != MPI_UNDEFINED && b.requests) {
        b.statuses[0] = *status;
        some(&b, 1, index, true, SITE);
    }
    end(&b);
    return e;
}

API int MPI_Testany(int count, MPI_Request *handles, int *index, int *flag, MPI_Status *status)
{
    MPI_Status own;
    if (!following)
        return PMPI_Testany(count, handles, index, flag, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    struct batch b = begin(count, handles, MPI_STATUSES_IGNORE);
    int e = PMPI_Testany(count, handles, index, flag, status);
    if (e == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED && b.requests) {
        b.statuses[0] = *status;
        some(&b, 1, index, false, SITE);
    }
    end(&b);
    return e;
}

API int MPI_Waitsome(int count, MPI_Request *handles, int *done, int *indices, MPI_Status *statuses)
{
    if (!following)
        return PMPI_Waitsome(count, handles, done, indices, statuses);
    struct batch b = begin(count, handles, statuses);
    await(&b, SITE);
    int e = WAITING(EVENT_wait, PMPI_Waitsome(count, handles, done, indices, b.statuses));
    no_longer(&b);
    if (e == MPI_SUCCESS && *done != MPI_UNDEFINED)
        some(&b, *done, indices, true, SITE);
    end(&b);
    return e;
}

API int MPI_Testsome(int count, MPI_Request *handles, int *done, int *indices, MPI_Status *statuses)
{
    if (!following)
        return PMPI_Testsome(count, handles, done, indices, statuses);
    struct batch b = begin(count, handles, statuses);
    int e = PMPI_Testsome(count, handles, done, indices, b.statuses);
    if (e == MPI_SUCCESS && *done != MPI_UNDEFINED)
        some(&b, *done, indices, false, SITE);
    end(&b);
    return e;
}

/* A receive that is freed gets its message all the same, but nobody sees when. */
API int MPI_Request_free(MPI_Request *handle)
{
    lock();
    struct request *r = following && *handle != MPI_REQUEST_NULL ? request_of(*handle) : NULL;
    if (r && r->kind == REQUEST_RECEIVE && r->active)
        unposted(r);
    if (r)
        request_forget(r);
    unlock();
    return PMPI_Request_free(handle);
}
