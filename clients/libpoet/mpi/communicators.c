/* Communicators: their members, and an id that all members derive without communication. The id of
 * a new one follows from its parent's id, the number of earlier children of the parent, and its
 * members: all members of the parent create its children in the same order (MPI 3.1, 6.4). */
#include "clients/libpoet/mpi/communicators.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/mpi/tracing_state.h"

#include <mpi.h>
#include <stdio.h>

/* ---- the ranks of MPI_COMM_WORLD, and the lines of their main threads ---- */

static struct rank {
    uint64_t identity[2]; /* of its line; 0, 0: it is not traced */
    poet_line_t line;
} *ranks;
static int rank_count;

uint64_t rank_job_key(void) { return key_mix(ranks[0].identity[0], ranks[0].identity[1]); }

bool rank_traced(int world)
{
    return world >= 0 && world < rank_count &&
           (ranks[world].identity[0] | ranks[world].identity[1]);
}

poet_line_t rank_line(int world)
{
    if (!rank_traced(world))
        return 0;
    tracing_state_lock();
    bool opened = ranks[world].line;
    tracing_state_unlock();
    if (!opened) {
        char name[32];
        snprintf(name, sizeof name, "rank %d", world);
        poet_line_t line = poet_line_by_identity("rank", name, ranks[world].identity);
        tracing_state_lock();
        ranks[world].line = line;
        tracing_state_unlock();
    }
    return ranks[world].line;
}

void ranks_exchange(poet_line_t line, int own)
{
    uint64_t identity[2];
    if (!poet_identity(line, identity))
        identity[0] = identity[1] = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    ranks = tracing_state_alloc((size_t)rank_count, sizeof *ranks);
    uint64_t *all = tracing_state_alloc((size_t)rank_count, sizeof identity);
    PMPI_Allgather(identity, sizeof identity, MPI_BYTE, all, sizeof identity, MPI_BYTE,
                   MPI_COMM_WORLD);
    for (int i = 0; i < rank_count; i++) {
        ranks[i].identity[0] = all[2 * i];
        ranks[i].identity[1] = all[2 * i + 1];
    }
    ranks[own].line = line;
    tracing_state_free(all);
}

int ranks_count(void) { return rank_count; }

bool ranks_all_traced(void)
{
    for (int i = 0; i < rank_count; i++)
        if (!rank_traced(i))
            return false;
    return true;
}

static int keyval = MPI_KEYVAL_INVALID;
static MPI_Group world_group;

struct communicator *communicator_find(MPI_Comm handle)
{
    void *comm = NULL;
    int found = 0;
    if (handle == MPI_COMM_NULL || PMPI_Comm_get_attr(handle, keyval, &comm, &found) != MPI_SUCCESS)
        return NULL;
    return found ? comm : NULL;
}

int communicator_world_rank(const struct communicator *comm, int rank)
{
    return rank >= 0 && rank < comm->peer_count ? comm->peers[rank] : -1;
}

poet_line_t communicator_line(const struct communicator *comm, int rank)
{
    return rank == MPI_ANY_SOURCE ? comm->line : rank_line(communicator_world_rank(comm, rank));
}

static int *communicator_ranks(MPI_Group group, int *count)
{
    PMPI_Group_size(group, count);
    int *here = tracing_state_alloc((size_t)*count + 1, sizeof *here),
        *world = tracing_state_alloc((size_t)*count + 1, sizeof *world);
    if (!here || !world)
        *count = 0;
    for (int i = 0; i < *count; i++)
        here[i] = i;
    PMPI_Group_translate_ranks(group, *count, here, world_group, world);
    tracing_state_free(here);
    return world;
}

static int *communicator_world_ranks(MPI_Comm handle, bool remote, int *count)
{
    MPI_Group group;
    if (remote)
        PMPI_Comm_remote_group(handle, &group);
    else
        PMPI_Comm_group(handle, &group);
    int *world = communicator_ranks(group, count);
    PMPI_Group_free(&group);
    return world;
}

static uint64_t communicator_mix_ranks(uint64_t id, const int *members, int count)
{
    for (int i = 0; i < count; i++)
        id = key_mix(id, (uint64_t)members[i]);
    return id;
}

/* `seed`: what all members know of its creation. */
static void communicator_add(MPI_Comm handle, uint64_t seed, const char *name)
{
    int inter = 0, count;
    if (handle == MPI_COMM_NULL)
        return;
    struct communicator *c = tracing_state_alloc(1, sizeof *c);
    PMPI_Comm_test_inter(handle, &inter);
    PMPI_Comm_rank(handle, &c->rank);
    PMPI_Comm_size(handle, &c->size);
    int *members = communicator_world_ranks(handle, false, &count);
    c->inter = inter;
    c->peers = members;
    c->peer_count = count;
    c->self = members[c->rank];
    c->id = communicator_mix_ranks(seed, members, count);
    if (inter) { /* both sides must get the same id: the group with the least member first */
        int remote_count, *remote = communicator_world_ranks(handle, true, &remote_count);
        bool first = members[0] < remote[0];
        c->id = communicator_mix_ranks(
            communicator_mix_ranks(seed, first ? members : remote, first ? count : remote_count),
            first ? remote : members, first ? remote_count : count);
        c->peers = remote;
        c->peer_count = remote_count;
        tracing_state_free(members);
    }
    c->whole = true;
    for (int i = 0; i < c->peer_count; i++)
        c->whole &= rank_traced(c->peers[i]);
    c->line =
        poet_line_by_identity("communicator", name, (const uint64_t[]){c->id, 0x706f65742e6d7069u});
    if (c->line && !inter)
        poet_participants(c->line, (uint32_t)c->size);
    PMPI_Comm_set_attr(handle, keyval, c);
}

