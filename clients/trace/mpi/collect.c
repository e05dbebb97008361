/* Collective calls.  What they order is what their data needs (MPI 3.1, chapter 5):
 *
 *     all of all    Barrier, Allreduce, Allgather, Alltoall, Reduce_scatter: one point for all members
 *     from the root Bcast, Scatter: the root's event is before what each other gets
 *     to the root   Reduce, Gather: what each other gives is before what the root gets
 *     upwards       Scan, Exscan: each one's is before what those with a higher rank get
 *
 * Where parts are empty, or the call is only begun and waited for later, they are sends and receives between
 * those who really need each other. */
#include "clients/trace/mpi/inside.h"

#include <stdlib.h>

struct plan {
    struct comm *comm;
    uint64_t high;  /* of its keys */
    bool meets;     /* all members are one point */
    bool sends;     /* others need what this one gives, */
    int receivers;  /*   so many */
    uint64_t *from; /* keys of those whose parts this one needs */
    int from_count;
};

/* ---- who needs whom ---- */

static uint64_t part_of(const struct plan *p, int rank) { return mix(p->high, (uint64_t)rank + 1); }

static struct plan *plan_new(struct comm *c)
{
    struct plan *p = take(1, sizeof *p);
    lock();
    p->high = mix(mix(c->id, 8), c->collectives++);
    unlock();
    p->comm = c;
    p->from = take((size_t)c->size + 1, sizeof *p->from);
    return p;
}

void plan_free(struct plan *p)
{
    if (p)
        give(p->from);
    give(p);
}

static void needs(struct plan *p, int rank)
{
    if (rank != p->comm->rank)
        p->from[p->from_count++] = part_of(p, rank);
}

static void gives(struct plan *p, int receivers)
{
    p->receivers = receivers;
    p->sends = receivers > 0;
}

static struct plan *all_of_all(struct comm *c, bool begun, bool empty)
{
    struct plan *p = plan_new(c);
    p->meets = !begun && !empty;
    if (begun && !empty)
        gives(p, c->size - 1);
    for (int i = 0; begun && !empty && i < c->size; i++)
        needs(p, i);
    return p;
}

static struct plan *from_root(struct comm *c, int root, bool empty)
{
    struct plan *p = plan_new(c);
    if (empty)
        return p;
    if (c->rank == root)
        gives(p, c->size - 1);
    else
        needs(p, root);
    return p;
}

static struct plan *to_root(struct comm *c, int root, bool empty)
{
    struct plan *p = plan_new(c);
    if (!empty && c->rank != root)
        gives(p, 1);
    for (int i = 0; !empty && c->rank == root && i < c->size; i++)
        needs(p, i);
    return p;
}

static struct plan *upwards(struct comm *c, bool empty)
{
    struct plan *p = plan_new(c);
    if (!empty)
        gives(p, c->size - 1 - c->rank);
    for (int i = 0; !empty && i < c->rank; i++)
        needs(p, i);
    return p;
}

static int not_empty(const int *counts, int n, int besides)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        found += i != besides && counts[i] != 0;
    return found;
}

/* counts: of the root, one for each; own: what this one gets */
static struct plan *scatter_parts(struct comm *c, int root, const int *counts, int own)
{
    struct plan *p = plan_new(c);
    if (c->rank == root)
        gives(p, not_empty(counts, c->size, root));
    else if (own)
        needs(p, root);
    return p;
}

static struct plan *gather_parts(struct comm *c, int root, const int *counts, int own)
{
    struct plan *p = plan_new(c);
    if (c->rank != root)
        gives(p, own != 0);
    for (int i = 0; c->rank == root && i < c->size; i++)
        if (counts[i])
            needs(p, i);
    return p;
}

/* Everybody knows what each one gives. */
static struct plan *allgather_parts(struct comm *c, const int *counts, bool begun)
{
    if (not_empty(counts, c->size, -1) == c->size)
        return all_of_all(c, begun, false);
    struct plan *p = plan_new(c);
    gives(p, counts[c->rank] ? c->size - 1 : 0);
    for (int i = 0; i < c->size; i++)
        if (counts[i])
            needs(p, i);
    return p;
}

