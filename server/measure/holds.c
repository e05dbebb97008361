#include "server/measure/holds.h"

#include "memory/memory.h"

#include <stdlib.h>

void holds_enter(struct holds *holds, uint32_t line, uint32_t thread, uint64_t position,
                 int64_t at_ns, bool anew)
{
    struct hold *hold = map_get(&holds->inside, line, thread);
    if (hold && !anew)
        return;
    if (!hold) {
        hold = memory_zeroed(1, sizeof *hold);
        map_put(&holds->inside, line, thread, hold);
    }
    *hold = (struct hold){.entry = position, .entry_ns = at_ns};
}

bool holds_leave(struct holds *holds, uint32_t line, uint32_t thread, uint64_t position)
{
    struct hold *hold = map_take(&holds->inside, line, thread);
    if (!hold)
        return false;
    holds->lines = grow_zeroed(holds->lines, &holds->line_room, line, sizeof *holds->lines);
    struct holds_line *l = &holds->lines[line - 1];
    if (l->count < HOLDS_KEPT)
        l->kept = grow(l->kept, &l->room, l->count + 1, sizeof *l->kept);
    hold->exit = position;
    l->kept[l->count++ % HOLDS_KEPT] = *hold;
    free(hold);
    return true;
}

/* They ended in the order of the log. */
bool holds_ended(const struct holds *holds, uint32_t line, uint64_t position, struct hold *hold)
{
    if (!line || line > holds->line_room)
        return false;
    const struct holds_line *l = &holds->lines[line - 1];
    uint64_t low = l->count > HOLDS_KEPT ? l->count - HOLDS_KEPT : 0, high = l->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const struct hold *at = &l->kept[middle % HOLDS_KEPT];
        if (at->exit == position) {
            *hold = *at;
            return true;
        }
        if (at->exit < position)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

void holds_free(struct holds *holds)
{
    for (size_t i = 0; i < holds->line_room; i++)
        free(holds->lines[i].kept);
    free(holds->lines);
    for (struct map_walk walk = {.map = &holds->inside}; map_next(&walk);)
        free(walk.value);
    map_free(&holds->inside);
    *holds = (struct holds){0};
}
