#include "server/queries/partial_run.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/run/event_times.h"

#include <stdlib.h>

#define AROUND_MOST (1u << 20)
#define CACHES (sizeof((struct partial_run *)0)->caches / sizeof(struct run_addon))

static void partial_run_swap_caches(const struct run *run, struct partial_run *apart)
{
    /* the run's contents do not change, only its caches */
    struct run *cache = (struct run *)(uintptr_t)run;
    for (unsigned i = 0; i < CACHES; i++)
        run_addon_swap(&cache->addons, RUN_ADDON_INTERVALS + i, &apart->caches[i]);
}

static uint64_t partial_run_first_position(const struct run *run, int64_t from_ns, uint64_t around)
{
    uint64_t first = order_first(run->order);
    uint64_t at = from_ns == INT64_MIN ? first : event_times_position(run, from_ns);
    if (at - first <= around)
        return first;
    at = order_event(run->order, at - around).point;
    return at > first ? at : first;
}

static uint64_t partial_run_end_position(const struct run *run, int64_t to_ns, uint64_t around)
{
    uint64_t count = order_count(run->order);
    uint64_t at = to_ns == INT64_MAX ? count : event_times_position_after(run, to_ns);
    return count - at > around ? at + around : count;
}

struct partial_run *partial_run_new(const struct run *run, int64_t from_ns, int64_t to_ns,
                                    uint64_t around)
{
    struct partial_run *apart = xcalloc(1, sizeof *apart);
    around = around < AROUND_MOST ? around : AROUND_MOST;
    apart->first = partial_run_first_position(run, from_ns, around);
    apart->end = partial_run_end_position(run, to_ns, around);
    partial_run_enter(run, apart);
    interval_cache_begin(run, apart->first, apart->end);
    partial_run_leave(run, apart);
    return apart;
}

void partial_run_enter(const struct run *run, struct partial_run *apart)
{
    partial_run_swap_caches(run, apart);
}
void partial_run_leave(const struct run *run, struct partial_run *apart)
{
    partial_run_swap_caches(run, apart);
}

void partial_run_free(struct partial_run *apart)
{
    if (!apart)
        return;
    for (unsigned i = 0; i < CACHES; i++)
        run_addon_free(&apart->caches[i]);
    free(apart);
}
