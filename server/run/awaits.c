#include "server/run/awaits.h"

#include "base/map.h"
#include "base/alloc.h"

#include <stdlib.h>

struct awaits {
    struct await *items;
    size_t count, room;
    struct map after; /* line, number of an event -> 1 + index */
    bool *waiters; /* by line - 1: the thread has waits */
    size_t waiter_room;
};

static void awaits_free(void *state)
{
    struct awaits *awaits = state;
    free(awaits->items);
    map_free(&awaits->after);
    free(awaits->waiters);
    free(awaits);
}

static const struct awaits *awaits_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_AWAITS);
}

/* Records a wait.  It replaces an earlier one after the same event: the thread ran in between. */
void awaits_add(struct run *run, struct await await)
{
    struct awaits *all = run_addon_make(&run->addons, RUN_ADDON_AWAITS, sizeof *all, awaits_free);
    if (all->count >= AWAITS_MOST)
        return;
    all->items = array_reserve(all->items, &all->room, all->count + 1, sizeof *all->items);
    all->items[all->count++] = await;
    map_put(&all->after, await.after.line, await.after.number, (void *)(uintptr_t)all->count);
    all->waiters =
        array_reserve_zeroed(all->waiters, &all->waiter_room, await.thread, sizeof *all->waiters);
    all->waiters[await.thread - 1] = true;
    run->generation++;
}

size_t awaits_count(const struct run *run)
{
    const struct awaits *all = awaits_of(run);
    return all ? all->count : 0;
}

const struct await *awaits_at(const struct run *run, size_t i) { return &awaits_of(run)->items[i]; }

static const struct await *after(const struct awaits *all, const struct order_event *e)
{
    uintptr_t i = (uintptr_t)map_get(&all->after, e->line, e->number);
    return i && all->items[i - 1].thread == e->thread ? &all->items[i - 1] : NULL;
}

const struct await *awaits_after(const struct run *run, const struct order_event *e)
{
    const struct awaits *all = awaits_of(run);
    /* (few threads have waits, and most events are of the others) */
    if (!all || !e->thread || e->thread > all->waiter_room || !all->waiters[e->thread - 1])
        return NULL;
    const struct await *found = e->line ? after(all, e) : NULL;
    if (found || e->relation != RELATION_SYNC)
        return found;
    for (uint64_t p = e->point; p < e->point + 2 && !found; p++) {
        struct order_event other = p >= order_first(run->order) && p < order_count(run->order)
                                       ? order_event(run->order, p)
                                       : (struct order_event){0};
        if (other.line && other.point == e->point)
            found = after(all, &other);
    }
    return found;
}
