#include "server/queries/uncertainty_sets.h"

#include "base/alloc.h"

static uint32_t number_of(struct uncertainty_sets_sent *sent, unsigned reason, uint64_t kind)
{
    if (!kind)
        return 0;
    uintptr_t known = (uintptr_t)map_get(&sent->number, kind, reason);
    if (!known) {
        known = ++sent->count[reason];
        map_put(&sent->number, kind, reason, (void *)known);
    }
    return (uint32_t)known;
}

void uncertainty_sets_encode(struct uncertainty_sets_sent *sent, const struct order *order,
                             uint32_t set, struct causal_edges_info *to)
{
    if (set == ANY_DOUBTS || map_get(&sent->known, set, 0))
        return;
    map_put(&sent->known, set, 0, sent);
    struct uncertainty_info doubts = {.doubts = set};
    for (unsigned reason = 1; reason < UNTRACED_COUNT; reason++)
        doubts.kinds[reason] = number_of(sent, reason, order_uncertainty_kind(order, set, reason));
    to->doubts = array_reserve(to->doubts, &sent->room, to->doubts_count + 1u, sizeof *to->doubts);
    to->doubts[to->doubts_count++] = doubts;
}

void uncertainty_sets_free(struct uncertainty_sets_sent *sent)
{
    map_free(&sent->known);
    map_free(&sent->number);
    *sent = (struct uncertainty_sets_sent){0};
}
