#include "clients/trace/mpi/batch.h"

#include "clients/trace/mpi/complete.h"
#include "clients/trace/mpi/events.h"
#include "clients/trace/mpi/following.h"
#include "clients/trace/mpi/prepare.h"
#include "clients/trace/mpi/ranks.h"

struct batch batch_begin(int count, MPI_Request *handles, MPI_Status *statuses)
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
    prepare_find(count, handles);
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

void batch_end(struct batch *b)
{
    lock();
    for (int i = 0; i < b->count; i++)
        if (b->requests[i])
            b->requests[i]->taken = b->requests[i]->awaited = false;
    unlock();
    give(b->requests);
    give(b->own);
}

void batch_await(struct batch *b, const void *site)
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

void batch_no_longer(struct batch *b)
{
    lock();
    for (int i = 0; i < b->count; i++)
        if (b->requests[i])
            b->requests[i]->awaited = false;
    unlock();
}

bool batch_one(struct batch *b, int i, const MPI_Status *status, const void *site)
{
    struct request *r = b->requests[i];
    bool event = r && (r->kind == REQUEST_COLLECTIVE || r->kind == REQUEST_RECEIVE);
    if (r)
        event = completed(r, status, site) || (event && r->kind == REQUEST_COLLECTIVE);
    b->requests[i] = NULL;
    return event;
}

void batch_all(struct batch *b, bool waited, const void *site)
{
    bool event = false;
    for (int i = 0; i < b->count; i++)
        event |= batch_one(b, i, &b->statuses[i], site);
    if (!event && waited && b->any)
        note(EVENT_completed, 0, site);
}

static bool receives(const struct batch *b, int i)
{
    return b->requests[i] && b->requests[i]->kind == REQUEST_RECEIVE;
}

void batch_some(struct batch *b, int count, const int *indices, bool waited, const void *site)
{
    bool event = false, any = false;
    int left = 0; /* receives */
    for (int i = 0; b->requests && i < count; i++)
        left += receives(b, indices[i]);
    for (int i = 0; b->requests && i < count; i++) {
        struct request *r = b->requests[indices[i]];
        any |= r != NULL;
        left -= receives(b, indices[i]);
        if (r) {
            r->any = true;
            r->together = left > 0;
        }
        event |= batch_one(b, indices[i], &b->statuses[i], site);
    }
    if (!event && waited && any)
        note(EVENT_completed, 0, site);
}
