#include "server/run/usage.h"

#include "memory/map.h"
#include "memory/memory.h"

#include <stdlib.h>

struct usage {
    struct usage_series *series;
    size_t count, room;
    struct map at; /* thread or process, meter -> 1 + index */
};

void usage_free(struct usage *usage)
{
    if (!usage)
        return;
    for (size_t i = 0; i < usage->count; i++)
        free(usage->series[i].points);
    free(usage->series);
    map_free(&usage->at);
    free(usage);
}

/* Lines are those of the run, so that a thread's says which process it is in. */
#define OF_PROCESS 0x80000000u

static struct usage_series *series_of(struct run *run, const struct usage_series *of)
{
    if (!run->usage)
        run->usage = memory_zeroed(1, sizeof *run->usage);
    struct usage *u = run->usage;
    uint64_t whose = of->thread ? of->thread : (uint64_t)of->process << 32 | OF_PROCESS;
    uintptr_t known = (uintptr_t)map_get(&u->at, whose, of->meter);
    if (known)
        return &u->series[known - 1];
    u->series = grow(u->series, &u->room, u->count + 1, sizeof *u->series);
    u->series[u->count++] = (struct usage_series){
        .process = of->process, .thread = of->thread, .meter = of->meter, .least = UINT64_MAX};
    map_put(&u->at, whose, of->meter, (void *)(uintptr_t)u->count);
    return &u->series[u->count - 1];
}

/* Every other point goes, but for the last one. */
static void thin(struct usage_series *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (i % 2 == 0 || i == s->count - 1)
            s->points[kept++] = s->points[i];
    s->count = kept;
    s->apart_ns = 2 * (s->points[kept - 1].at_ns - s->points[0].at_ns) / USAGE_POINTS;
}

void usage_add(struct run *run, const struct usage_series *of, struct usage_point point)
{
    struct usage_series *s = series_of(run, of);
    bool over =
        s->exact && !of->exact; /* a process that has ended is there until it is waited for */
    while (of->exact && s->count && s->points[s->count - 1].at_ns > point.at_ns)
        s->count--; /* a sample that was taken meanwhile is told first */
    if (over || (s->count && point.at_ns < s->points[s->count - 1].at_ns))
        return;
    s->samples++;
    s->exact = of->exact;
    s->most = point.value > s->most ? point.value : s->most;
    s->least = point.value < s->least ? point.value : s->least;
    if (s->count > 1 && s->points[s->count - 1].at_ns - s->points[s->count - 2].at_ns < s->apart_ns)
        s->count--; /* what was newest is too near to the one before it */
    if (s->count == USAGE_POINTS)
        thin(s);
    if (!(s->count & (s->count - 1)))
        s->points =
            memory_resized(s->points, s->count ? 2 * (size_t)s->count : 1, sizeof *s->points);
    s->points[s->count++] = point;
}

size_t usage_count(const struct run *run) { return run->usage ? run->usage->count : 0; }

const struct usage_series *usage_series_at(const struct run *run, size_t i)
{
    return &run->usage->series[i];
}

const struct usage_series *usage_find(const struct run *run, uint32_t thread,
                                      enum usage_meter meter)
{
    uintptr_t known = run->usage ? (uintptr_t)map_get(&run->usage->at, thread, meter) : 0;
    return known ? &run->usage->series[known - 1] : NULL;
}
