#include "server/run/inherited_holds.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>

struct inherited_holds {
    struct inherited_hold *items;
    size_t count, room;
    struct map of_line; /* line -> 1 + index */
};

static void inherited_holds_free(void *state)
{
    struct inherited_holds *all = state;
    free(all->items);
    map_free(&all->of_line);
    free(all);
}

void inherited_holds_add(struct run *run, uint32_t line, struct inherited_hold hold)
{
    struct inherited_holds *all =
        run_addon_make(&run->addons, RUN_ADDON_INHERITED_HOLDS, sizeof *all, inherited_holds_free);
    if (map_get(&all->of_line, line, 0)) /* (each line is reported once, by sound programs) */
        return;
    all->items = array_reserve(all->items, &all->room, all->count + 1, sizeof *all->items);
    all->items[all->count++] = hold;
    map_put(&all->of_line, line, 0, (void *)(uintptr_t)all->count);
    run->generation++;
}

struct event_id inherited_holds_last(const struct run *run, uint32_t line)
{
    const struct inherited_holds *all = run_addon(&run->addons, RUN_ADDON_INHERITED_HOLDS);
    uintptr_t i = all ? (uintptr_t)map_get(&all->of_line, line, 0) : 0;
    if (!i || order_line_events(run->order, line))
        return (struct event_id){0, 0};
    const struct inherited_hold *hold = &all->items[i - 1];
    return (struct event_id){line_identity_get(&run->identities, hold->high, hold->low),
                             hold->number};
}
