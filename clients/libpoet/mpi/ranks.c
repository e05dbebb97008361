/* The ranks of MPI_COMM_WORLD, and the lines of their main threads. */
#include "clients/libpoet/mpi/ranks.h"

#include "clients/libpoet/mpi/tracing_state.h"
#include "clients/libpoet/key_mixing.h"

#include <mpi.h>
#include <stdio.h>

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
