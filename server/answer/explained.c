#include "server/answer/explained.h"

#include "config/target.h"
#include "memory/memory.h"
#include "server/answer/measured.h"

#include <stdlib.h>

#define KEPT_MOST 65536u /* groups that are kept */

struct explained {
    struct why by[SINCE_MEETING + 1]; /* by how far back one looks */
    uint64_t again; /* as what was measured had begun */
    struct groups kept; /* `why` NULL: none are */
};

static void empty(struct explained *e)
{
    for (unsigned i = 0; i <= SINCE_MEETING; i++)
        why_free(&e->by[i]);
    groups_free(&e->kept);
    e->kept.why = NULL;
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

static bool same(const struct groups *kept, const struct why *why, const struct grouping *g)
{
    const struct grouping *k = &kept->grouping;
    return kept->why == why && k->by == g->by && k->which == g->which && k->direct == g->direct &&
           k->object == g->object;
}

struct groups explained_take(const struct run *run, enum since since, struct grouping grouping)
{
    struct explained *e = explained(run);
    struct groups groups = {.why = &e->by[since],
                            .charges.communication = explained_communication()};
    if (same(&e->kept, &e->by[since], &grouping)) {
        groups = e->kept;
        e->kept = (struct groups){0};
    }
    groups.grouping = grouping;
    return groups;
}

void explained_give(const struct run *run, struct groups groups)
{
    struct explained *e = explained(run);
    groups_free(&e->kept);
    e->kept = groups;
    if (groups.count > KEPT_MOST) {
        groups_free(&e->kept);
        e->kept.why = NULL;
    }
}

uint64_t explained_communication(void)
{
    return 1ull << CATEGORY_SEND | 1ull << CATEGORY_RECEIVE | 1ull << CATEGORY_LOCK |
           1ull << CATEGORY_SYSTEM;
}
