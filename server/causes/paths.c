#include "server/causes/paths.h"

#include "server/causes/ladder.h"

#include <stdlib.h>

#define DEEPEST 8192 /* threads that wait one for the other */

static void stretch(struct paths *paths, struct tally *tally, enum path_is which, uint32_t line,
                    int64_t from_ns, int64_t to_ns, uint32_t depth);

static const struct course_of *course(const struct paths *paths, uint32_t line, uint32_t *index)
{
    const struct course_of *found = intervals_of(paths->all, line);
    *index = found ? (uint32_t)(found - paths->all->threads) : UINT32_MAX;
    return found;
}

uint32_t paths_pair(struct paths *paths, uint32_t line, uint32_t step)
{
    uint32_t index;
    course(paths, line, &index);
    return pairs_code(&paths->pairs, index, line, step);
}

void paths_know(struct paths *paths, uint64_t overlap, uint64_t reasons)
{
    const uint64_t lists[PATHS] = {overlap, reasons};
    for (enum path_is which = 0; which < PATHS; which++) {
        paths->lists[which] = grow(paths->lists[which], &paths->list_room[which], paths->known + 1,
                                   sizeof *paths->lists[which]);
        paths->lists[which][paths->known] = lists[which];
    }
    paths->known++;
}

/* A part of one interval. */
static void part(struct paths *paths, struct tally *tally, uint32_t index, size_t i,
                 int64_t from_ns, int64_t to_ns, uint32_t depth)
{
    const struct course_of *c = &paths->all->threads[index];
    const struct interval *interval = &c->items[i];
    if (interval->is != INTERVAL_SEGMENT) {
        paths->visited++;
        tally_add(tally, pairs_code(&paths->pairs, index, c->thread, interval->step),
                  to_ns - from_ns);
        return;
    }
    uint32_t other = paths->all->segments[interval->of].thread;
    stretch(paths, tally, PATH_OVERLAP, other, from_ns, to_ns, depth + 1);
}

/* The intervals from..to, whole. */
static void walk(struct paths *paths, struct tally *tally, enum path_is which, uint32_t index,
                 size_t from, size_t to, uint32_t depth)
{
    const struct course_of *c = &paths->all->threads[index];
    for (size_t i = from; i < to; i++) {
        const struct interval *interval = &c->items[i];
        if (interval->is != INTERVAL_SEGMENT || interval->of >= paths->known) {
            part(paths, tally, index, i, interval_begin(c, i), interval->to_ns, depth);
            continue;
        }
        struct bag_reader reader = bag_open(&paths->bag, paths->lists[which][interval->of]);
        paths->visited += reader.left + 1;
        for (struct share share; bag_next(&reader, &share);)
            tally_add(tally, share.pair, share.ns);
    }
}

static void whole(struct paths *paths, struct tally *tally, enum path_is which, uint32_t index,
                  size_t from, size_t to, uint32_t depth)
{
    size_t low, high;
    if (!ladder_between(paths, index, from, to, &low, &high)) {
        walk(paths, tally, which, index, from, to, depth);
        return;
    }
    const struct rung *rungs = paths->ladders[index].rungs;
    walk(paths, tally, which, index, from, rungs[low].at, depth);
    ladder_difference(paths, tally, which, index, low, high);
    walk(paths, tally, which, index, rungs[high].at, to, depth);
}

/* ---- steps between two events: their order is not known ---- */

static bool is_of_calls(const struct paths *paths, const struct interval *i)
{
    const struct steps *steps = &paths->all->steps;
    return i->step && i->step <= steps->count && steps_at(steps, i->step).is == STEP_CALLS;
}

static bool same_stretch(const struct paths *paths, const struct course_of *c, size_t i, size_t j)
{
    const struct interval *a = &c->items[i], *b = &c->items[j];
    return a->is == INTERVAL_RUNS && b->is == INTERVAL_RUNS && a->position == b->position &&
           (is_of_calls(paths, a) || is_of_calls(paths, b));
}

static size_t first_of(const struct paths *paths, const struct course_of *c, size_t i)
{
    while (i && same_stretch(paths, c, i - 1, i))
        i--;
    return i;
}

static size_t last_of(const struct paths *paths, const struct course_of *c, size_t i)
{
    while (i + 1 < c->count && same_stretch(paths, c, i, i + 1))
        i++;
    return i;
}