static struct plan *alltoall_parts(struct comm *c, const int *out, const int *in)
{
    struct plan *p = plan_new(c);
    gives(p, not_empty(out, c->size, c->rank));
    for (int i = 0; i < c->size; i++)
        if (in[i])
            needs(p, i);
    return p;
}

/* Everybody knows who gets something. */
static struct plan *reduce_scatter_parts(struct comm *c, const int *counts, bool begun)
{
    if (not_empty(counts, c->size, -1) == c->size)
        return all_of_all(c, begun, false);
    struct plan *p = plan_new(c);
    gives(p, not_empty(counts, c->size, c->rank));
    for (int i = 0; counts[c->rank] && i < c->size; i++)
        needs(p, i);
    return p;
}

/* ---- events ---- */

static void plan_begin(struct plan *p, enum event type, poet_line_t about, const void *site)
{
    struct comm *c = p->comm;
    if (c->inter || !c->whole) { /* who needs whom is not followed */
        p->meets = p->sends = false;
        p->from_count = 0;
    }
    if (p->meets && c->size == 1)
        p->meets = false;
    if (p->sends)
        note_send(type, about, p->high, part_of(p, c->rank), p->receivers, site);
    else
        note(type, about, site);
}

void plan_end(struct plan *p, const void *site)
{
    if (p->meets)
        note_meeting(EVENT_together, p->high, mix(p->high, 0), p->comm->size, site);
    else if (p->from_count)
        note_receive(EVENT_result, p->high, p->from, p->from_count, false, site);
    else
        note(EVENT_done, 0, site);
    plan_free(p);
}

static void keep(struct plan *p, MPI_Request handle)
{
    struct request *r = request_new(p->comm, 0, 0);
    r->kind = REQUEST_COLLECTIVE;
    r->active = true;
    r->plan = p;
    lock();
    request_keep(r, handle);
    unlock();
}

/* ---- the calls ---- */

/* Both forms of a call: it has a plan, an event where it begins, and what that is about. */
#define COLLECTIVE(name, iname, event, parameters, arguments, how, line)                               \
    API int MPI_##name parameters                                                                      \
    {                                                                                                  \
        const bool begun = false;                                                                      \
        struct comm *c = following ? comm_of(comm) : NULL;                                             \
        (void)begun;                                                                                   \
        if (!c)                                                                                        \
            return PMPI_##name arguments;                                                              \
        struct plan *p = c->inter ? plan_new(c) : (how);                                               \
        plan_begin(p, EVENT_##event, line, SITE);                                                      \
        int e = PMPI_##name arguments;                                                                 \
        plan_end(p, SITE);                                                                             \
        return e;                                                                                      \
    }                                                                                                  \
    API int MPI_##iname BEGUN_PARAMETERS parameters                                                    \
    {                                                                                                  \
        const bool begun = true;                                                                       \
        struct comm *c = following ? comm_of(comm) : NULL;                                             \
        (void)begun;                                                                                   \
        if (!c)                                                                                        \
            return PMPI_##iname BEGUN_ARGUMENTS arguments;                                             \
        struct plan *p = c->inter ? plan_new(c) : (how);                                               \
        plan_begin(p, EVENT_i##event, line, SITE);                                                     \
        int e = PMPI_##iname BEGUN_ARGUMENTS arguments;                                                \
        if (e == MPI_SUCCESS)                                                                          \
            keep(p, *request);                                                                         \
        else                                                                                           \
            plan_free(p);                                                                              \
        return e;                                                                                      \
    }
#define BEGUN_PARAMETERS(...) (__VA_ARGS__, MPI_Request *request)
#define BEGUN_ARGUMENTS(...) (__VA_ARGS__, request)
#define ROOT_LINE (c->rank == root ? 0 : peer_line(c, root))

COLLECTIVE(Barrier, Ibarrier, barrier, (MPI_Comm comm), (comm), all_of_all(c, begun, false), c->line)
COLLECTIVE(Bcast, Ibcast, bcast, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
           (data, n, type, root, comm), from_root(c, root, n == 0), ROOT_LINE)
COLLECTIVE(Scatter, Iscatter, scatter,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n, MPI_Datatype in_type, int root,
            MPI_Comm comm),
           (out, out_n, out_type, in, in_n, in_type, root, comm),
           from_root(c, root, c->rank == root ? out_n == 0 : in_n == 0), ROOT_LINE)
COLLECTIVE(Scatterv, Iscatterv, scatter,
           (const void *out, const int out_n[], const int at[], MPI_Datatype out_type, void *in, int in_n,
            MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, out_n, at, out_type, in, in_n, in_type, root, comm), scatter_parts(c, root, out_n, in_n),
           ROOT_LINE)
COLLECTIVE(Gather, Igather, gather,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n, MPI_Datatype in_type, int root,
            MPI_Comm comm),
           (out, out_n, out_type, in, in_n, in_type, root, comm),
           to_root(c, root, c->rank == root ? in_n == 0 : out_n == 0), c->line)
