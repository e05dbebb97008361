#include "server/run/figures.h"

#include "memory/map.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct named {
    char *name, *unit;
    bool grows;
    int64_t scale;
};

struct all_figures {
    struct figures *items;
    size_t count, room;
    struct map at; /* thread or process, meter -> 1 + index */
    struct named *names;
    size_t name_count, name_room;
    struct map name_at; /* process, meter -> 1 + index */
    int64_t *latest; /* by process: of all that was told of it */
    size_t latest_count, latest_room;
};

void figures_free(struct all_figures *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->count; i++)
        free(all->items[i].points);
    for (size_t i = 0; i < all->name_count; i++) {
        free(all->names[i].name);
        free(all->names[i].unit);
    }
    free(all->items);
    free(all->names);
    free(all->latest);
    map_free(&all->at);
    map_free(&all->name_at);
    free(all);
}

/* Lines are those of the run, so that a thread's says which process it is in. */
#define OF_PROCESS 0x80000000u

static uint64_t whose(uint32_t process, uint32_t thread)
{
    return thread ? thread : (uint64_t)process << 32 | OF_PROCESS;
}

static struct all_figures *all_of(struct run *run)
{
    if (!run->figures)
        run->figures = memory_zeroed(1, sizeof *run->figures);
    return run->figures;
}

static struct figures *figures_of(struct all_figures *all, const struct figures *of)
{
    uint64_t place = whose(of->process, of->thread);
    uintptr_t known = (uintptr_t)map_get(&all->at, place, of->meter);
    if (known)
        return &all->items[known - 1];
    all->items = grow(all->items, &all->room, all->count + 1, sizeof *all->items);
    all->items[all->count++] = (struct figures){.process = of->process,
                                                .thread = of->thread,
                                                .meter = of->meter,
                                                .least = INT64_MAX,
                                                .most = INT64_MIN};
    map_put(&all->at, place, of->meter, (void *)(uintptr_t)all->count);
    return &all->items[all->count - 1];
}

/* Every other point goes, but for the last one. */
static void thin(struct figures *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (i % 2 == 0 || i == s->count - 1)
            s->points[kept++] = s->points[i];
    s->count = kept;
    s->apart_ns = 2 * (s->points[kept - 1].at_ns - s->points[0].at_ns) / FIGURES_POINTS;
}

static void note_latest(struct all_figures *all, uint32_t process, int64_t at_ns)
{
    if (process == FIGURES_NOBODY)
        return;
    if (process >= all->latest_count) {
        all->latest = grow(all->latest, &all->latest_room, process + 1u, sizeof *all->latest);
        while (all->latest_count <= process)
            all->latest[all->latest_count++] = INT64_MIN;
    }
    if (at_ns > all->latest[process])
        all->latest[process] = at_ns;
}

void figures_add(struct run *run, const struct figures *of, struct figures_point point)
{
    struct all_figures *all = all_of(run);
    struct figures *s = figures_of(all, of);
    bool over =
        s->exact && !of->exact; /* a process that has ended is there until it is waited for */
    while (of->exact && s->count && s->points[s->count - 1].at_ns > point.at_ns)
        s->count--; /* a sample that was taken meanwhile is told first */
    if (over || (s->count && point.at_ns < s->points[s->count - 1].at_ns))
        return;
    note_latest(all, of->process, point.at_ns);
    s->samples++;
    s->exact = of->exact;
    s->most = point.value > s->most ? point.value : s->most;
    s->least = point.value < s->least ? point.value : s->least;
    if (s->count > 1 && s->points[s->count - 1].at_ns - s->points[s->count - 2].at_ns < s->apart_ns)
        s->count--; /* what was newest is too near to the one before it */
    if (s->count == FIGURES_POINTS)
        thin(s);
    if (!(s->count & (s->count - 1)))
        s->points =
            memory_resized(s->points, s->count ? 2 * (size_t)s->count : 1, sizeof *s->points);
    s->points[s->count++] = point;
}

void figures_name(struct run *run, uint32_t process, uint32_t meter, struct figures_meter as)
{
    struct all_figures *all = all_of(run);
    uintptr_t known = (uintptr_t)map_get(&all->name_at, process, meter);
    if (!known) {
        all->names = grow(all->names, &all->name_room, all->name_count + 1, sizeof *all->names);
        all->names[all->name_count++] = (struct named){0};
        known = all->name_count;
        map_put(&all->name_at, process, meter, (void *)known);
    }
    struct named *to = &all->names[known - 1], before = *to;
    *to = (struct named){memory_copied(as.name), memory_copied(as.unit), as.grows, as.scale};
    free(before.name);
    free(before.unit);
}

static struct figures_meter named_meter(const struct run *run, const struct figures *s)
{
    uintptr_t known = (uintptr_t)map_get(&run->figures->name_at, s->process, s->meter);
    const struct named *n = known ? &run->figures->names[known - 1] : NULL;
    return n ? (struct figures_meter){n->name, n->unit, n->grows, n->scale ? n->scale : 1}
             : (struct figures_meter){"unnamed", "", false, 1};
}

struct figures_meter figures_meter(const struct run *run, const struct figures *s)
{
    static const struct figures_meter usage[] = {
#define U(number, NAME, name, unit, grows) {name, unit, grows, 1},
        USAGES(U)
#undef U
    };
    if (s->meter < USAGE_METERS)
        return usage[s->meter];
    if (s->meter == FIGURES_HEAP_LIVE)
        return (struct figures_meter){"heap_live", "bytes", false, 1};
    if (s->meter == FIGURES_HEAP_BLOCKS)
        return (struct figures_meter){"heap_blocks", "", false, 1};
    return named_meter(run, s);
}

size_t figures_count(const struct run *run) { return run->figures ? run->figures->count : 0; }

const struct figures *figures_at(const struct run *run, size_t i)
{
    return &run->figures->items[i];
}

const struct figures *figures_find(const struct run *run, uint32_t process, uint32_t thread,
                                   uint32_t meter)
{
    uintptr_t known =
        run->figures ? (uintptr_t)map_get(&run->figures->at, whose(process, thread), meter) : 0;
    return known ? &run->figures->items[known - 1] : NULL;
}

int64_t figures_until_ns(const struct run *run, const struct figures *s)
{
    int64_t last = s->count ? s->points[s->count - 1].at_ns : INT64_MIN;
    bool there = s->process == FIGURES_NOBODY ||
                 (s->process < run->process_count && run->processes[s->process].connected);
    int64_t until =
        s->process < run->figures->latest_count ? run->figures->latest[s->process] : last;
    if (s->exact)
        return last;
    if (there && run->last_ns > until && !figures_meter(run, s).grows)
        until = run->last_ns;
    return until > last ? until : last;
}
