#include "clients/trace/mpi/prepare.h"

#include "clients/trace/mpi/events.h"
#include "clients/trace/mpi/following.h"

struct prepared {
    MPI_Request own, now; /* as the program made it; as it was started last */
    void *data;
    int n, tag;
    MPI_Datatype type;
    MPI_Comm comm;
    struct prepared *next;
};

static struct prepared *all; /* under the lock */

struct prepared *prepare(MPI_Request own, void *data, int n, MPI_Datatype type, int tag,
                         MPI_Comm comm)
{
    MPI_Datatype kept;
    if (again(EVENT_receive) < 0 || PMPI_Type_dup(type, &kept) != MPI_SUCCESS)
        return NULL;
    struct prepared *p = take(1, sizeof *p);
    *p = (struct prepared){own, own, data, n, tag, kept, comm, NULL};
    lock();
    p->next = all;
    all = p;
    unlock();
    return p;
}

/* (what was started last is not under way any more, or it could not be started) */
static void drop(struct prepared *p)
{
    if (p->now != p->own)
        PMPI_Request_free(&p->now);
    p->now = p->own;
}

MPI_Request prepare_start(struct prepared *p, int from)
{
    MPI_Request now;
    drop(p);
    if (from != MPI_ANY_SOURCE &&
        PMPI_Recv_init(p->data, p->n, p->type, from, p->tag, p->comm, &now) == MPI_SUCCESS)
        p->now = now;
    return p->now;
}

void prepare_find(int count, MPI_Request *handles)
{
    for (struct prepared *p = all; p; p = p->next)
        for (int i = 0; i < count && p->now != p->own; i++)
            if (handles[i] == p->own)
                handles[i] = p->now;
}

void prepare_free(struct prepared *p)
{
    struct prepared **at = &all;
    while (p && *at && *at != p)
        at = &(*at)->next;
    if (!p)
        return;
    if (*at)
        *at = p->next;
    if (p->now != p->own)
        PMPI_Request_free(&p->own);
    PMPI_Type_free(&p->type);
    give(p);
}
