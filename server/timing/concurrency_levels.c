#include "server/timing/concurrency_levels.h"

#include "base/lower_bound.h"
#include "base/alloc.h"

#include <stdlib.h>

static void add_change(struct concurrency_levels *l, int64_t at_ns, int by)
{
    l->items = array_reserve(l->items, &l->room, l->count + 1, sizeof *l->items);
    l->items[l->count++] = (struct concurrency_level){.at_ns = at_ns, .running = by};
}

void levels_add(struct concurrency_levels *l, int64_t from_ns, int64_t to_ns)
{
    if (to_ns <= from_ns)
        return;
    add_change(l, from_ns, 1);
    add_change(l, to_ns, -1);
}

/* Adds a change up and one down for each time span in which the thread did not wait. */
static void add_thread(struct concurrency_levels *l, const struct thread_timeline *course)
{
    for (size_t i = 0, end; i < course->count; i = end) {
        end = i + 1;
        if (course->items[i].is != INTERVAL_RUNS)
            continue;
        while (end < course->count && course->items[end].is == INTERVAL_RUNS)
            end++;
        levels_add(l, interval_begin(course, i), course->items[end - 1].to_ns);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct concurrency_level *x = a, *y = b;
    return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* Sorts the changes, merges those of one time, and computes accumulated values. */
void levels_add_up(struct concurrency_levels *l)
{
    size_t count = 0;
    if (l->count)
        qsort(l->items, l->count, sizeof *l->items, by_time);
    for (size_t i = 0; i < l->count; i++) {
        struct concurrency_level *last = count ? &l->items[count - 1] : NULL, next = l->items[i];
        if (last && last->at_ns == next.at_ns) {
            last->running += next.running;
            continue;
        }
        next.running += last ? last->running : 0;
        next.above_ns =
            last ? last->above_ns + (last->running > 1 ? next.at_ns - last->at_ns : 0) : 0;
        l->items[count++] = next;
    }
    l->count = count;
}

void concurrency_levels_make(struct concurrency_levels *levels, const struct intervals *all)
{
    levels->count = 0;
    for (uint32_t i = 0; i < all->thread_count; i++)
        add_thread(levels, &all->threads[i]);
    levels_add_up(levels);
}

/* Returns the last change at or before a time, or NULL if there is none. */
static const struct concurrency_level *last_change(const struct concurrency_levels *l,
                                                   int64_t at_ns, size_t *near)
{
    size_t low = 0, high = l->count;
    if (*near < l->count && l->items[*near].at_ns <= at_ns)
        low = *near;
    for (size_t step = 1; low + step < high; step *= 2) /* it is usually near */
        if (l->items[low + step].at_ns > at_ns)
            high = low + step;
    low = LOWER_BOUND(i, low, high, l->items[i].at_ns <= at_ns);
    return low ? &l->items[*near = low - 1] : NULL;
}

int levels_running(const struct concurrency_levels *levels, int64_t at_ns, size_t *near)
{
    const struct concurrency_level *level = last_change(levels, at_ns, near);
    return level ? level->running : 0;
}

/* Returns for how long more than one thread had run up to a time. */
static int64_t concurrency_levels_parallel_ns(const struct concurrency_levels *l, int64_t at_ns,
                                              size_t *near)
{
    const struct concurrency_level *level = last_change(l, at_ns, near);
    if (!level)
        return 0;
    return level->above_ns + (level->running > 1 ? at_ns - level->at_ns : 0);
}

int64_t concurrency_levels_above(const struct concurrency_levels *levels, int64_t from_ns,
                                 int64_t to_ns, size_t *near)
{
    int64_t before = concurrency_levels_parallel_ns(levels, from_ns, near);
    return concurrency_levels_parallel_ns(levels, to_ns, near) - before;
}

void concurrency_levels_free(struct concurrency_levels *levels)
{
    free(levels->items);
    *levels = (struct concurrency_levels){0};
}
