#include "server/queries/uncertainty_sets.h"

#include "base/alloc.h"

static uint32_t number_of(struct uncertainty_sets_sent *told, unsigned reason, uint64_t kind)
{
    if (!kind)
        return 0;
    uintptr_t known = (uintptr_t)map_get(&told->number, kind, reason);
    if (!known) {
        known = ++told->count[reason];
        map_put(&told->number, kind, reason, (void *)known);
    }
    return (uint32_t)known;
}

void uncertainty_sets_encode(struct uncertainty_sets_sent *told, const struct order *order,
                             uint32_t set, struct causal_edges_info *to)
{
    if (set == ANY_DOUBTS || map_get(&told->known, set, 0))
        return;
    map_put(&told->known, set, 0, told);
    struct uncertainty_info doubts = {.doubts = set};
    for (unsigned reason = 1; reason < UNTRACED_COUNT; reason++)
        doubts.kinds[reason] = number_of(told, reason, order_uncertainty_kind(order, set, reason));
    to->doubts = array_reserve(to->doubts, &told->room, to->doubts_count + 1u, sizeof *to->doubts);
    to->doubts[to->doubts_count++] = doubts;
}

void uncertainty_sets_free(struct uncertainty_sets_sent *told)
{
    map_free(&told->known);
    map_free(&told->number);
    *told = (struct uncertainty_sets_sent){0};
}
