#include "clients/libpoet/mpi/request_batch.h"

#include "clients/libpoet/mpi/completion.h"
#include "clients/libpoet/mpi/mpi_events.h"
#include "clients/libpoet/mpi/tracing_state.h"
#include "clients/libpoet/mpi/persistent_recv_replay.h"
#include "clients/libpoet/mpi/ranks.h"

struct request_batch request_batch_begin(int count, MPI_Request *handles, MPI_Status *statuses)
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

void request_batch_end(struct request_batch *b)
{
    tracing_state_lock();
    for (int i = 0; i < b->count; i++)
        if (b->requests[i])
            b->requests[i]->taken = b->requests[i]->awaited = false;
    tracing_state_unlock();
    tracing_state_free(b->requests);
    tracing_state_free(b->own);
}

void request_batch_wait_begin(struct request_batch *b, const void *site)
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

void request_batch_wait_end(struct request_batch *b)
{
    tracing_state_lock();
    for (int i = 0; i < b->count; i++)
        if (b->requests[i])
            b->requests[i]->awaited = false;
    tracing_state_unlock();
}

bool request_batch_complete_one(struct request_batch *b, int i, const MPI_Status *status,
                                const void *site)
{
    struct mpi_request *r = b->requests[i];
    bool event = r && (r->kind == REQUEST_COLLECTIVE || r->kind == REQUEST_RECEIVE);
    if (r)
        event = completion_finish(r, status, site) || (event && r->kind == REQUEST_COLLECTIVE);
    b->requests[i] = NULL;
    return event;
}

void request_batch_complete_all(struct request_batch *b, bool waited, const void *site)
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

void request_batch_complete_some(struct request_batch *b, int count, const int *indices,
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
