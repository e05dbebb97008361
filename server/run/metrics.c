#include "server/run/metrics.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* ---- series ---- */

struct os_metric_name {
    char *name, *unit;
    bool grows;
    int64_t scale;
};

struct os_metrics_store {
    struct os_metric_series *items;
    size_t count, room;
    struct map at; /* thread or process, metric -> 1 + index */
    struct os_metric_name *names;
    size_t name_count, name_room;
    struct map name_at; /* process, metric -> 1 + index */
    int64_t *latest; /* by process: time of its newest sample */
    size_t latest_count, latest_room;
};

static void os_metrics_free(void *state)
{
    struct os_metrics_store *all = state;
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

/* Flag in the key of a process's series.  The key of a thread's series is its line, which is
 * unique in the run. */
#define OF_PROCESS 0x80000000u

static uint64_t os_metrics_owner_key(uint32_t process, uint32_t thread)
{
    return thread ? thread : (uint64_t)process << 32 | OF_PROCESS;
}

static const struct os_metrics_store *os_metrics_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_OS_METRICS);
}

static struct os_metrics_store *os_metrics_for_run(struct run *run)
{
    return run_addon_make(&run->addons, RUN_ADDON_OS_METRICS, sizeof(struct os_metrics_store),
                          os_metrics_free);
}

static struct os_metric_series *os_metrics_series_of(struct os_metrics_store *all,
                                                     const struct os_metric_series *of)
{
    uint64_t place = os_metrics_owner_key(of->process, of->thread);
    return MAP_ITEM(&all->at, place, of->meter, all->items, all->count, all->room,
                    (struct os_metric_series){.process = of->process,
                                              .thread = of->thread,
                                              .meter = of->meter,
                                              .least = INT64_MAX,
                                              .most = INT64_MIN});
}

/* Removes every other point except the last one. */
static void os_metrics_thin_points(struct os_metric_series *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (i % 2 == 0 || i == s->count - 1)
            s->points[kept++] = s->points[i];
    s->count = kept;
    s->apart_ns = 2 * (s->points[kept - 1].at_ns - s->points[0].at_ns) / OS_METRICS_POINTS;
}

static void os_metrics_note_latest(struct os_metrics_store *all, uint32_t process, int64_t at_ns)
{
    if (process == OS_METRICS_NO_PROCESS)
        return;
    if (process >= all->latest_count) {
        all->latest =
            array_reserve(all->latest, &all->latest_room, process + 1u, sizeof *all->latest);
        while (all->latest_count <= process)
            all->latest[all->latest_count++] = INT64_MIN;
    }
    if (at_ns > all->latest[process])
        all->latest[process] = at_ns;
}

int os_metric_series_compare(const struct os_metric_series *x, const struct os_metric_series *y)
{
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->meter < y->meter ? -1 : x->meter > y->meter;
}

void os_metrics_add(struct run *run, const struct os_metric_series *of,
                    struct os_metric_point point)
{
    struct os_metrics_store *all = os_metrics_for_run(run);
    struct os_metric_series *s = os_metrics_series_of(all, of);
    bool over =
        s->exact && !of->exact; /* an ended process is sampled until its parent waits for it */
    while (of->exact && s->count && s->points[s->count - 1].at_ns > point.at_ns)
        s->count--; /* it was received earlier, but sampled after the final value */
    if (over || (s->count && point.at_ns < s->points[s->count - 1].at_ns))
        return;
    os_metrics_note_latest(all, of->process, point.at_ns);
    s->samples++;
    s->exact = of->exact;
    s->most = point.value > s->most ? point.value : s->most;
    s->least = point.value < s->least ? point.value : s->least;
    if (s->count > 1 && s->points[s->count - 1].at_ns - s->points[s->count - 2].at_ns < s->apart_ns)
        s->count--; /* replaces the newest point, which is too close to the one before it */
    if (s->count == OS_METRICS_POINTS)
        os_metrics_thin_points(s);
    if (!(s->count & (s->count - 1)))
        s->points =
            xreallocarray(s->points, s->count ? 2 * (size_t)s->count : 1, sizeof *s->points);
    s->points[s->count++] = point;
}

