/* Collective calls: each has a plan that says which member depends on which. */
#include "clients/libpoet/mpi/communicators.h"
#include "clients/libpoet/mpi/mpi_events.h"
#include "clients/libpoet/mpi/tracing_state.h"
#include "clients/libpoet/mpi/collective_plan.h"
#include "clients/libpoet/mpi/mpi_request.h"

#include <mpi.h>

static void collective_keep(struct communicator *c, struct collective_plan *p, MPI_Request handle)
{
    struct mpi_request *r = mpi_request_new(c, 0, 0);
    r->kind = REQUEST_COLLECTIVE;
    r->active = true;
    r->plan = p;
    tracing_state_lock();
    mpi_request_keep(r, handle);
    tracing_state_unlock();
}

/* ---- the calls ---- */

/* Defines both forms of a call: its plan, its event, and the object of that. */
#define COLLECTIVE(name, iname, event, parameters, arguments, how, line)                           \
    API int MPI_##name parameters                                                                  \
    {                                                                                              \
        const bool begun = false;                                                                  \
        struct communicator *c = mpi_tracing ? communicator_find(comm) : NULL;                     \
        (void)begun;                                                                               \
        if (!c)                                                                                    \
            return PMPI_##name arguments;                                                          \
        struct collective_plan *p = c->inter ? collective_plan_new(c) : (how);                     \
        collective_plan_begin(p, EVENT_##event, line, SITE);                                       \
        int e = WAITING(EVENT_##event, PMPI_##name arguments);                                     \
        collective_plan_end(p, SITE);                                                              \
        return e;                                                                                  \
    }                                                                                              \
    API int MPI_##iname BEGUN_PARAMETERS parameters                                                \
    {                                                                                              \
        const bool begun = true;                                                                   \
        struct communicator *c = mpi_tracing ? communicator_find(comm) : NULL;                     \
        (void)begun;                                                                               \
        if (!c)                                                                                    \
            return PMPI_##iname BEGUN_ARGUMENTS arguments;                                         \
        struct collective_plan *p = c->inter ? collective_plan_new(c) : (how);                     \
        collective_plan_begin(p, EVENT_i##event, line, SITE);                                      \
        int e = PMPI_##iname BEGUN_ARGUMENTS arguments;                                            \
        if (e == MPI_SUCCESS)                                                                      \
            collective_keep(c, p, *request);                                                       \
        else                                                                                       \
            collective_plan_free(p);                                                               \
        return e;                                                                                  \
    }
#define BEGUN_PARAMETERS(...) (__VA_ARGS__, MPI_Request * request)
#define BEGUN_ARGUMENTS(...) (__VA_ARGS__, request)
#define ROOT_LINE (c->rank == root ? 0 : communicator_line(c, root))

COLLECTIVE(Barrier, Ibarrier, barrier, (MPI_Comm comm), (comm),
           collective_plan_all_of_all(c, begun, false), c->line)
COLLECTIVE(Bcast, Ibcast, bcast, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
           (data, n, type, root, comm), collective_plan_from_root(c, root, n == 0), ROOT_LINE)
COLLECTIVE(Scatter, Iscatter, scatter,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n,
            MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, out_n, out_type, in, in_n, in_type, root, comm),
           collective_plan_from_root(c, root, c->rank == root ? out_n == 0 : in_n == 0), ROOT_LINE)
COLLECTIVE(Scatterv, Iscatterv, scatter,
           (const void *out, const int out_n[], const int at[], MPI_Datatype out_type, void *in,
            int in_n, MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, out_n, at, out_type, in, in_n, in_type, root, comm),
           collective_plan_scatter(c, root, out_n, in_n), ROOT_LINE)
COLLECTIVE(Gather, Igather, gather,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n,
            MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, out_n, out_type, in, in_n, in_type, root, comm),
           collective_plan_to_root(c, root, c->rank == root ? in_n == 0 : out_n == 0), c->line)
COLLECTIVE(Gatherv, Igatherv, gather,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, const int in_n[],
            const int at[], MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, out_n, out_type, in, in_n, at, in_type, root, comm),
           collective_plan_gather(c, root, in_n, out_n), c->line)
COLLECTIVE(Allgather, Iallgather, allgather,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n,
            MPI_Datatype in_type, MPI_Comm comm),
           (out, out_n, out_type, in, in_n, in_type, comm),
           collective_plan_all_of_all(c, begun, in_n == 0), c->line)
COLLECTIVE(Allgatherv, Iallgatherv, allgather,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, const int in_n[],
            const int at[], MPI_Datatype in_type, MPI_Comm comm),
           (out, out_n, out_type, in, in_n, at, in_type, comm),
           collective_plan_allgather(c, in_n, begun), c->line)
COLLECTIVE(Alltoall, Ialltoall, alltoall,
           (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n,
            MPI_Datatype in_type, MPI_Comm comm),
           (out, out_n, out_type, in, in_n, in_type, comm),
           collective_plan_all_of_all(c, begun, in_n == 0), c->line)
COLLECTIVE(Alltoallv, Ialltoallv, alltoall,
           (const void *out, const int out_n[], const int out_at[], MPI_Datatype out_type, void *in,
            const int in_n[], const int in_at[], MPI_Datatype in_type, MPI_Comm comm),
           (out, out_n, out_at, out_type, in, in_n, in_at, in_type, comm),
           collective_plan_alltoall(c, out == MPI_IN_PLACE ? in_n : out_n, in_n), c->line)
COLLECTIVE(Alltoallw, Ialltoallw, alltoall,
           (const void *out, const int out_n[], const int out_at[], const MPI_Datatype out_type[],
            void *in, const int in_n[], const int in_at[], const MPI_Datatype in_type[],
            MPI_Comm comm),
           (out, out_n, out_at, out_type, in, in_n, in_at, in_type, comm),
           collective_plan_alltoall(c, out == MPI_IN_PLACE ? in_n : out_n, in_n), c->line)
COLLECTIVE(Reduce, Ireduce, reduce,
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm),
           (out, in, n, type, op, root, comm), collective_plan_to_root(c, root, n == 0), c->line)
COLLECTIVE(Allreduce, Iallreduce, allreduce,
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, n, type, op, comm), collective_plan_all_of_all(c, begun, n == 0), c->line)
COLLECTIVE(Reduce_scatter, Ireduce_scatter, reduce_scatter,
           (const void *out, void *in, const int n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, n, type, op, comm), collective_plan_reduce_scatter(c, n, begun), c->line)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter,
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, n, type, op, comm), collective_plan_all_of_all(c, begun, n == 0), c->line)
COLLECTIVE(Scan, Iscan, scan,
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, n, type, op, comm), collective_plan_prefix(c, n == 0), c->line)
COLLECTIVE(Exscan, Iexscan, exscan,
           (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, n, type, op, comm), collective_plan_prefix(c, n == 0), c->line)
