/* Requests by their handles. */
#include "clients/libpoet/mpi/mpi_request.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/mpi/tracing_state.h"
#include "clients/libpoet/mpi/collective_plan.h"
#include "clients/libpoet/mpi/persistent_recv_replay.h"

#include <string.h>

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
