#include "clients/libpoet/mpi/request_wait.h"

#include "clients/libpoet/mpi/collective_plan.h"
#include "clients/libpoet/mpi/message_match.h"
#include "clients/libpoet/mpi/mpi_events.h"
#include "clients/libpoet/mpi/mpi_request.h"
#include "clients/libpoet/mpi/communicators.h"
#include "clients/libpoet/mpi/tracing_state.h"

/* ---- completed requests ---- */

static bool request_record_message(struct mpi_request *r, const MPI_Status *status,
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

bool request_complete(struct mpi_request *r, const MPI_Status *status, const void *site)
{
    bool received =
        r->kind == REQUEST_RECEIVE && r->active && request_record_message(r, status, site);
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

/* ---- requests that one call waits for or tests ---- */

struct request_batch {
    struct mpi_request **requests; /* NULL: not traced */
    MPI_Status *statuses, *own;
    int count;
    bool any; /* one is traced and pending */
};

static struct request_batch request_batch_begin(int count, MPI_Request *handles,
                                                MPI_Status *statuses)
{
    struct request_batch b = {.count = count, .statuses = statuses};
    b.requests = tracing_state_alloc((size_t)count + 1, sizeof *b.requests);
    if (statuses == MPI_STATUSES_IGNORE)
        b.statuses = b.own = tracing_state_alloc((size_t)count + 1, sizeof *b.own);
    /* no memory: none of them is traced */
    if (!b.requests || (statuses == MPI_STATUSES_IGNORE && !b.own)) {
        tracing_state_free(b.requests);
        return (struct request_batch){.statuses = statuses};
    }
    tracing_state_lock();
    persistent_recv_find(count, handles);
    for (int i = 0; i < count; i++) {
        struct mpi_request *r =
            handles[i] == MPI_REQUEST_NULL ? NULL : mpi_request_find(handles[i]);
        b.requests[i] = r && r->active ? r : NULL;
        if (b.requests[i])
            r->taken = true;
        b.any |= b.requests[i] != NULL;
    }
    tracing_state_unlock();
    return b;
}

static void request_batch_end(struct request_batch *b)
{
    tracing_state_lock();
    for (int i = 0; i < b->count; i++)
        if (b->requests[i])
            b->requests[i]->taken = b->requests[i]->awaited = false;
    tracing_state_unlock();
    tracing_state_free(b->requests);
    tracing_state_free(b->own);
}

/* Records that the thread waits for the first pending one of them. */
static void request_batch_wait_begin(struct request_batch *b, const void *site)
{
    const struct mpi_request *first = NULL;
    tracing_state_lock();
    for (int i = 0; i < b->count; i++)
        if (b->requests[i]) {
            b->requests[i]->awaited = true;
            first = first ? first : b->requests[i];
        }
    tracing_state_unlock();
    if (first)
        event_record(EVENT_wait,
                     first->kind == REQUEST_COLLECTIVE
                         ? first->comm->line
                         : communicator_line(first->comm, first->peer),
                     site);
}

static void request_batch_wait_end(struct request_batch *b)
{
    tracing_state_lock();
    for (int i = 0; i < b->count; i++)
        if (b->requests[i])
            b->requests[i]->awaited = false;
    tracing_state_unlock();
}

/* Records what a completed request received; returns whether that is an event. */
static bool request_batch_complete_one(struct request_batch *b, int i, const MPI_Status *status,
                                       const void *site)
{
    struct mpi_request *r = b->requests[i];
    bool event = r && (r->kind == REQUEST_COLLECTIVE || r->kind == REQUEST_RECEIVE);
    if (r)
        event = request_complete(r, status, site) || (event && r->kind == REQUEST_COLLECTIVE);
    b->requests[i] = NULL;
    return event;
}

static void request_batch_complete_all(struct request_batch *b, bool waited, const void *site)
{
    bool event = false;
    for (int i = 0; i < b->count; i++)
        event |= request_batch_complete_one(b, i, &b->statuses[i], site);
    if (!event && waited && b->any)
        event_record(EVENT_completed, 0, site);
}

static bool request_batch_is_receive(const struct request_batch *b, int i)
{
    return b->requests[i] && b->requests[i]->kind == REQUEST_RECEIVE;
}

/* Records several completions, in the order of `indices`, since it depends on scheduling which
 * requests complete first. */
static void request_batch_complete_some(struct request_batch *b, int count, const int *indices,
                                        bool waited, const void *site)
{
    bool event = false, any = false;
    int left = 0; /* receives */
    for (int i = 0; b->requests && i < count; i++)
        left += request_batch_is_receive(b, indices[i]);
    for (int i = 0; b->requests && i < count; i++) {
        struct mpi_request *r = b->requests[indices[i]];
        any |= r != NULL;
        left -= request_batch_is_receive(b, indices[i]);
        if (r) {
            r->any = true;
            r->together = left > 0;
        }
        event |= request_batch_complete_one(b, indices[i], &b->statuses[i], site);
    }
    if (!event && waited && any)
        event_record(EVENT_completed, 0, site);
}

/* ---- replay: which requests are completed when ---- Calls that found nothing complete are not
 * events: how many come first is not replayed. */

#define TIMEOUT_S 1.0

static int waitsome_replay_next_of(const struct request_batch *b, bool *together)
{
    int source;
    uint32_t asked = mpi_event_replay_choice(EVENT_receive, &source, together);
    for (int i = 0; asked && b->requests && i < b->count; i++)
        if (request_batch_is_receive(b, i) && b->requests[i]->asked == asked)
            return i;
    return -1;
}

/* Returns the receive that the thread's next event reports; -1: none of them. */
static int waitsome_replay_next_receive(const struct request_batch *b)
{
    bool together;
    return waitsome_replay_next_of(b, &together);
}

static int waitsome_replay_first_receive(const struct request_batch *b)
{
    for (int i = 0; b->requests && i < b->count; i++)
        if (request_batch_is_receive(b, i))
            return i;
    return -1;
}

/* Returns whether a run is being replayed and there is a receive among them. */
static bool waitsome_replay_is_active(const struct request_batch *b)
{
    return waitsome_replay_first_receive(b) >= 0 && mpi_event_replay_next(EVENT_receive) >= 0;
}

/* Waits for a receive that was complete in the recorded run, unless its sender does not send it. */
static int waitsome_replay_long(MPI_Request *handle, int *flag, MPI_Status *status)
{
    int e;
    for (int i = 0; (e = PMPI_Test(handle, flag, status)) == MPI_SUCCESS && !*flag; i++)
        if (i == LOOKS_MOST)
            break;
    return e;
}

/* (MPI continues with the rest, if a call of libpoet's finds nothing) */
static int waitsome_replay_continues(MPI_Request handle)
{
    int there;
    return PMPI_Request_get_status(handle, &there, MPI_STATUS_IGNORE);
}

/* Tests one receive with the recorded result: complete or not. */
static int waitsome_replay_test(const struct request_batch *b, MPI_Request *handle, int *flag,
                                MPI_Status *status)
{
    if (waitsome_replay_next_receive(b) == 0)
        return waitsome_replay_long(handle, flag, status);
    *flag = 0;
    return waitsome_replay_continues(*handle);
}

static int waitsome_replay_test_all(struct request_batch *b, MPI_Request *handles, int *flag)
{
    int e = MPI_SUCCESS;
    *flag = 0;
    if (waitsome_replay_next_receive(b) < 0)
        return waitsome_replay_continues(handles[waitsome_replay_first_receive(b)]);
    for (int i = 0; e == MPI_SUCCESS && !*flag && i < LOOKS_MOST; i++)
        e = PMPI_Testall(b->count, handles, flag, b->statuses);
    return e;
}

/* Completes at most `most` other requests, which are not receives. */
static int waitsome_replay_others(struct request_batch *b, MPI_Request *handles, int *done,
                                  int *indices, int most, const void *site)
{
    int e = MPI_SUCCESS, flag;
    for (int i = 0; e == MPI_SUCCESS && i < b->count && *done < most; i++) {
        MPI_Status *status = &b->statuses[*done];
        if (handles[i] == MPI_REQUEST_NULL)
            continue;
        if (request_batch_is_receive(b, i)) {
            e = waitsome_replay_continues(handles[i]);
            continue;
        }
        e = PMPI_Test(&handles[i], &flag, status);
        bool was_under_way = b->requests[i] || handles[i] == MPI_REQUEST_NULL;
        if (e != MPI_SUCCESS || !flag || !was_under_way)
            continue;
        indices[(*done)++] = i;
        request_batch_complete_one(b, i, status, site);
    }
    return e;
}

/* A receive that was reported together with another one is not tested again: its message is on its
 * way, unless the run has diverged. */
static int waitsome_replay_await_next(MPI_Request *handle, int *flag, MPI_Status *status)
{
    double begin = PMPI_Wtime();
    int e;
    while ((e = waitsome_replay_long(handle, flag, status)) == MPI_SUCCESS && !*flag)
        if (PMPI_Wtime() - begin > TIMEOUT_S)
            break;
    return e;
}

static int waitsome_replay_receive_again(struct request_batch *b, MPI_Request *handles, int *done,
                                         int *indices, bool waits, const void *site)
{
    int e = MPI_SUCCESS, there = 1;
    bool together = true;
    while (together && *done < b->count) {
        int i = waitsome_replay_next_of(b, &together);
        MPI_Status *status = &b->statuses[*done];
        if (i < 0)
            break;
        e = waits   ? WAITING(EVENT_wait, PMPI_Wait(&handles[i], status))
            : *done ? waitsome_replay_await_next(&handles[i], &there, status)
                    : waitsome_replay_long(&handles[i], &there, status);
        if (e != MPI_SUCCESS || !there)
            break;
        indices[(*done)++] = i;
        b->requests[i]->any = true;
        b->requests[i]->together = together;
        request_batch_complete_one(b, i, status, site);
    }
    return e;
}

/* Completes the receives that were complete in the recorded run, then others that are complete now,
 * and records them. *done: how many. waits: waits as long as needed; sets *done to 0 if the
 * recorded result is not known. */
static int waitsome_replay_some(struct request_batch *b, MPI_Request *handles, int *done,
                                int *indices, bool waits, const void *site)
{
    *done = 0;
    int e = waitsome_replay_receive_again(b, handles, done, indices, waits, site);
    if (e == MPI_SUCCESS && (*done || !waits))
        e = waitsome_replay_others(b, handles, done, indices, b->count, site);
    return e;
}

/* ---- calls ---- */

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
        if (request_batch_is_receive(b, i))
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
