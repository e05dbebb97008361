/* Communicators: who is in them, and an id that all members know without talking.
 *
 * The id of a new one is made of its parent's id, how many were made of the parent before, and its
 * members: all members of the parent make its children in the same order (MPI 3.1, 6.4). */
#include "clients/trace/mpi/comms.h"

#include "clients/trace/mix.h"
#include "clients/trace/mpi/following.h"
#include "clients/trace/mpi/ranks.h"

#include <stdio.h>

static int keyval = MPI_KEYVAL_INVALID;
static MPI_Group world_group;

struct comm *comm_of(MPI_Comm handle)
{
    void *comm = NULL;
    int found = 0;
    if (handle == MPI_COMM_NULL || PMPI_Comm_get_attr(handle, keyval, &comm, &found) != MPI_SUCCESS)
        return NULL;
    return found ? comm : NULL;
}

int peer_of(const struct comm *comm, int rank)
{
    return rank >= 0 && rank < comm->peer_count ? comm->peers[rank] : -1;
}

poet_line_t peer_line(const struct comm *comm, int rank)
{
    return rank == MPI_ANY_SOURCE ? comm->line : rank_line(peer_of(comm, rank));
}

static int *ranks_of(MPI_Group group, int *count)
{
    PMPI_Group_size(group, count);
    int *here = take((size_t)*count + 1, sizeof *here),
        *world = take((size_t)*count + 1, sizeof *world);
    if (!here || !world)
        *count = 0;
    for (int i = 0; i < *count; i++)
        here[i] = i;
    PMPI_Group_translate_ranks(group, *count, here, world_group, world);
    give(here);
    return world;
}

static int *peers_of(MPI_Comm handle, bool remote, int *count)
{
    MPI_Group group;
    if (remote)
        PMPI_Comm_remote_group(handle, &group);
    else
        PMPI_Comm_group(handle, &group);
    int *world = ranks_of(group, count);
    PMPI_Group_free(&group);
    return world;
}

static uint64_t mix_ranks(uint64_t id, const int *ranks, int count)
{
    for (int i = 0; i < count; i++)
        id = mix(id, (uint64_t)ranks[i]);
    return id;
}

/* `seed`: what all members know of how it came about. */
static void follow(MPI_Comm handle, uint64_t seed, const char *name)
{
    int inter = 0, count;
    if (handle == MPI_COMM_NULL)
        return;
    struct comm *c = take(1, sizeof *c);
    PMPI_Comm_test_inter(handle, &inter);
    PMPI_Comm_rank(handle, &c->rank);
    PMPI_Comm_size(handle, &c->size);
    int *members = peers_of(handle, false, &count);
    c->inter = inter;
    c->peers = members;
    c->peer_count = count;
    c->self = members[c->rank];
    c->id = mix_ranks(seed, members, count);
    if (inter) { /* both sides must come to the same: the group with the least member first */
        int remote_count, *remote = peers_of(handle, true, &remote_count);
        bool first = members[0] < remote[0];
        c->id = mix_ranks(mix_ranks(seed, first ? members : remote, first ? count : remote_count),
                          first ? remote : members, first ? remote_count : count);
        c->peers = remote;
        c->peer_count = remote_count;
        give(members);
    }
    c->whole = true;
    for (int i = 0; i < c->peer_count; i++)
        c->whole &= rank_traced(c->peers[i]);
    c->line = poet_line_of("communicator", name, (const uint64_t[]){c->id, 0x706f65742e6d7069u});
    PMPI_Comm_set_attr(handle, keyval, c);
}

/* What all members of the parent know of its next child. */
static uint64_t seed_of(MPI_Comm parent)
{
    struct comm *c = comm_of(parent);
    lock();
    uint64_t child = c ? ++c->children : 0;
    unlock();
    return c ? mix(mix(c->id, 3), child) : 0;
}

void comms_begin(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    follow(MPI_COMM_WORLD, mix(job(), 1), "MPI_COMM_WORLD");
    follow(MPI_COMM_SELF, mix(job(), 2), "MPI_COMM_SELF");
}