void os_metrics_name(struct run *run, uint32_t process, uint32_t meter, struct os_metric_kind as)
{
    struct os_metrics_store *all = os_metrics_for_run(run);
    struct os_metric_name *to = MAP_ITEM(&all->name_at, process, meter, all->names, all->name_count,
                                         all->name_room, (struct os_metric_name){0}),
                          before = *to;
    *to = (struct os_metric_name){xstrdup(as.name), xstrdup(as.unit), as.grows, as.scale};
    free(before.name);
    free(before.unit);
}

static struct os_metric_kind os_metrics_named_meter(const struct run *run,
                                                    const struct os_metric_series *s)
{
    const struct os_metrics_store *all = os_metrics_of(run);
    uintptr_t known = (uintptr_t)map_get(&all->name_at, s->process, s->meter);
    const struct os_metric_name *n = known ? &all->names[known - 1] : NULL;
    return n ? (struct os_metric_kind){n->name, n->unit, n->grows, n->scale ? n->scale : 1}
             : (struct os_metric_kind){"unnamed", "", false, 1};
}

struct os_metric_kind os_metrics_meter(const struct run *run, const struct os_metric_series *s)
{
    static const struct os_metric_kind usage[] = {
#define U(number, NAME, name, unit, grows) {name, unit, grows, 1},
        USAGES(U)
#undef U
    };
    if (s->meter < USAGE_METERS)
        return usage[s->meter];
    if (s->meter >= USAGE_NO_COUNTER && s->meter < USAGE_NO_COUNTER + USAGE_METERS)
        return usage[s->meter - USAGE_NO_COUNTER];
    if (s->meter == OS_METRICS_HEAP_LIVE)
        return (struct os_metric_kind){"heap_live", "bytes", false, 1};
    if (s->meter == OS_METRICS_HEAP_BLOCKS)
        return (struct os_metric_kind){"heap_blocks", "", false, 1};
    return os_metrics_named_meter(run, s);
}

size_t os_metrics_count(const struct run *run)
{
    const struct os_metrics_store *all = os_metrics_of(run);
    return all ? all->count : 0;
}

const struct os_metric_series *os_metrics_at(const struct run *run, size_t i)
{
    return &os_metrics_of(run)->items[i];
}

const struct os_metric_series *os_metrics_find(const struct run *run, uint32_t process,
                                               uint32_t thread, uint32_t meter)
{
    const struct os_metrics_store *all = os_metrics_of(run);
    uintptr_t known =
        all ? (uintptr_t)map_get(&all->at, os_metrics_owner_key(process, thread), meter) : 0;
    return known ? &all->items[known - 1] : NULL;
}

int64_t os_metrics_until_ns(const struct run *run, const struct os_metric_series *s)
{
    int64_t last = s->count ? s->points[s->count - 1].at_ns : INT64_MIN;
    bool there = s->process == OS_METRICS_NO_PROCESS ||
                 (s->process < run->processes.count && run->processes.items[s->process].connected);
    const struct os_metrics_store *all = os_metrics_of(run);
    int64_t until = s->process < all->latest_count ? all->latest[s->process] : last;
    if (s->exact)
        return last;
    if (there && run->clock.last_ns > until && !os_metrics_meter(run, s).grows)
        until = run->clock.last_ns;
    return until > last ? until : last;
}

/* ---- metrics of programs ---- */

struct program_metrics {
    struct program_metric_name *names;
    size_t name_count, name_room;
    struct program_metric_sums *sums;
    size_t sum_count, sum_room;
    struct program_metric_samples *samples;
    size_t sample_count, sample_room;
    /* session, and code with the thread's -> 1 + index */
    struct map name_at, sum_at, sample_at;
};

static void program_metrics_free(void *state)
{
    struct program_metrics *m = state;
    for (size_t i = 0; i < m->name_count; i++) {
        free(m->names[i].name);
        free(m->names[i].unit);
    }
    free(m->names);
    free(m->sums);
    free(m->samples);
    map_free(&m->name_at);
    map_free(&m->sum_at);
    map_free(&m->sample_at);
    free(m);
}

static const struct program_metrics *program_metrics_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_PROGRAM_METRICS);
}

static struct program_metrics *program_metrics_for_run(struct run *run)
{
    return run_addon_make(&run->addons, RUN_ADDON_PROGRAM_METRICS, sizeof(struct program_metrics),
                          program_metrics_free);
}

