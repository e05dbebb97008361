#include "server/measure/holds.h"

#include "memory/memory.h"

#include <stdlib.h>

static uint64_t last_of(const struct holds *holds, uint32_t line)
{
    return line <= holds->line_room ? holds->lines[line - 1].last - 1 : UINT64_MAX;
}

static struct holds_line *line_of(struct holds *holds, uint32_t line)
{
    holds->lines = grow_zeroed(holds->lines, &holds->line_room, line, sizeof *holds->lines);
    return &holds->lines[line - 1];
}

/* Mostly one thread at most is in a line, and nothing is looked up. */
static struct hold *inside(const struct holds *holds, const struct holds_line *l,
                           const struct visiting *at)
{
    if (l->is_first && l->first->thread == at->thread)
        return l->first;
    return l->others ? map_get(&holds->others, at->line, at->thread) : NULL;
}

static struct hold *come_in(struct holds *holds, struct holds_line *l, const struct visiting *at)
{
    if (!l->is_first) {
        l->is_first = true;
        return l->first ? l->first : (l->first = memory_bytes(sizeof *l->first));
    }
    struct hold *hold = memory_bytes(sizeof *hold);
    map_put(&holds->others, at->line, at->thread, hold);
    l->others++;
    return hold;
}

void holds_enter(struct holds *holds, const struct visiting *at, bool anew)
{
    struct holds_line *l = line_of(holds, at->line);
    struct hold *hold = inside(holds, l, at);
    if (hold && !anew)
        return;
    if (!hold)
        hold = come_in(holds, l, at);
    *hold = (struct hold){.entry = at->position,
                          .entry_ns = at->ns,
                          .before = last_of(holds, at->line),
                          .thread = at->thread,
                          .plain = at->plain};
}

static void go_out(struct holds *holds, struct holds_line *l, struct hold *hold)
{
    if (hold == l->first) {
        l->is_first = false;
        return;
    }
    free(map_take(&holds->others, (uint64_t)(l - holds->lines) + 1, hold->thread));
    l->others--;
}

/* Where there is no room in the ring yet, it grows, or is as large as it will be. */
static struct hold *next(struct holds *holds, struct holds_line *l)
{
    if (l->count == l->room && !l->most) {
        size_t had = l->room;
        if (had >= HOLDS_KEPT || (had >= HOLDS_FEW && holds->kept > HOLDS_MANY))
            l->most = had;
        else
            l->kept = grow(l->kept, &l->room, l->count + 1, sizeof *l->kept);
        holds->kept += l->room - had;
    }
    return &l->kept[l->count & (l->room - 1)];
}

bool holds_leave(struct holds *holds, const struct visiting *at)
{
    struct holds_line *l = line_of(holds, at->line);
    struct hold *hold = inside(holds, l, at);
    if (!hold)
        return false;
    hold->number = l->count;
    hold->exit = at->position;
    hold->exit_ns = at->ns;
    *next(holds, l) = *hold;
    l->count++;
    go_out(holds, l, hold);
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
    if (!hold->number || l->count - hold->number >= l->room)
        return false;
    const struct hold *at = &l->kept[(hold->number - 1) & (l->room - 1)];
    if (at->exit != hold->before)
        return false;
    *before = *at;
    return true;
}

/* They ended in the order of the log; mostly it is the last one that is looked for. */
bool holds_ended(const struct holds *holds, uint32_t line, uint64_t position, struct hold *hold)
{
    if (!line || line > holds->line_room)
        return false;
    const struct holds_line *l = &holds->lines[line - 1];
    uint64_t low = l->count > l->room ? l->count - l->room : 0, high = l->count;
    for (uint64_t middle = high - 1; low < high; middle = low + (high - low) / 2) {
        const struct hold *at = &l->kept[middle & (l->room - 1)];
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
    for (size_t i = 0; i < holds->line_room; i++) {
        free(holds->lines[i].kept);
        free(holds->lines[i].first);
    }
    free(holds->lines);
    for (struct map_walk walk = {.map = &holds->others}; map_next(&walk);)
        free(walk.value);
    map_free(&holds->others);
    *holds = (struct holds){0};
}
