#include "server/measure/holds.h"

#include "memory/memory.h"

#include <stdlib.h>

static uint64_t last_of(const struct holds *holds, uint32_t line)
{
    return line <= holds->line_room ? holds->lines[line - 1].last - 1 : UINT64_MAX;
}

void holds_enter(struct holds *holds, const struct visiting *at, bool anew)
{
    struct hold *hold = map_get(&holds->inside, at->line, at->thread);
    if (hold && !anew)
        return;
    if (!hold) {
        hold = memory_zeroed(1, sizeof *hold);
        map_put(&holds->inside, at->line, at->thread, hold);
    }
    *hold = (struct hold){.entry = at->position,
                          .entry_ns = at->ns,
                          .before = last_of(holds, at->line),
                          .thread = at->thread,
                          .plain = at->plain};
}

bool holds_leave(struct holds *holds, const struct visiting *at)
{
    struct hold *hold = map_take(&holds->inside, at->line, at->thread);
    if (!hold)
        return false;
    holds->lines = grow_zeroed(holds->lines, &holds->line_room, at->line, sizeof *holds->lines);
    struct holds_line *l = &holds->lines[at->line - 1];
    if (l->count < HOLDS_KEPT)
        l->kept = grow(l->kept, &l->room, l->count + 1, sizeof *l->kept);
    hold->number = l->count;
    hold->exit = at->position;
    hold->exit_ns = at->ns;
    l->kept[l->count++ % HOLDS_KEPT] = *hold;
    free(hold);
    return true;
}

void holds_seen(struct holds *holds, uint32_t line, uint64_t position)
{
    if (line <= holds->line_room)
        holds->lines[line - 1].last = position + 1;
}

bool holds_before(const struct holds *holds, uint32_t line, const struct hold *hold,
                  struct hold *before)
{
    const struct holds_line *l = &holds->lines[line - 1];
    if (!hold->number || l->count - hold->number >= HOLDS_KEPT)
        return false;
    const struct hold *at = &l->kept[(hold->number - 1) % HOLDS_KEPT];
    if (at->exit != hold->before)
        return false;
    *before = *at;
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