/* Returns what all members of the parent know of its next child. */
static uint64_t communicator_seed(MPI_Comm parent)
{
    struct communicator *c = communicator_find(parent);
    tracing_state_lock();
    uint64_t child = c ? ++c->children : 0;
    tracing_state_unlock();
    return c ? key_mix(key_mix(c->id, 3), child) : 0;
}

void communicators_begin(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    communicator_add(MPI_COMM_WORLD, key_mix(rank_job_key(), 1), "MPI_COMM_WORLD");
    communicator_add(MPI_COMM_SELF, key_mix(rank_job_key(), 2), "MPI_COMM_SELF");
}

static int communicator_created(int e, const MPI_Comm *comm, uint64_t seed, const char *name)
{
    if (e == MPI_SUCCESS && seed)
        communicator_add(*comm, seed, name);
    return e;
}

#define SEED(parent) (mpi_tracing ? communicator_seed(parent) : 0)

API int MPI_Comm_dup(MPI_Comm parent, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return communicator_created(PMPI_Comm_dup(parent, comm), comm, seed, "duplicate");
}

API int MPI_Comm_dup_with_info(MPI_Comm parent, MPI_Info info, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return communicator_created(PMPI_Comm_dup_with_info(parent, info, comm), comm, seed,
                                "duplicate");
}

API int MPI_Comm_split(MPI_Comm parent, int color, int key, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    char name[32];
    snprintf(name, sizeof name, "split %d", color);
    return communicator_created(PMPI_Comm_split(parent, color, key, comm), comm, seed, name);
}

API int MPI_Comm_split_type(MPI_Comm parent, int type, int key, MPI_Info info, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return communicator_created(PMPI_Comm_split_type(parent, type, key, info, comm), comm, seed,
                                "split by type");
}

API int MPI_Comm_create(MPI_Comm parent, MPI_Group group, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return communicator_created(PMPI_Comm_create(parent, group, comm), comm, seed, "group");
}

/* Only its members make this call: they share no count of the parent. */
API int MPI_Comm_create_group(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm *comm)
{
    static struct made_of {
        struct made_of *next;
        uint64_t what, count;
    } *groups;
    struct communicator *c = mpi_tracing ? communicator_find(parent) : NULL;
    uint64_t seed = 0;
    if (c) {
        int count, *world = communicator_ranks(group, &count);
        uint64_t what =
            key_mix(communicator_mix_ranks(key_mix(c->id, 4), world, count), (uint64_t)tag);
        tracing_state_free(world);
        tracing_state_lock();
        struct made_of *g = groups;
        while (g && g->what != what)
            g = g->next;
        if (!g) {
            g = tracing_state_alloc(1, sizeof *g);
            *g = (struct made_of){groups, what, 0};
            groups = g;
        }
        seed = key_mix(what, ++g->count);
        tracing_state_unlock();
    }
    return communicator_created(PMPI_Comm_create_group(parent, group, tag, comm), comm, seed,
                                "group");
}

API int MPI_Cart_create(MPI_Comm parent, int dimensions, const int sizes[], const int periods[],
                        int reorder, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return communicator_created(PMPI_Cart_create(parent, dimensions, sizes, periods, reorder, comm),
                                comm, seed, "grid");
}

API int MPI_Cart_sub(MPI_Comm parent, const int remain[], MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return communicator_created(PMPI_Cart_sub(parent, remain, comm), comm, seed, "part of a grid");
}

API int MPI_Graph_create(MPI_Comm parent, int nodes, const int index[], const int edges[],
                         int reorder, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return communicator_created(PMPI_Graph_create(parent, nodes, index, edges, reorder, comm), comm,
                                seed, "graph");
}

API int MPI_Dist_graph_create(MPI_Comm parent, int n, const int sources[], const int degrees[],
                              const int destinations[], const int weights[], MPI_Info info,
                              int reorder, MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return communicator_created(PMPI_Dist_graph_create(parent, n, sources, degrees, destinations,
                                                       weights, info, reorder, comm),
                                comm, seed, "graph");
}

API int MPI_Dist_graph_create_adjacent(MPI_Comm parent, int in, const int sources[],
                                       const int in_weights[], int out, const int destinations[],
                                       const int out_weights[], MPI_Info info, int reorder,
                                       MPI_Comm *comm)
{
    uint64_t seed = SEED(parent);
    return communicator_created(PMPI_Dist_graph_create_adjacent(parent, in, sources, in_weights,
                                                                out, destinations, out_weights,
                                                                info, reorder, comm),
                                comm, seed, "graph");
}

/* The two sides know the tag and, afterwards, each other. */
API int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm between, int remote, int tag,
                             MPI_Comm *comm)
{
    return communicator_created(
        PMPI_Intercomm_create(local, leader, between, remote, tag, comm), comm,
        mpi_tracing ? key_mix(key_mix(rank_job_key(), 5), (uint64_t)tag) : 0, "intercommunicator");
}

API int MPI_Intercomm_merge(MPI_Comm inter, int high, MPI_Comm *comm)
{
    uint64_t seed = SEED(inter);
    return communicator_created(PMPI_Intercomm_merge(inter, high, comm), comm, seed, "merged");
}