/* A part of the time from one event to the next: each step has its share of it. */
static void cut(struct paths *paths, struct tally *tally, uint32_t index, size_t i, int64_t from_ns,
                int64_t to_ns, uint32_t depth)
{
    const struct course_of *c = &paths->all->threads[index];
    size_t first = first_of(paths, c, i), last = last_of(paths, c, i);
    int64_t begin = interval_begin(c, first), all = c->items[last].to_ns - begin, given = 0;
    if (first == last) {
        part(paths, tally, index, i, from_ns, to_ns, depth);
        return;
    }
    for (size_t k = first; k <= last; k++) {
        int64_t by = (int64_t)((long double)(c->items[k].to_ns - begin) * (to_ns - from_ns) / all);
        by = k == last ? to_ns - from_ns : by;
        part(paths, tally, index, k, from_ns + given, from_ns + by, depth);
        given = by;
    }
}

/* Of what the thread lived; from..to lies within it. */
static void lived(struct paths *paths, struct tally *tally, enum path_is which, uint32_t index,
                  int64_t from_ns, int64_t to_ns, uint32_t depth)
{
    const struct course_of *c = &paths->all->threads[index];
    size_t first = ladder_near(paths, index, from_ns), last = ladder_near(paths, index, to_ns);
    size_t begins = first < c->count ? first_of(paths, c, first) : first,
           ends = last < c->count ? first_of(paths, c, last) : last;
    if (first < c->count && interval_begin(c, begins) < from_ns) {
        size_t through = last_of(paths, c, first);
        int64_t end_ns = c->items[through].to_ns;
        cut(paths, tally, index, first, from_ns, end_ns < to_ns ? end_ns : to_ns, depth);
        if (end_ns >= to_ns)
            return;
        first = through + 1;
    }
    whole(paths, tally, which, index, first, ends, depth);
    if (last < c->count && interval_begin(c, ends) < to_ns)
        cut(paths, tally, index, last, interval_begin(c, ends), to_ns, depth);
}

static void unknown(struct paths *paths, struct tally *tally, uint32_t line, uint32_t step,
                    int64_t ns)
{
    if (ns > 0)
        tally_add(tally, paths_pair(paths, line, step), ns);
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* What is in from..to since it began; returns when that was, or `to`, if later. */
static int64_t since_start(struct paths *paths, struct tally *tally, enum path_is which,
                           uint32_t index, int64_t from_ns, int64_t to_ns, uint32_t depth)
{
    const struct course_of *c = &paths->all->threads[index];
    if (c->start_ns == INTERVALS_NEVER || c->start_ns >= to_ns)
        return to_ns;
    int64_t reached = c->count ? c->items[c->count - 1].to_ns : c->start_ns;
    int64_t begin = later(from_ns, c->start_ns), end = later(begin, earlier(to_ns, reached));
    unknown(paths, tally, c->thread, STEP_NOT_THERE, to_ns - end);
    if (begin < end)
        lived(paths, tally, which, index, begin, end, depth);
    return c->start_ns;
}

static bool followed(struct paths *paths, uint32_t depth)
{
    if (depth > DEEPEST || !paths->fuel)
        return false;
    paths->fuel--;
    return true;
}

static void stretch(struct paths *paths, struct tally *tally, enum path_is which, uint32_t line,
                    int64_t from_ns, int64_t to_ns, uint32_t depth)
{
    while (from_ns < to_ns) {
        uint32_t index;
        const struct course_of *c = course(paths, line, &index);
        if (!c || !followed(paths, depth)) {
            unknown(paths, tally, line, STEP_NOT_THERE, to_ns - from_ns);
            return;
        }
        to_ns = since_start(paths, tally, which, index, from_ns, to_ns, depth);
        if (!c->maker || c->made_ns == INTERVALS_NEVER) {
            unknown(paths, tally, line, c->born ? STEP_STARTING : STEP_NOT_THERE, to_ns - from_ns);
            return;
        }
        int64_t made = earlier(c->made_ns, to_ns);
        unknown(paths, tally, line, STEP_STARTING, to_ns - later(made, from_ns));
        to_ns = made;
        line = c->maker;
        depth++;
    }
}

void paths_add(struct paths *paths, struct tally *tally, enum path_is which, uint32_t line,
               int64_t from_ns, int64_t to_ns)
{
    stretch(paths, tally, which, line, from_ns, to_ns, 0);
}

void paths_free(struct paths *paths)
{
    for (enum path_is which = 0; which < PATHS; which++)
        free(paths->lists[which]);
    for (size_t i = 0; i < paths->ladder_count; i++)
        free(paths->ladders[i].rungs);
    free(paths->ladders);
    pairs_free(&paths->pairs);
    bag_free(&paths->bag);
    sums_free(&paths->sums);
    *paths = (struct paths){0};
}
