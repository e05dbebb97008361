#include "server/queries/partial_run.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/run/event_times.h"

#include <stdlib.h>

#define AROUND_MOST (1u << 20)

#define SWAP(a, b)                                                                                 \
    do {                                                                                           \
        __typeof__(a) swapped = (a);                                                               \
        (a) = (b);                                                                                 \
        (b) = swapped;                                                                             \
    } while (0)

static void partial_run_swap_caches(const struct run *run, struct partial_run *apart)
{
    /* the run's contents do not change, only its caches */
    struct run *cache = (struct run *)(uintptr_t)run;
    SWAP(cache->measured, apart->measured);
    SWAP(cache->explained, apart->explained);
    SWAP(cache->basis, apart->basis);
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

void partial_run_free(const struct run *run, struct partial_run *apart)
{
    if (!apart)
        return;
    if (apart->measured)
        run->measured_free(apart->measured);
    if (apart->explained)
        run->explained_free(apart->explained);
    if (apart->basis)
        run->basis_free(apart->basis);
    free(apart);
}
