#include "server/queries/attribution_cache.h"

#include "config/target.h"
#include "server/queries/interval_cache.h"

#include <stdlib.h>

#define KEPT_MOST 65536u /* maximum number of kept groups */

struct attribution_cache {
    struct wait_attribution by[SINCE_LAST_SYNC + 1]; /* by enum attribution_since */
    uint64_t again; /* generation of the intervals that it is based on */
    struct wait_groups kept; /* `why` is NULL if none are kept */
};

static void attribution_cache_clear(struct attribution_cache *e)
{
    for (unsigned i = 0; i <= SINCE_LAST_SYNC; i++)
        wait_attribution_free(&e->by[i]);
    wait_groups_free(&e->kept);
    e->kept.why = NULL;
}

static void attribution_cache_free(void *state)
{
    attribution_cache_clear(state);
    free(state);
}

static struct attribution_cache *attribution_cache_for_run(const struct run *run)
{
    /* the run's contents do not change, only its cache */
    struct run *cache = (struct run *)(uintptr_t)run;
    struct attribution_cache *e =
        run_addon_make(&cache->addons, RUN_ADDON_ATTRIBUTION, sizeof *e, attribution_cache_free);
    if (e->again != interval_cache_generation(run))
        attribution_cache_clear(e);
    e->again = interval_cache_generation(run);
    for (unsigned i = 0; i <= SINCE_LAST_SYNC; i++) {
        e->by[i].since = (enum attribution_since)i;
        e->by[i].paths.all = interval_cache_get(run);
    }
    return e;
}

bool attribution_cache_step(const struct run *run, enum attribution_since since, uint64_t *budget)
{
    struct wait_attribution *why = &attribution_cache_for_run(run)->by[since];
    uint64_t before = why->paths.visited;
    bool whole = wait_attribution_step(why, *budget);
    uint64_t spent = why->paths.visited - before;
    *budget = whole && spent < *budget ? *budget - spent : 0;
    return whole;
}

struct wait_attribution *attribution_cache_get(const struct run *run, enum attribution_since since)
{
    return &attribution_cache_for_run(run)->by[since];
}

static bool attribution_cache_is_same_grouping(const struct wait_groups *kept,
                                               const struct wait_attribution *why,
                                               const struct wait_grouping *g)
{
    const struct wait_grouping *k = &kept->grouping;
    return kept->why == why && k->by == g->by && k->which == g->which && k->direct == g->direct &&
           k->object == g->object;
}

struct wait_groups attribution_cache_acquire(const struct run *run, enum attribution_since since,
                                             struct wait_grouping grouping)
{
    struct attribution_cache *e = attribution_cache_for_run(run);
    struct wait_groups groups = {.why = &e->by[since],
                                 .charges.communication = attribution_cache_communication()};
    if (attribution_cache_is_same_grouping(&e->kept, &e->by[since], &grouping)) {
        groups = e->kept;
        e->kept = (struct wait_groups){0};
    }
    groups.grouping = grouping;
    return groups;
}

void attribution_cache_release(const struct run *run, struct wait_groups groups,
                               uint64_t generation)
{
    if (!generation || generation != interval_cache_generation(run)) {
        wait_groups_free(&groups);
        return;
    }
    struct attribution_cache *e = attribution_cache_for_run(run);
    wait_groups_free(&e->kept);
    e->kept = groups;
    if (groups.count > KEPT_MOST) {
        wait_groups_free(&e->kept);
        e->kept.why = NULL;
    }
}

uint64_t attribution_cache_communication(void)
{
    return 1ull << CATEGORY_SEND | 1ull << CATEGORY_RECEIVE | 1ull << CATEGORY_LOCK |
           1ull << CATEGORY_SYSTEM;
}
