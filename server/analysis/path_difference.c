#include "server/analysis/path_difference.h"

#include "server/analysis/prefix_sums.h"

#include <stdlib.h>

#define DEEPEST 8192 /* maximum length of a chain of threads that wait for each other */

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

/* ---- code segments between two events, whose order is not known ---- */

static bool is_of_calls(const struct path_difference *paths, const struct interval *i)
{
    const struct code_segments *steps = &paths->all->steps;
    return i->step && i->step <= steps->count && code_segments_at(steps, i->step).is == STEP_CALLS;
}

static bool same_stretch(const struct path_difference *paths, const struct thread_timeline *c,
                         size_t i, size_t j)
{
    const struct interval *a = &c->items[i], *b = &c->items[j];
    return a->is == INTERVAL_RUNS && b->is == INTERVAL_RUNS && a->position == b->position &&
           (is_of_calls(paths, a) || is_of_calls(paths, b));
}

static size_t first_of(const struct path_difference *paths, const struct thread_timeline *c,
                       size_t i)
{
    while (i && same_stretch(paths, c, i - 1, i))
        i--;
    return i;
}

static size_t last_of(const struct path_difference *paths, const struct thread_timeline *c,
                      size_t i)
{
    while (i + 1 < c->count && same_stretch(paths, c, i, i + 1))
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
    size_t first = first_of(paths, c, i), last = last_of(paths, c, i);
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
    size_t first = prefix_sums_near(paths, index, from_ns),
           last = prefix_sums_near(paths, index, to_ns);
    size_t begins = first < c->count ? first_of(paths, c, first) : first,
           ends = last < c->count ? first_of(paths, c, last) : last;
    if (first < c->count && interval_begin(c, begins) < from_ns) {
        size_t through = last_of(paths, c, first);
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

static int64_t path_difference_max(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t path_difference_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* Adds what lies in from..to and after the thread's start; returns the time of the start, or `to`
 * if the start is later. */
static int64_t since_start(struct path_difference *paths, struct accumulator *tally,
                           enum path_list_kind which, uint32_t index, int64_t from_ns,
                           int64_t to_ns, uint32_t depth)
{
    const struct thread_timeline *c = &paths->all->threads[index];
    if (c->start_ns == INTERVALS_NEVER || c->start_ns >= to_ns)
        return to_ns;
    int64_t reached = c->count ? c->items[c->count - 1].to_ns : c->start_ns;
    int64_t begin = path_difference_max(from_ns, c->start_ns),
            end = path_difference_max(begin, path_difference_min(to_ns, reached));
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
        to_ns = since_start(paths, tally, which, index, from_ns, to_ns, depth);
        if (!c->maker || c->made_ns == INTERVALS_NEVER) {
            path_difference_add_unknown(paths, tally, line,
                                        c->born ? STEP_STARTING : STEP_NOT_THERE, to_ns - from_ns);
            return;
        }
        int64_t made = path_difference_min(c->made_ns, to_ns);
        path_difference_add_unknown(paths, tally, line, STEP_STARTING,
                                    to_ns - path_difference_max(made, from_ns));
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
