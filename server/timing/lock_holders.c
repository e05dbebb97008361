#include "server/timing/lock_holders.h"

#include "base/alloc.h"

#include <stdlib.h>

static uint64_t last_of(const struct lock_holders *holds, uint32_t line)
{
    return line <= holds->line_room ? holds->lines[line - 1].last - 1 : UINT64_MAX;
}

static struct lock_holders_line *line_of(struct lock_holders *holds, uint32_t line)
{
    holds->lines =
        array_reserve_zeroed(holds->lines, &holds->line_room, line, sizeof *holds->lines);
    return &holds->lines[line - 1];
}

/* Returns the critical section of a thread on a line, or NULL.  Usually at most one thread is in a
 * line; then the map is not needed. */
static struct lock_hold *lock_holders_current_holder(const struct lock_holders *holds,
                                                     const struct lock_holders_line *l,
                                                     const struct lock_visit *at)
{
    if (l->is_first && l->first->thread == at->thread)
        return l->first;
    return l->others ? map_get(&holds->others, at->line, at->thread) : NULL;
}

static struct lock_hold *lock_holders_enter_line(struct lock_holders *holds,
                                                 struct lock_holders_line *l,
                                                 const struct lock_visit *at)
{
    if (!l->is_first) {
        l->is_first = true;
        return l->first ? l->first : (l->first = xmalloc(sizeof *l->first));
    }
    struct lock_hold *hold = xmalloc(sizeof *hold);
    map_put(&holds->others, at->line, at->thread, hold);
    l->others++;
    return hold;
}

void lock_holders_enter(struct lock_holders *holds, const struct lock_visit *at, bool restart)
{
    struct lock_holders_line *l = line_of(holds, at->line);
    struct lock_hold *hold = lock_holders_current_holder(holds, l, at);
    if (hold && !restart)
        return;
    if (!hold)
        hold = lock_holders_enter_line(holds, l, at);
    *hold = (struct lock_hold){.entry = at->position,
                               .entry_ns = at->ns,
                               .before = last_of(holds, at->line),
                               .thread = at->thread,
                               .plain = at->plain};
}

static void lock_holders_leave_line(struct lock_holders *holds, struct lock_holders_line *l,
                                    struct lock_hold *hold)
{
    if (hold == l->first) {
        l->is_first = false;
        return;
    }
    free(map_remove(&holds->others, (uint64_t)(l - holds->lines) + 1, hold->thread));
    l->others--;
}

/* Returns the next slot; the ring grows until it has its final size. */
static struct lock_hold *lock_holders_next_slot(struct lock_holders *holds,
                                                struct lock_holders_line *l)
{
    if (l->count == l->room && !l->most) {
        size_t had = l->room;
        if (had >= LOCK_HOLDERS_KEPT ||
            (had >= LOCK_HOLDERS_FEW && holds->kept > LOCK_HOLDERS_MANY))
            l->most = had;
        else
            l->kept = array_reserve(l->kept, &l->room, l->count + 1, sizeof *l->kept);
        holds->kept += l->room - had;
    }
    return &l->kept[l->count & (l->room - 1)];
}

bool lock_holders_leave(struct lock_holders *holds, const struct lock_visit *at)
{
    struct lock_holders_line *l = line_of(holds, at->line);
    struct lock_hold *hold = lock_holders_current_holder(holds, l, at);
    if (!hold)
        return false;
    hold->number = l->count;
    hold->exit = at->position;
    hold->exit_ns = at->ns;
    *lock_holders_next_slot(holds, l) = *hold;
    l->count++;
    lock_holders_leave_line(holds, l, hold);
    return true;
}

void lock_holders_seen(struct lock_holders *holds, uint32_t line, uint64_t position)
{
    if (line <= holds->line_room)
        holds->lines[line - 1].last = position + 1;
}

bool lock_holders_before(const struct lock_holders *holds, uint32_t line,
                         const struct lock_hold *hold, struct lock_hold *before)
{
    const struct lock_holders_line *l = &holds->lines[line - 1];
    if (!hold->number || l->count - hold->number >= l->room)
        return false;
    const struct lock_hold *at = &l->kept[(hold->number - 1) & (l->room - 1)];
    if (at->exit != hold->before)
        return false;
    *before = *at;
    return true;
}

/* Binary search, as critical sections are sorted by their end; the first probe is the last one,
 * which is usually requested. */
bool lock_holders_ended(const struct lock_holders *holds, uint32_t line, uint64_t position,
                        struct lock_hold *hold)
{
    if (!line || line > holds->line_room)
        return false;
    const struct lock_holders_line *l = &holds->lines[line - 1];
    uint64_t low = l->count > l->room ? l->count - l->room : 0, high = l->count;
    for (uint64_t middle = high - 1; low < high; middle = low + (high - low) / 2) {
        const struct lock_hold *at = &l->kept[middle & (l->room - 1)];
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

void lock_holders_free(struct lock_holders *holds)
{
    for (size_t i = 0; i < holds->line_room; i++) {
        free(holds->lines[i].kept);
        free(holds->lines[i].first);
    }
    free(holds->lines);
    for (struct map_walk walk = {.map = &holds->others}; map_next(&walk);)
        free(walk.value);
    map_free(&holds->others);
    *holds = (struct lock_holders){0};
}
