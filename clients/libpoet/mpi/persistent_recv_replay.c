#include "clients/libpoet/mpi/persistent_recv_replay.h"

#include "clients/libpoet/mpi/mpi_events.h"
#include "clients/libpoet/mpi/tracing_state.h"

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

void persistent_recv_free(struct persistent_recv *p)
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
