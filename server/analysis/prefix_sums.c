#include "server/analysis/prefix_sums.h"

#define SPACING 256 /* intervals between two prefix sums */
#define ROOM ((size_t)32 << 20) /* bytes of sums per doubling of the spacing */

static struct prefix_sums *prefix_sums_for_thread(struct path_difference *paths, uint32_t index)
{
    if (index >= paths->ladder_count) {
        paths->ladders = array_reserve_zeroed(paths->ladders, &paths->ladder_room, index + 1,
                                              sizeof *paths->ladders);
        paths->ladder_count = index + 1;
    }
    return &paths->ladders[index];
}

static size_t prefix_sums_find_interval(const struct thread_timeline *course, size_t from,
                                        size_t to, int64_t at_ns)
{
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (course->items[middle].to_ns <= at_ns)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

size_t prefix_sums_near(struct path_difference *paths, uint32_t index, int64_t at_ns)
{
    const struct thread_timeline *course = &paths->all->threads[index];
    struct prefix_sums *ladder = prefix_sums_for_thread(paths, index);
    size_t near = ladder->near < course->count ? ladder->near : course->count, low = near,
           high = near;
    if (near < course->count && course->items[near].to_ns <= at_ns)
        for (size_t far = 1; high < course->count && course->items[high].to_ns <= at_ns; far *= 2) {
            low = high;
            high = course->count - high > far ? high + far : course->count;
        }
    else
        for (size_t far = 1; low && course->items[low - 1].to_ns > at_ns; far *= 2) {
            high = low;
            low = low > far ? low - far : 0;
        }
    return ladder->near = prefix_sums_find_interval(course, low, high, at_ns);
}

static uint32_t prefix_sums_spacing(const struct path_difference *paths)
{
    return paths->spacing ? paths->spacing
                          : (uint32_t)SPACING
                                << (paths->sums.bytes / ROOM < 16 ? paths->sums.bytes / ROOM : 16);
}

static void prefix_sums_add_interval(struct path_difference *paths, struct prefix_sums *ladder,
                                     uint32_t index, size_t i)
{
    const struct thread_timeline *course = &paths->all->threads[index];
    const struct interval *interval = &course->items[i];
    if (interval->is == INTERVAL_SEGMENT) {
        for (enum path_list_kind which = 0; which < PATHS; which++) {
            struct list_pool_reader reader =
                list_pool_open(&paths->bag, paths->lists[which][interval->of]);
            for (struct path_share share; list_pool_next(&reader, &share);)
                persistent_map_add(&paths->sums, &ladder->head[which], share.pair, share.ns);
        }
        return;
    }
    uint32_t pair = segment_ids_get(&paths->pairs, index, course->thread, interval->step);
    for (enum path_list_kind which = 0; which < PATHS; which++)
        persistent_map_add(&paths->sums, &ladder->head[which], pair,
                           interval->to_ns - interval_begin(course, i));
}

static void prefix_sums_save_rung(struct path_difference *paths, struct prefix_sums *ladder,
                                  size_t at)
{
    ladder->rungs =
        array_reserve(ladder->rungs, &ladder->room, ladder->count + 1, sizeof *ladder->rungs);
    struct prefix_sum *rung = &ladder->rungs[ladder->count++];
    rung->at = at;
    for (enum path_list_kind which = 0; which < PATHS; which++) {
        rung->sums[which] = ladder->head[which];
        persistent_map_snapshot(&paths->sums, &ladder->head[which]);
    }
}

/* Returns whether all intervals from..to - 1 are known.  It suffices to look at the last wait
 * interval: those of a thread become known in the order of the log. */
static bool prefix_sums_is_known(const struct path_difference *paths, uint32_t index, size_t from,
                                 size_t to)
{
    const struct interval *items = paths->all->threads[index].items;
    for (size_t i = to; i-- > from;)
        if (items[i].is == INTERVAL_SEGMENT)
            return items[i].of < paths->known;
    return true;
}

/* Adds prefix sums up to `to`, as far as the intervals before them are known. */
static void prefix_sums_build(struct path_difference *paths, uint32_t index, size_t to)
{
    struct prefix_sums *ladder = prefix_sums_for_thread(paths, index);
    if (!ladder->count)
        prefix_sums_save_rung(paths, ladder, 0);
    for (;;) {
        size_t at = ladder->rungs[ladder->count - 1].at, next = at + prefix_sums_spacing(paths);
        if (next > to || !prefix_sums_is_known(paths, index, at, next))
            return;
        for (size_t i = at; i < next; i++)
            prefix_sums_add_interval(paths, ladder, index, i);
        paths->visited += next - at;
        prefix_sums_save_rung(paths, ladder, next);
    }
}

/* Returns the index of the first prefix sum at or after an interval. */
static size_t rung_from(const struct prefix_sums *ladder, size_t interval)
{
    size_t from = 0, to = ladder->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (ladder->rungs[middle].at < interval)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

bool prefix_sums_between(struct path_difference *paths, uint32_t index, size_t from, size_t to,
                         size_t *low, size_t *high)
{
    if (to < from + 2 * (size_t)prefix_sums_spacing(paths))
        return false;
    prefix_sums_build(paths, index, to);
    const struct prefix_sums *ladder = &paths->ladders[index];
    *low = rung_from(ladder, from);
    *high = rung_from(ladder, to + 1);
    return (*high)-- > *low + 1;
}

struct prefix_target {
    struct path_difference *paths;
    struct accumulator *tally;
};

static void prefix_sums_add_entry(void *context, uint32_t key, int64_t ns)
{
    const struct prefix_target *into = context;
    into->paths->visited++;
    accumulator_add(into->tally, key, ns);
}

void prefix_sums_difference(struct path_difference *paths, struct accumulator *tally,
                            enum path_list_kind which, uint32_t index, size_t low, size_t high)
{
    struct prefix_target into = {paths, tally};
    const struct prefix_sum *rungs = paths->ladders[index].rungs;
    persistent_map_difference(&rungs[high].sums[which], &rungs[low].sums[which],
                              prefix_sums_add_entry, &into);
}