COLLECTIVE(Gatherv, Igatherv, gather,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, const int in_n[], const int at[],
            MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, out_n, out_type, in, in_n, at, in_type, root, comm), gather_parts(c, root, in_n, out_n),
           c->line)
COLLECTIVE(Allgather, Iallgather, allgather,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n, MPI_Datatype in_type,
            MPI_Comm comm),
           (out, out_n, out_type, in, in_n, in_type, comm), all_of_all(c, begun, in_n == 0), c->line)
COLLECTIVE(Allgatherv, Iallgatherv, allgather,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, const int in_n[], const int at[],
            MPI_Datatype in_type, MPI_Comm comm),
           (out, out_n, out_type, in, in_n, at, in_type, comm), allgather_parts(c, in_n, begun), c->line)
COLLECTIVE(Alltoall, Ialltoall, alltoall,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n, MPI_Datatype in_type,
            MPI_Comm comm),
           (out, out_n, out_type, in, in_n, in_type, comm), all_of_all(c, begun, in_n == 0), c->line)
COLLECTIVE(Alltoallv, Ialltoallv, alltoall,
           (const void *out, const int out_n[], const int out_at[], MPI_Datatype out_type, void *in,
            const int in_n[], const int in_at[], MPI_Datatype in_type, MPI_Comm comm),
           (out, out_n, out_at, out_type, in, in_n, in_at, in_type, comm),
           alltoall_parts(c, out == MPI_IN_PLACE ? in_n : out_n, in_n), c->line)
COLLECTIVE(Alltoallw, Ialltoallw, alltoall,
           (const void *out, const int out_n[], const int out_at[], const MPI_Datatype out_type[], void *in,
            const int in_n[], const int in_at[], const MPI_Datatype in_type[], MPI_Comm comm),
           (out, out_n, out_at, out_type, in, in_n, in_at, in_type, comm),
           alltoall_parts(c, out == MPI_IN_PLACE ? in_n : out_n, in_n), c->line)
COLLECTIVE(Reduce, Ireduce, reduce,
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           (out, in, n, type, op, root, comm), to_root(c, root, n == 0), c->line)
COLLECTIVE(Allreduce, Iallreduce, allreduce,
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, n, type, op, comm), all_of_all(c, begun, n == 0), c->line)
COLLECTIVE(Reduce_scatter, Ireduce_scatter, reduce_scatter,
           (const void *out, void *in, const int n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, n, type, op, comm), reduce_scatter_parts(c, n, begun), c->line)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter,
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, n, type, op, comm), all_of_all(c, begun, n == 0), c->line)
COLLECTIVE(Scan, Iscan, scan,
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, n, type, op, comm), upwards(c, n == 0), c->line)
COLLECTIVE(Exscan, Iexscan, exscan,
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, n, type, op, comm), upwards(c, n == 0), c->line)
