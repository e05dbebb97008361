#include "server/causes/ladder.h"

#define SPACING 256 /* intervals between two rungs */
#define ROOM ((size_t)32 << 20) /* bytes of sums after which the distance doubles, and so on */

static struct ladder *of(struct paths *paths, uint32_t index)
{
    if (index >= paths->ladder_count) {
        paths->ladders =
            grow_zeroed(paths->ladders, &paths->ladder_room, index + 1, sizeof *paths->ladders);
        paths->ladder_count = index + 1;
    }
    return &paths->ladders[index];
}

static size_t between(const struct course_of *course, size_t from, size_t to, int64_t at_ns)
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

size_t ladder_near(struct paths *paths, uint32_t index, int64_t at_ns)
{
    const struct course_of *course = &paths->all->threads[index];
    struct ladder *ladder = of(paths, index);
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
    return ladder->near = between(course, low, high, at_ns);
}

static uint32_t spacing(const struct paths *paths)
{
    return paths->spacing ? paths->spacing
                          : (uint32_t)SPACING
                                << (paths->sums.bytes / ROOM < 16 ? paths->sums.bytes / ROOM : 16);
}

static void fold(struct paths *paths, struct ladder *ladder, uint32_t index, size_t i)
{
    const struct course_of *course = &paths->all->threads[index];
    const struct interval *interval = &course->items[i];
    if (interval->is == INTERVAL_SEGMENT) {
        for (enum path_is which = 0; which < PATHS; which++) {
            struct bag_reader reader = bag_open(&paths->bag, paths->lists[which][interval->of]);
            for (struct share share; bag_next(&reader, &share);)
                sums_add(&paths->sums, &ladder->head[which], share.pair, share.ns);
        }
        return;
    }
    uint32_t pair = pairs_code(&paths->pairs, index, course->thread, interval->step);
    for (enum path_is which = 0; which < PATHS; which++)
        sums_add(&paths->sums, &ladder->head[which], pair,
                 interval->to_ns - interval_begin(course, i));
}

static void keep(struct paths *paths, struct ladder *ladder, size_t at)
{
    ladder->rungs = grow(ladder->rungs, &ladder->room, ladder->count + 1, sizeof *ladder->rungs);
    struct rung *rung = &ladder->rungs[ladder->count++];
    rung->at = at;
    for (enum path_is which = 0; which < PATHS; which++) {
        rung->sums[which] = ladder->head[which];
        sums_keep(&paths->sums, &ladder->head[which]);
    }
}

/* Whether all up to the interval is known: segments become known in the order of the log, as a thread's do. */
static bool known(const struct paths *paths, uint32_t index, size_t from, size_t to)
{
    const struct interval *items = paths->all->threads[index].items;
    for (size_t i = to; i-- > from;)
        if (items[i].is == INTERVAL_SEGMENT)
            return items[i].of < paths->known;
    return true;
}

/* Adds rungs as far as there is room for them before `to`. */
static void build(struct paths *paths, uint32_t index, size_t to)
{
    struct ladder *ladder = of(paths, index);
    if (!ladder->count)
        keep(paths, ladder, 0);
    for (;;) {
        size_t at = ladder->rungs[ladder->count - 1].at, next = at + spacing(paths);
        if (next > to || !known(paths, index, at, next))
            return;
        for (size_t i = at; i < next; i++)
            fold(paths, ladder, index, i);
        paths->visited += next - at;
        keep(paths, ladder, next);
    }
}

/* The first rung not before an interval. */
static size_t rung_from(const struct ladder *ladder, size_t interval)
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

bool ladder_between(struct paths *paths, uint32_t index, size_t from, size_t to, size_t *low,
                    size_t *high)
{
    if (to < from + 2 * (size_t)spacing(paths))
        return false;
    build(paths, index, to);
    const struct ladder *ladder = &paths->ladders[index];
    *low = rung_from(ladder, from);
    *high = rung_from(ladder, to + 1);
    return (*high)-- > *low + 1;
}

struct into {
    struct paths *paths;
    struct tally *tally;
};

static void add(void *context, uint32_t key, int64_t ns)
{
    const struct into *into = context;
    into->paths->visited++;
    tally_add(into->tally, key, ns);
}

void ladder_difference(struct paths *paths, struct tally *tally, enum path_is which, uint32_t index,
                       size_t low, size_t high)
{
    struct into into = {paths, tally};
    const struct rung *rungs = paths->ladders[index].rungs;
    sums_difference(&rungs[high].sums[which], &rungs[low].sums[which], add, &into);
}
