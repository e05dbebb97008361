#include "server/analysis/path_difference.h"

#include "base/extremes.h"
#include "base/lower_bound.h"

#include <stdlib.h>

#define DEEPEST 8192 /* maximum length of a chain of threads that wait for each other */

/* ---- prefix sums ---- */

#define SPACING 64 /* intervals between two prefix sums */
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

size_t path_difference_near(struct path_difference *paths, uint32_t index, int64_t at_ns)
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
    return ladder->near = LOWER_BOUND(i, low, high, course->items[i].to_ns <= at_ns);
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
static size_t prefix_sums_rung_from(const struct prefix_sums *ladder, size_t interval)
{
    return LOWER_BOUND(i, 0, ladder->count, ladder->rungs[i].at < interval);
}

/* Returns whether two prefix sums lie between the intervals; sets *low to the first and *high to
 * the last of them. */
static bool prefix_sums_between(struct path_difference *paths, uint32_t index, size_t from,
                                size_t to, size_t *low, size_t *high)
{
    if (to < from + 2 * (size_t)prefix_sums_spacing(paths))
        return false;
    prefix_sums_build(paths, index, to);
    const struct prefix_sums *ladder = &paths->ladders[index];
    *low = prefix_sums_rung_from(ladder, from);
    *high = prefix_sums_rung_from(ladder, to + 1);
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

/* Adds the difference of two prefix sums. */
static void prefix_sums_difference(struct path_difference *paths, struct accumulator *tally,
                                   enum path_list_kind which, uint32_t index, size_t low,
                                   size_t high)
{
    struct prefix_target into = {paths, tally};
    const struct prefix_sum *rungs = paths->ladders[index].rungs;
    persistent_map_difference(&rungs[high].sums[which], &rungs[low].sums[which],
                              prefix_sums_add_entry, &into);
}

/* ---- sums of a span ---- */

static void path_difference_add_stretch(struct path_difference *paths, struct accumulator *tally,
                                        enum path_list_kind which, uint32_t line, int64_t from_ns,
                                        int64_t to_ns, uint32_t depth);

static const struct thread_timeline *path_difference_timeline(const struct path_difference *paths,
                                                              uint32_t line, uint32_t *index)
{
    const struct thread_timeline *found = intervals_for_thread(paths->all, line);
    *index = found ? (uint32_t)(found - paths->all->threads) : UINT32_MAX;
    return found;
}

uint32_t path_difference_pair(struct path_difference *paths, uint32_t line, uint32_t step)
{
    uint32_t index;
    path_difference_timeline(paths, line, &index);
    return segment_ids_get(&paths->pairs, index, line, step);
}

void path_difference_store(struct path_difference *paths, uint64_t overlap, uint64_t reasons)
{
    const uint64_t lists[PATHS] = {overlap, reasons};
    for (enum path_list_kind which = 0; which < PATHS; which++) {
        paths->lists[which] = array_reserve(paths->lists[which], &paths->list_room[which],
                                            paths->known + 1, sizeof *paths->lists[which]);
        paths->lists[which][paths->known] = lists[which];
    }
    paths->known++;
}

/* Adds a part of one interval: its code segment or, of a wait interval, what the awaited thread
 * did. */
static void path_difference_add_part(struct path_difference *paths, struct accumulator *tally,
                                     uint32_t index, size_t i, int64_t from_ns, int64_t to_ns,
                                     uint32_t depth)
{
    const struct thread_timeline *c = &paths->all->threads[index];
    const struct interval *interval = &c->items[i];
    if (interval->is != INTERVAL_SEGMENT) {
        paths->visited++;
        accumulator_add(tally, segment_ids_get(&paths->pairs, index, c->thread, interval->step),
                        to_ns - from_ns);
        return;
    }
    uint32_t other = paths->all->segments[interval->of].thread;
    path_difference_add_stretch(paths, tally, PATH_OVERLAP, other, from_ns, to_ns, depth + 1);
}

/* Adds whole intervals from..to - 1; for wait intervals that are known their stored lists. */
static void path_difference_add_intervals(struct path_difference *paths, struct accumulator *tally,
                                          enum path_list_kind which, uint32_t index, size_t from,
                                          size_t to, uint32_t depth)
{
    const struct thread_timeline *c = &paths->all->threads[index];
    for (size_t i = from; i < to; i++) {
        const struct interval *interval = &c->items[i];
        if (interval->is != INTERVAL_SEGMENT || interval->of >= paths->known) {
            path_difference_add_part(paths, tally, index, i, interval_begin(c, i), interval->to_ns,
                                     depth);
            continue;
        }
        struct list_pool_reader reader =
            list_pool_open(&paths->bag, paths->lists[which][interval->of]);
        paths->visited += reader.left + 1;
        for (struct path_share share; list_pool_next(&reader, &share);)
            accumulator_add(tally, share.pair, share.ns);
    }
}

static void path_difference_add_range(struct path_difference *paths, struct accumulator *tally,
                                      enum path_list_kind which, uint32_t index, size_t from,
                                      size_t to, uint32_t depth)
{
    size_t low, high;
    if (!prefix_sums_between(paths, index, from, to, &low, &high)) {
        path_difference_add_intervals(paths, tally, which, index, from, to, depth);
        return;
    }
    const struct prefix_sum *rungs = paths->ladders[index].rungs;
    path_difference_add_intervals(paths, tally, which, index, from, rungs[low].at, depth);
    prefix_sums_difference(paths, tally, which, index, low, high);
    path_difference_add_intervals(paths, tally, which, index, rungs[high].at, to, depth);
}

/* ---- code segments between two events, in an order that is not known ---- */

static bool path_difference_is_of_calls(const struct path_difference *paths,
                                        const struct interval *i)
{
    const struct code_segments *steps = &paths->all->steps;
    return i->step && i->step <= steps->count && code_segments_at(steps, i->step).is == STEP_CALLS;
}

static bool path_difference_is_same_stretch(const struct path_difference *paths,
                                            const struct thread_timeline *c, size_t i, size_t j)
{
    const struct interval *a = &c->items[i], *b = &c->items[j];
    return a->is == INTERVAL_RUNS && b->is == INTERVAL_RUNS && a->position == b->position &&
           (path_difference_is_of_calls(paths, a) || path_difference_is_of_calls(paths, b));
}

static size_t path_difference_first_of(const struct path_difference *paths,
                                       const struct thread_timeline *c, size_t i)
{
    while (i && path_difference_is_same_stretch(paths, c, i - 1, i))
        i--;
    return i;
}

static size_t path_difference_last_of(const struct path_difference *paths,
                                      const struct thread_timeline *c, size_t i)
{
    while (i + 1 < c->count && path_difference_is_same_stretch(paths, c, i, i + 1))
        i++;
    return i;
}

/* Adds a part of the time between two events: of each code segment a proportional share, as their
 * order is not known. */
static void path_difference_add_code_segment(struct path_difference *paths,
                                             struct accumulator *tally, uint32_t index, size_t i,
                                             int64_t from_ns, int64_t to_ns, uint32_t depth)
{
    const struct thread_timeline *c = &paths->all->threads[index];
    size_t first = path_difference_first_of(paths, c, i),
           last = path_difference_last_of(paths, c, i);
    int64_t begin = interval_begin(c, first), all = c->items[last].to_ns - begin, given = 0;
    if (first == last) {
        path_difference_add_part(paths, tally, index, i, from_ns, to_ns, depth);
        return;
    }
    for (size_t k = first; k <= last; k++) {
        int64_t by = (int64_t)((long double)(c->items[k].to_ns - begin) * (to_ns - from_ns) / all);
        by = k == last ? to_ns - from_ns : by;
        path_difference_add_part(paths, tally, index, k, from_ns + given, from_ns + by, depth);
        given = by;
    }
}

/* Adds a part of the thread's lifetime; from..to must lie within it. */
static void path_difference_add_lifetime(struct path_difference *paths, struct accumulator *tally,
                                         enum path_list_kind which, uint32_t index, int64_t from_ns,
                                         int64_t to_ns, uint32_t depth)
{
    const struct thread_timeline *c = &paths->all->threads[index];
    size_t first = path_difference_near(paths, index, from_ns),
           last = path_difference_near(paths, index, to_ns);
    size_t begins = first < c->count ? path_difference_first_of(paths, c, first) : first,
           ends = last < c->count ? path_difference_first_of(paths, c, last) : last;
    if (first < c->count && interval_begin(c, begins) < from_ns) {
        size_t through = path_difference_last_of(paths, c, first);
        int64_t end_ns = c->items[through].to_ns;
        path_difference_add_code_segment(paths, tally, index, first, from_ns,
                                         end_ns < to_ns ? end_ns : to_ns, depth);
        if (end_ns >= to_ns)
            return;
        first = through + 1;
    }
    path_difference_add_range(paths, tally, which, index, first, ends, depth);
    if (last < c->count && interval_begin(c, ends) < to_ns)
        path_difference_add_code_segment(paths, tally, index, last, interval_begin(c, ends), to_ns,
                                         depth);
}

static void path_difference_add_unknown(struct path_difference *paths, struct accumulator *tally,
                                        uint32_t line, uint32_t step, int64_t ns)
{
    if (ns > 0)
        accumulator_add(tally, path_difference_pair(paths, line, step), ns);
}

/* Adds what lies in from..to and after the thread's start; returns the time of the start, or `to`
 * if the start is later. */
static int64_t path_difference_add_since_start(struct path_difference *paths,
                                               struct accumulator *tally, enum path_list_kind which,
                                               uint32_t index, int64_t from_ns, int64_t to_ns,
                                               uint32_t depth)
{
    const struct thread_timeline *c = &paths->all->threads[index];
    if (c->start_ns == INTERVALS_NEVER || c->start_ns >= to_ns)
        return to_ns;
    int64_t reached = c->count ? c->items[c->count - 1].to_ns : c->start_ns;
    int64_t begin = int64_max(from_ns, c->start_ns),
            end = int64_max(begin, int64_min(to_ns, reached));
    path_difference_add_unknown(paths, tally, c->thread, STEP_NOT_THERE, to_ns - end);
    if (begin < end)
        path_difference_add_lifetime(paths, tally, which, index, begin, end, depth);
    return c->start_ns;
}

static bool path_difference_may_follow(struct path_difference *paths, uint32_t depth)
{
    if (depth > DEEPEST || !paths->fuel)
        return false;
    paths->fuel--;
    return true;
}

static void path_difference_add_stretch(struct path_difference *paths, struct accumulator *tally,
                                        enum path_list_kind which, uint32_t line, int64_t from_ns,
                                        int64_t to_ns, uint32_t depth)
{
    while (from_ns < to_ns) {
        uint32_t index;
        const struct thread_timeline *c = path_difference_timeline(paths, line, &index);
        if (!c || !path_difference_may_follow(paths, depth)) {
            path_difference_add_unknown(paths, tally, line, STEP_NOT_THERE, to_ns - from_ns);
            return;
        }
        to_ns = path_difference_add_since_start(paths, tally, which, index, from_ns, to_ns, depth);
        if (!c->maker || c->made_ns == INTERVALS_NEVER) {
            path_difference_add_unknown(paths, tally, line,
                                        c->born ? STEP_STARTING : STEP_NOT_THERE, to_ns - from_ns);
            return;
        }
        int64_t made = int64_min(c->made_ns, to_ns);
        path_difference_add_unknown(paths, tally, line, STEP_STARTING,
                                    to_ns - int64_max(made, from_ns));
        to_ns = made;
        line = c->maker;
        depth++;
    }
}

void path_difference_add(struct path_difference *paths, struct accumulator *tally,
                         enum path_list_kind which, uint32_t line, int64_t from_ns, int64_t to_ns)
{
    path_difference_add_stretch(paths, tally, which, line, from_ns, to_ns, 0);
}

void path_difference_free(struct path_difference *paths)
{
    for (enum path_list_kind which = 0; which < PATHS; which++)
        free(paths->lists[which]);
    for (size_t i = 0; i < paths->ladder_count; i++)
        free(paths->ladders[i].rungs);
    free(paths->ladders);
    segment_ids_free(&paths->pairs);
    list_pool_free(&paths->bag);
    persistent_map_free(&paths->sums);
    *paths = (struct path_difference){0};
}
