#include "server/run/conflicts.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>

struct conflicts {
    struct conflict *items;
    size_t count, room;
    struct map unexamined; /* process, reason -> count */
};

static void conflicts_free(void *state)
{
    struct conflicts *all = state;
    free(all->items);
    map_free(&all->unexamined);
    free(all);
}

static struct conflicts *conflicts_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_CONFLICTS);
}

static struct conflicts *conflicts_make(struct run *run)
{
    return run_addon_make(&run->addons, RUN_ADDON_CONFLICTS, sizeof(struct conflicts),
                          conflicts_free);
}

void conflicts_add(struct run *run, const struct conflict *conflict)
{
    struct conflicts *all = conflicts_make(run);
    if (all->count >= CONFLICTS_MOST) {
        uintptr_t more = (uintptr_t)map_get(&all->unexamined, UINT32_MAX, UNEXAMINED_CONFLICTS);
        map_put(&all->unexamined, UINT32_MAX, UNEXAMINED_CONFLICTS, (void *)(more + 1));
        return;
    }
    all->items = array_reserve(all->items, &all->room, all->count + 1, sizeof *all->items);
    all->items[all->count++] = *conflict;
    run->generation++;
}

size_t conflicts_count(const struct run *run)
{
    const struct conflicts *all = conflicts_of(run);
    return all ? all->count : 0;
}

const struct conflict *conflicts_at(const struct run *run, size_t i)
{
    return &conflicts_of(run)->items[i];
}

bool conflicts_examined(const struct run *run) { return conflicts_of(run) != NULL; }

void conflicts_note_unexamined(struct run *run, uint32_t process, enum unexamined why,
                               uint64_t count)
{
    struct conflicts *all = conflicts_make(run);
    if (count)
        map_put(&all->unexamined, process, why, (void *)(uintptr_t)count);
    run->generation++;
}

uint64_t conflicts_unexamined(const struct run *run, enum unexamined why)
{
    const struct conflicts *all = conflicts_of(run);
    uint64_t sum = 0;
    if (!all)
        return 0;
    for (struct map_walk walk = {.map = &all->unexamined}; map_next(&walk);)
        if (walk.b == (uint64_t)why)
            sum += (uintptr_t)walk.value;
    return sum;
}
