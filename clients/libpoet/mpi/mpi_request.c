#include "clients/libpoet/mpi/mpi_request.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/mpi/collective_plan.h"
#include "clients/libpoet/mpi/mpi_events.h"
#include "clients/libpoet/mpi/tracing_state.h"

#include <string.h>

/* ---- persistent receives ---- */

struct persistent_recv {
    MPI_Request own, now; /* as the program created it; as it was started last */
    void *data;
    int n, tag;
    MPI_Datatype type;
    MPI_Comm comm;
    struct persistent_recv *next;
};

static struct persistent_recv *all; /* under the lock */

struct persistent_recv *persistent_recv_create(MPI_Request own, void *data, int n,
                                               MPI_Datatype type, int tag, MPI_Comm comm)
{
    MPI_Datatype kept;
    if (mpi_event_replay_next(EVENT_receive) < 0 || PMPI_Type_dup(type, &kept) != MPI_SUCCESS)
        return NULL;
    struct persistent_recv *p = tracing_state_alloc(1, sizeof *p);
    *p = (struct persistent_recv){own, own, data, n, tag, kept, comm, NULL};
    tracing_state_lock();
    p->next = all;
    all = p;
    tracing_state_unlock();
    return p;
}

/* (the last one started is not pending any more, or could not be started) */
static void persistent_recv_drop(struct persistent_recv *p)
{
    if (p->now != p->own)
        PMPI_Request_free(&p->now);
    p->now = p->own;
}

MPI_Request persistent_recv_start(struct persistent_recv *p, int from)
{
    MPI_Request now;
    persistent_recv_drop(p);
    if (from != MPI_ANY_SOURCE &&
        PMPI_Recv_init(p->data, p->n, p->type, from, p->tag, p->comm, &now) == MPI_SUCCESS)
        p->now = now;
    return p->now;
}

void persistent_recv_find(int count, MPI_Request *handles)
{
    for (struct persistent_recv *p = all; p; p = p->next)
        for (int i = 0; i < count && p->now != p->own; i++)
            if (handles[i] == p->own)
                handles[i] = p->now;
}

/* p: may be NULL; the handle that was started last stays. */
static void persistent_recv_free(struct persistent_recv *p)
{
    struct persistent_recv **at = &all;
    while (p && *at && *at != p)
        at = &(*at)->next;
    if (!p)
        return;
    if (*at)
        *at = p->next;
    if (p->now != p->own)
        PMPI_Request_free(&p->own);
    PMPI_Type_free(&p->type);
    tracing_state_free(p);
}

/* ---- the table ---- */

#define BUCKETS 1024u
static struct mpi_request *table[BUCKETS];

static struct mpi_request **mpi_request_bucket(MPI_Request handle)
{
    uint64_t bits = 0;
    memcpy(&bits, &handle, sizeof handle < sizeof bits ? sizeof handle : sizeof bits);
    return &table[key_mix(bits, 7) % BUCKETS];
}

struct mpi_request *mpi_request_new(struct communicator *comm, int peer, int tag)
{
    struct mpi_request *r = tracing_state_alloc(1, sizeof *r);
    r->comm = comm;
    r->peer = peer;
    r->tag = tag;
    return r;
}

void mpi_request_keep(struct mpi_request *r, MPI_Request handle)
{
    struct mpi_request **bucket = mpi_request_bucket(handle);
    r->handle = handle;
    r->known = true;
    r->next = *bucket;
    *bucket = r;
}

struct mpi_request *mpi_request_find(MPI_Request handle)
{
    struct mpi_request *r = *mpi_request_bucket(handle);
    while (r && (r->handle != handle || r->taken))
        r = r->next;
    return r;
}

static void mpi_request_unlink(struct mpi_request *r)
{
    struct mpi_request **at = mpi_request_bucket(r->handle);
    while (r->known && *at && *at != r)
        at = &(*at)->next;
    if (r->known && *at)
        *at = r->next;
}

void mpi_request_rename(struct mpi_request *r, MPI_Request handle)
{
    mpi_request_unlink(r);
    mpi_request_keep(r, handle);
}

void mpi_request_forget(struct mpi_request *r)
{
    mpi_request_unlink(r);
    collective_plan_free(r->plan);
    persistent_recv_free(r->prepared);
    tracing_state_free(r);
}