void program_metrics_declare(struct run *run, const struct program_metric_name *name)
{
    struct program_metrics *m = program_metrics_for_run(run);
    struct program_metric_name *to = MAP_ITEM(&m->name_at, name->session, name->code, m->names,
                                              m->name_count, m->name_room,
                                              (struct program_metric_name){0}),
                               before = *to;
    *to = *name;
    to->name = xstrdup(name->name);
    to->unit = xstrdup(name->unit);
    free(before.name);
    free(before.unit);
}

void program_metrics_count(struct run *run, const struct program_metric_sums *sums)
{
    struct program_metrics *m = program_metrics_for_run(run);
    uint64_t what = (uint64_t)sums->thread << 32 | sums->sums.code;
    struct program_metric_sums *to =
        MAP_ITEM(&m->sum_at, sums->session, what, m->sums, m->sum_count, m->sum_room, *sums);
    *to = *sums;
    to->unsaved = true;
}

static struct program_metric_samples *program_metrics_samples_of(struct program_metrics *m,
                                                                 uint32_t session, uint32_t code)
{
    return MAP_ITEM(&m->sample_at, session, code, m->samples, m->sample_count, m->sample_room,
                    (struct program_metric_samples){
                        .session = session, .code = code, .least = INT64_MAX, .most = INT64_MIN});
}

void program_metrics_sample(struct run *run, uint32_t session, uint32_t code, int64_t at_ns,
                            int64_t value)
{
    struct program_metric_samples *s =
        program_metrics_samples_of(program_metrics_for_run(run), session, code);
    if (s->count && at_ns > s->last_ns)
        s->total += (double)s->last * (double)(at_ns - s->last_ns);
    if (!s->count)
        s->first_ns = s->last_ns = at_ns;
    s->count++;
    s->last_ns = at_ns > s->last_ns ? at_ns : s->last_ns;
    s->last = value;
    s->least = value < s->least ? value : s->least;
    s->most = value > s->most ? value : s->most;
}

const struct program_metric_name *program_metrics_name(const struct run *run, uint32_t session,
                                                       uint32_t code)
{
    const struct program_metrics *all = program_metrics_of(run);
    size_t known = all ? (uintptr_t)map_get(&all->name_at, session, code) : 0;
    return known ? &all->names[known - 1] : NULL;
}

uint32_t program_metrics_code(const struct run *run, const char *name)
{
    for (size_t i = 0; i < program_metrics_names(run); i++) {
        const struct program_metric_name *known = program_metrics_name_at(run, i);
        if (known->session == PROGRAM_METRICS_NO_PROCESS && strcmp(known->name, name) == 0)
            return known->code;
    }
    return 0;
}

size_t program_metrics_names(const struct run *run)
{
    const struct program_metrics *all = program_metrics_of(run);
    return all ? all->name_count : 0;
}

const struct program_metric_name *program_metrics_name_at(const struct run *run, size_t i)
{
    return &program_metrics_of(run)->names[i];
}

size_t program_metrics_counted(const struct run *run)
{
    const struct program_metrics *all = program_metrics_of(run);
    return all ? all->sum_count : 0;
}

struct program_metric_sums *program_metrics_counted_at(const struct run *run, size_t i)
{
    return &program_metrics_of(run)->sums[i];
}

size_t program_metrics_sampled(const struct run *run)
{
    const struct program_metrics *all = program_metrics_of(run);
    return all ? all->sample_count : 0;
}

const struct program_metric_samples *program_metrics_sampled_at(const struct run *run, size_t i)
{
    return &program_metrics_of(run)->samples[i];
}

void program_metrics_save(struct run *run,
                          void (*save)(void *user, uint32_t session, uint32_t thread,
                                       const struct encoder *body),
                          void *user)
{
    struct encoder body = {0};
    for (size_t i = 0; i < program_metrics_counted(run); i++) {
        struct program_metric_sums *s = program_metrics_counted_at(run, i);
        if (!s->unsaved)
            continue;
        s->unsaved = false;
        body.size = 0;
        encode_u64(&body, s->time_ns);
        encode_u32(&body, 1);
        encode_metric_sums(&body, &s->sums);
        save(user, s->session, s->thread, &body);
    }
    encoder_free(&body);
}
