/* Requests by their handles. */
#include "clients/trace/mpi/request.h"

#include "clients/trace/mix.h"
#include "clients/trace/mpi/following.h"
#include "clients/trace/mpi/plan.h"
#include "clients/trace/mpi/prepare.h"

#include <string.h>

#define BUCKETS 1024u
static struct request *table[BUCKETS];

static struct request **bucket_of(MPI_Request handle)
{
    uint64_t bits = 0;
    memcpy(&bits, &handle, sizeof handle < sizeof bits ? sizeof handle : sizeof bits);
    return &table[mix(bits, 7) % BUCKETS];
}

struct request *request_new(struct comm *comm, int peer, int tag)
{
    struct request *r = take(1, sizeof *r);
    r->comm = comm;
    r->peer = peer;
    r->tag = tag;
    return r;
}

void request_keep(struct request *r, MPI_Request handle)
{
    struct request **bucket = bucket_of(handle);
    r->handle = handle;
    r->known = true;
    r->next = *bucket;
    *bucket = r;
}

struct request *request_of(MPI_Request handle)
{
    struct request *r = *bucket_of(handle);
    while (r && (r->handle != handle || r->taken))
        r = r->next;
    return r;
}

static void leave(struct request *r)
{
    struct request **at = bucket_of(r->handle);
    while (r->known && *at && *at != r)
        at = &(*at)->next;
    if (r->known && *at)
        *at = r->next;
}

void request_rename(struct request *r, MPI_Request handle)
{
    leave(r);
    request_keep(r, handle);
}

void request_forget(struct request *r)
{
    leave(r);
    plan_free(r->plan);
    prepare_free(r->prepared);
    give(r);
}
