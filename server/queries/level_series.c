#include "server/queries/level_series.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

static bool level_series_wants(const struct series_request *r, uint32_t line)
{
    bool wanted = !r->line_count;
    for (uint32_t i = 0; !wanted && i < r->line_count; i++)
        wanted = r->lines[i] == line;
    return wanted;
}

static void level_series_begin(struct level_series *s, const struct lifetimes *lives,
                               const struct run *run, const struct series_request *r,
                               const struct time_series_set *set)
{
    thread_levels_begin(&s->levels, set->from, set->to, set->pixels);
    for (uint32_t i = 0; i < lives->all->thread_count; i++) {
        uint32_t line = lives->all->threads[i].thread;
        const struct target_line_type *kind = run_line_type(run, order_line_kind(run->order, line));
        if ((kind && !kind->threads) || !level_series_wants(r, line))
            continue;
        thread_levels_add(&s->levels, lives, i, INT64_MAX);
        s->off_cpu |= cpu_states_best(lives->spans, line, CPU_SOURCE_ORDER) != CPU_SOURCE_ORDER;
    }
    s->generation = interval_cache_generation(run);
    s->begun = true;
}

/* ---- pixels ---- */

/* Returns the part of the range that a pixel shows: there are fewer parts than pixels if the range
 * has fewer nanoseconds. */
static const struct level_part *level_series_part(const struct thread_levels *l, uint32_t pixel,
                                                  uint32_t pixels)
{
    return &l->parts[(uint64_t)pixel * l->part_count / pixels];
}

static struct series_pixel level_series_pixel(const struct level_part *p, unsigned level)
{
    const struct level_sum *sum = &p->of[level];
    double mean = LEVEL_SERIES_SCALE * (double)sum->total_ns / (double)(p->to_ns - p->from_ns);
    struct series_pixel pixel = {.known = SERIES_BETWEEN,
                                 .least = (int64_t)sum->least * LEVEL_SERIES_SCALE,
                                 .mean = (int64_t)(mean + 0.5),
                                 .most = (int64_t)sum->most * LEVEL_SERIES_SCALE};
    pixel.mean = pixel.mean < pixel.least  ? pixel.least
                 : pixel.mean > pixel.most ? pixel.most
                                           : pixel.mean;
    return pixel;
}

static void level_series_add(const struct thread_levels *l, unsigned level,
                             struct time_series_set *set)
{
    struct time_series of = {.meter = SERIES_LEVEL_METERS + level,
                             .program = xstrdup("threads"),
                             .name = xstrdup(thread_level_words[level].name),
                             .unit = xstrdup("threads"),
                             .exact = true,
                             .scale = LEVEL_SERIES_SCALE,
                             .pixels = xcalloc(set->pixels, sizeof *of.pixels)};
    for (uint32_t i = 0; i < set->pixels; i++)
        of.pixels[i] = level_series_pixel(level_series_part(l, i, set->pixels), level);
    ARRAY_PUSH(set->items, set->count, of);
}

/* ---- steps ---- */

bool level_series_step(struct level_series *s, const struct run *run,
                       const struct series_request *r, struct time_series_set *set,
                       uint64_t *budget)
{
    struct wait_record *open;
    if (!interval_cache_step(run, budget) && !interval_cache_full(run))
        return false;
    if (interval_cache_full(run))
        return true;
    struct lifetimes lives = interval_cache_all_lifetimes(run, &open);
    if (s->begun && s->generation != interval_cache_generation(run))
        level_series_free(s);
    if (!s->begun)
        level_series_begin(s, &lives, run, r, set);
    bool done = thread_levels_step(&s->levels, &lives, budget);
    free(open);
    for (unsigned level = 0; done && level < THREAD_LEVELS; level++)
        if ((level != LEVEL_OFF_CPU || s->off_cpu) &&
            (!*r->meter || strcmp(r->meter, thread_level_words[level].name) == 0) &&
            set->count < LIMIT_CURVE_PIXELS / set->pixels)
            level_series_add(&s->levels, level, set);
    return done;
}

void level_series_free(struct level_series *s)
{
    thread_levels_free(&s->levels);
    s->begun = false;
}