static int made(int e, const MPI_Comm *comm, uint64_t seed, const char *name)
{
    if (e == MPI_SUCCESS && seed)
        follow(*comm, seed, name);
    return e;
}

#define SEED(parent) (following ? seed_of(parent) : 0)

API int MPI_Comm_dup(MPI_Comm parent, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return made(PMPI_Comm_dup(parent, comm), comm, seed, "duplicate");
}

API int MPI_Comm_dup_with_info(MPI_Comm parent, MPI_Info info, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return made(PMPI_Comm_dup_with_info(parent, info, comm), comm, seed, "duplicate");
}

API int MPI_Comm_split(MPI_Comm parent, int colour, int key, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    char name[32];
    snprintf(name, sizeof name, "split %d", colour);
    return made(PMPI_Comm_split(parent, colour, key, comm), comm, seed, name);
}

API int MPI_Comm_split_type(MPI_Comm parent, int type, int key, MPI_Info info, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return made(PMPI_Comm_split_type(parent, type, key, info, comm), comm, seed, "split by type");
}

API int MPI_Comm_create(MPI_Comm parent, MPI_Group group, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return made(PMPI_Comm_create(parent, group, comm), comm, seed, "group");
}

/* Only its members call: of the parent they share no count. */
API int MPI_Comm_create_group(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm *comm)
{
    static struct made_of {
        struct made_of *next;
        uint64_t what, count;
    } *groups;
    struct comm *c = following ? comm_of(parent) : NULL;
    uint64_t seed = 0;
    if (c) {
        int count, *world = ranks_of(group, &count);
        uint64_t what = mix(mix_ranks(mix(c->id, 4), world, count), (uint64_t)tag);
        give(world);
        lock();
        struct made_of *g = groups;
        while (g && g->what != what)
            g = g->next;
        if (!g) {
            g = take(1, sizeof *g);
            *g = (struct made_of){groups, what, 0};
            groups = g;
        }
        seed = mix(what, ++g->count);
        unlock();
    }
    return made(PMPI_Comm_create_group(parent, group, tag, comm), comm, seed, "group");
}

API int MPI_Cart_create(MPI_Comm parent, int dimensions, const int sizes[], const int periods[],
                        int reorder, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return made(PMPI_Cart_create(parent, dimensions, sizes, periods, reorder, comm), comm, seed,
                "grid");
}

API int MPI_Cart_sub(MPI_Comm parent, const int remain[], MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return made(PMPI_Cart_sub(parent, remain, comm), comm, seed, "part of a grid");
}

API int MPI_Graph_create(MPI_Comm parent, int nodes, const int index[], const int edges[],
                         int reorder, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return made(PMPI_Graph_create(parent, nodes, index, edges, reorder, comm), comm, seed, "graph");
}

API int MPI_Dist_graph_create(MPI_Comm parent, int n, const int sources[], const int degrees[],
                              const int destinations[], const int weights[], MPI_Info info,
                              int reorder, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return made(PMPI_Dist_graph_create(parent, n, sources, degrees, destinations, weights, info,
                                       reorder, comm),
                comm, seed, "graph");
}

API int MPI_Dist_graph_create_adjacent(MPI_Comm parent, int in, const int sources[],
                                       const int in_weights[], int out, const int destinations[],
                                       const int out_weights[], MPI_Info info, int reorder,
                                       MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return made(PMPI_Dist_graph_create_adjacent(parent, in, sources, in_weights, out, destinations,
                                                out_weights, info, reorder, comm),
                comm, seed, "graph");
}

/* The two sides know the tag and, afterwards, each other. */
API int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm between, int remote, int tag,
                             MPI_Comm *comm)
{
    return made(PMPI_Intercomm_create(local, leader, between, remote, tag, comm), comm,
                following ? mix(mix(job(), 5), (uint64_t)tag) : 0, "intercommunicator");
}

API int MPI_Intercomm_merge(MPI_Comm inter, int high, MPI_Comm *comm)
{
    uint64_t seed = SEED(inter);
    return made(PMPI_Intercomm_merge(inter, high, comm), comm, seed, "merged");
}
