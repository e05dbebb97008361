#include "server/answer/doubts.h"

#include "memory/memory.h"

static uint32_t number_of(struct doubts_told *told, unsigned reason, uint64_t kind)
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

void doubts_tell(struct doubts_told *told, const struct order *order, uint32_t set,
                 struct shown_causes *to)
{
    if (set == ANY_DOUBTS || map_get(&told->known, set, 0))
        return;
    map_put(&told->known, set, 0, told);
    struct shown_doubts doubts = {.doubts = set};
    for (unsigned reason = 1; reason < UNSEEN_COUNT; reason++)
        doubts.kinds[reason] = number_of(told, reason, order_doubts_kind(order, set, reason));
    to->doubts = grow(to->doubts, &told->room, to->doubts_count + 1u, sizeof *to->doubts);
    to->doubts[to->doubts_count++] = doubts;
}

void doubts_told_free(struct doubts_told *told)
{
    map_free(&told->known);
    map_free(&told->number);
    *told = (struct doubts_told){0};
}
