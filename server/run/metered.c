#include "server/run/metered.h"

#include "memory/map.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct metered {
    struct metered_name *names;
    size_t name_count, name_room;
    struct metered_sums *sums;
    size_t sum_count, sum_room;
    struct metered_samples *samples;
    size_t sample_count, sample_room;
    /* session, and code with the thread's -> 1 + index */
    struct map name_at, sum_at, sample_at;
};

static struct metered *of(struct run *run)
{
    if (!run->metered)
        run->metered = memory_zeroed(1, sizeof *run->metered);
    return run->metered;
}

void metered_free(struct metered *m)
{
    if (!m)
        return;
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

void metered_tell(struct run *run, const struct metered_name *name)
{
    struct metered *m = of(run);
    size_t known = (uintptr_t)map_get(&m->name_at, name->session, name->code);
    if (!known) {
        m->names = grow(m->names, &m->name_room, m->name_count + 1, sizeof *m->names);
        m->names[m->name_count] = (struct metered_name){0};
        known = ++m->name_count;
        map_put(&m->name_at, name->session, name->code, (void *)(uintptr_t)known);
    }
    struct metered_name *to = &m->names[known - 1], before = *to;
    *to = *name;
    to->name = memory_copied(name->name);
    to->unit = memory_copied(name->unit);
    free(before.name);
    free(before.unit);
}

void metered_count(struct run *run, const struct metered_sums *sums)
{
    struct metered *m = of(run);
    uint64_t what = (uint64_t)sums->thread << 32 | sums->sums.code;
    size_t known = (uintptr_t)map_get(&m->sum_at, sums->session, what);
    if (!known) {
        m->sums = grow(m->sums, &m->sum_room, m->sum_count + 1, sizeof *m->sums);
        known = ++m->sum_count;
        map_put(&m->sum_at, sums->session, what, (void *)(uintptr_t)known);
    }
    m->sums[known - 1] = *sums;
    m->sums[known - 1].unsaved = true;
}

static struct metered_samples *samples_of(struct metered *m, uint32_t session, uint32_t code)
{
    size_t known = (uintptr_t)map_get(&m->sample_at, session, code);
    if (known)
        return &m->samples[known - 1];
    m->samples = grow(m->samples, &m->sample_room, m->sample_count + 1, sizeof *m->samples);
    m->samples[m->sample_count++] = (struct metered_samples){
        .session = session, .code = code, .least = INT64_MAX, .most = INT64_MIN};
    map_put(&m->sample_at, session, code, (void *)(uintptr_t)m->sample_count);
    return &m->samples[m->sample_count - 1];
}

void metered_sample(struct run *run, uint32_t session, uint32_t code, int64_t at_ns, int64_t value)
{
    struct metered_samples *s = samples_of(of(run), session, code);
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

const struct metered_name *metered_name(const struct run *run, uint32_t session, uint32_t code)
{
    size_t known = run->metered ? (uintptr_t)map_get(&run->metered->name_at, session, code) : 0;
    return known ? &run->metered->names[known - 1] : NULL;
}

uint32_t metered_code(const struct run *run, const char *name)
{
    for (size_t i = 0; i < metered_names(run); i++) {
        const struct metered_name *known = metered_name_at(run, i);
        if (known->session == METERED_NOBODY && strcmp(known->name, name) == 0)
            return known->code;
    }
    return 0;
}

size_t metered_names(const struct run *run) { return run->metered ? run->metered->name_count : 0; }

const struct metered_name *metered_name_at(const struct run *run, size_t i)
{
    return &run->metered->names[i];
}

size_t metered_counted(const struct run *run) { return run->metered ? run->metered->sum_count : 0; }

struct metered_sums *metered_counted_at(const struct run *run, size_t i)
{
    return &run->metered->sums[i];
}

size_t metered_sampled(const struct run *run)
{
    return run->metered ? run->metered->sample_count : 0;
}

const struct metered_samples *metered_sampled_at(const struct run *run, size_t i)
{
    return &run->metered->samples[i];
}

void metered_save(struct run *run,
                  void (*save)(void *user, uint32_t session, uint32_t thread,
                               const struct out *body),
                  void *user)
{
    struct out body = {0};
    for (size_t i = 0; i < metered_counted(run); i++) {
        struct metered_sums *s = metered_counted_at(run, i);
        if (!s->unsaved)
            continue;
        s->unsaved = false;
        body.size = 0;
        put_u64(&body, s->time_ns);
        put_u32(&body, 1);
        put_meter_sums(&body, &s->sums);
        save(user, s->session, s->thread, &body);
    }
    out_free(&body);
}
