#include "server/answer/explained.h"

#include "config/target.h"
#include "memory/memory.h"
#include "server/answer/measured.h"

#include <stdlib.h>

struct explained {
    struct why by[SINCE_MEETING + 1]; /* by how far back one looks */
    uint64_t again; /* as what was measured had begun */
};

static void empty(struct explained *e)
{
    for (unsigned i = 0; i <= SINCE_MEETING; i++)
        why_free(&e->by[i]);
}

static void free_explained(struct explained *e)
{
    if (e)
        empty(e);
    free(e);
}

static struct explained *explained(const struct run *run)
{
    struct run *cache = (struct run *)(uintptr_t)run; /* nothing that is told of it changes */
    if (!cache->explained) {
        cache->explained = memory_zeroed(1, sizeof *cache->explained);
        cache->explained_free = free_explained;
    }
    struct explained *e = cache->explained;
    if (e->again != measured_again(run))
        empty(e);
    e->again = measured_again(run);
    for (unsigned i = 0; i <= SINCE_MEETING; i++) {
        e->by[i].since = (enum since)i;
        e->by[i].paths.all = measured_known(run);
    }
    return e;
}

bool explained_learn(const struct run *run, enum since since, uint64_t *budget)
{
    struct why *why = &explained(run)->by[since];
    uint64_t before = why->paths.visited;
    bool whole = why_go_on(why, *budget);
    uint64_t spent = why->paths.visited - before;
    *budget = whole && spent < *budget ? *budget - spent : 0;
    return whole;
}

struct why *explained_known(const struct run *run, enum since since)
{
    return &explained(run)->by[since];
}

uint64_t explained_communication(void)
{
    return 1ull << CATEGORY_SEND | 1ull << CATEGORY_RECEIVE | 1ull << CATEGORY_LOCK |
           1ull << CATEGORY_SYSTEM;
}
