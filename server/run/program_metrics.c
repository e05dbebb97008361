#include "server/run/program_metrics.h"

#include "base/map.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

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
    size_t known = (uintptr_t)map_get(&m->name_at, name->session, name->code);
    if (!known) {
        m->names = array_reserve(m->names, &m->name_room, m->name_count + 1, sizeof *m->names);
        m->names[m->name_count] = (struct program_metric_name){0};
        known = ++m->name_count;
        map_put(&m->name_at, name->session, name->code, (void *)(uintptr_t)known);
    }
    struct program_metric_name *to = &m->names[known - 1], before = *to;
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
    size_t known = (uintptr_t)map_get(&m->sum_at, sums->session, what);
    if (!known) {
        m->sums = array_reserve(m->sums, &m->sum_room, m->sum_count + 1, sizeof *m->sums);
        known = ++m->sum_count;
        map_put(&m->sum_at, sums->session, what, (void *)(uintptr_t)known);
    }
    m->sums[known - 1] = *sums;
    m->sums[known - 1].unsaved = true;
}

static struct program_metric_samples *samples_of(struct program_metrics *m, uint32_t session,
                                                 uint32_t code)
{
    size_t known = (uintptr_t)map_get(&m->sample_at, session, code);
    if (known)
        return &m->samples[known - 1];
    m->samples =
        array_reserve(m->samples, &m->sample_room, m->sample_count + 1, sizeof *m->samples);
    m->samples[m->sample_count++] = (struct program_metric_samples){
        .session = session, .code = code, .least = INT64_MAX, .most = INT64_MIN};
    map_put(&m->sample_at, session, code, (void *)(uintptr_t)m->sample_count);
    return &m->samples[m->sample_count - 1];
}

void program_metrics_sample(struct run *run, uint32_t session, uint32_t code, int64_t at_ns,
                            int64_t value)
{
    struct program_metric_samples *s = samples_of(program_metrics_for_run(run), session, code);
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
