/* Metrics over time, by pixels (wire/time_series.h): recorded values and how long they held,
 * without interpolation; and the level of concurrency (level_series.h). */
#include "wire/time_series.h"

#include "base/alloc.h"
#include "server/queries/level_series.h"
#include "server/queries/request_queue.h"
#include "server/run/event_times.h"
#include "server/run/metrics.h"
#include "wire/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pixels ---- */

struct series_tracing {
    const struct os_metric_series *of;
    int64_t until; /* time until which the last value holds */
    int64_t scale; /* factor from recorded values to displayed ones */
    bool grows;
    uint32_t at; /* index of the first point that is not before the pixel */
    double weighted, weight; /* sums over the pixel: value times time, time */
    struct series_pixel pixel;
};

static int64_t series_query_round_value(double value)
{
    return value >= 9.2e18 ? INT64_MAX : value <= -9.2e18 ? INT64_MIN : (int64_t)llround(value);
}

static void series_query_add_value(struct series_tracing *t, int64_t value, double time)
{
    struct series_pixel *p = &t->pixel;
    bool first = p->known == SERIES_NOTHING;
    p->known = first ? SERIES_BETWEEN : p->known;
    p->least = first || value < p->least ? value : p->least;
    p->most = first || value > p->most ? value : p->most;
    p->mean = first ? value : p->mean;
    t->weighted += (double)value * time;
    t->weight += time;
}

/* Sets the value that holds from a point to the next one, or its increase per second; returns
 * false if that is not known. */
static bool value_from(const struct series_tracing *t, uint32_t point, int64_t *value)
{
    const struct os_metric_point *p = &t->of->points[point];
    bool last = point + 1 == t->of->count;
    *value = p->value;
    if (!t->grows)
        return true;
    *value = 0;
    if (last || p[1].at_ns <= p->at_ns)
        return last;
    double more = (double)p[1].value - (double)p->value;
    *value = series_query_round_value((more > 0 ? more : 0) * SERIES_RATE_SCALE * 1e9 /
                                      (double)(p[1].at_ns - p->at_ns));
    return true;
}

/* Adds the value that holds from a point on to the pixel from .. to. */
static void add_stretch(struct series_tracing *t, uint32_t point, int64_t from, int64_t to)
{
    const struct os_metric_series *f = t->of;
    int64_t begin = f->points[point].at_ns,
            end = point + 1 < f->count ? f->points[point + 1].at_ns : t->until, value;
    int64_t since = begin > from ? begin : from, until = end < to ? end : to;
    bool level_known = !t->grows && begin >= from && begin < to;
    if (until < since || (until == since && !level_known) || !value_from(t, point, &value))
        return;
    series_query_add_value(t, value, (double)(until - since));
}

static struct series_pixel pixel_of(struct series_tracing *t, int64_t from, int64_t to)
{
    const struct os_metric_series *f = t->of;
    uint32_t first = t->at ? t->at - 1 : 0;
    bool recorded = false;
    t->pixel = (struct series_pixel){0};
    t->weighted = t->weight = 0;
    for (uint32_t i = first; i < f->count && f->points[i].at_ns < to; i++)
        add_stretch(t, i, from, to);
    for (; t->at < f->count && f->points[t->at].at_ns < to; t->at++)
        recorded |= f->points[t->at].at_ns >= from;
    struct series_pixel *p = &t->pixel;
    if (p->known == SERIES_NOTHING)
        return *p;
    p->known = recorded ? SERIES_RECORDED : SERIES_BETWEEN;
    int64_t mean = t->weight > 0 ? series_query_round_value(t->weighted / t->weight) : p->mean;
    p->mean = mean < p->least ? p->least : mean > p->most ? p->most : mean;
    return *p;
}

/* Sets the begin of a thread; returns false if that event was discarded. */
static bool series_query_thread_start(const struct run *run, uint32_t line, int64_t *at_ns)
{
    uint64_t position = NO_POSITION;
    if (line && line <= order_line_count(run->order) && !order_line_first(run->order, line) &&
        order_line_events(run->order, line))
        position = order_line_at(run->order, line, 0);
    if (position != NO_POSITION)
        *at_ns = event_times_fitted(run, position);
    return position != NO_POSITION;
}

/* A thread's own counter is 0 at its begin, so a value recorded only at its end has a rate, too.
 * Returns the points themselves if that does not apply or the begin is not known, else copies
 * that the caller frees. */
static struct os_metric_series from_zero(const struct run *run, const struct os_metric_series *of,
                                         bool grows)
{
    struct os_metric_series all = *of;
    int64_t at;
    if (!grows || of->meter < OS_METRICS_OWN || !series_query_thread_start(run, of->thread, &at) ||
        at >= of->points[0].at_ns)
        return all;
    all.points = xcalloc(++all.count, sizeof *all.points);
    all.points[0].at_ns = at;
    memcpy(&all.points[1], of->points, of->count * sizeof *of->points);
    return all;
}

static void series_query_fill_pixels(const struct run *run, const struct os_metric_series *of,
                                     const struct time_series_set *all, struct time_series *to)
{
    struct os_metric_series points = from_zero(run, of, to->grows);
    struct series_tracing t = {
        .of = &points, .until = os_metrics_until_ns(run, of), .grows = to->grows};
    double wide = (double)(all->to - all->from) / all->pixels;
    to->pixels = xcalloc(all->pixels, sizeof *to->pixels);
    for (uint32_t i = 0; i < all->pixels; i++) {
        int64_t from = all->from + (int64_t)(i * wide),
                end = i + 1 == all->pixels ? all->to : all->from + (int64_t)((i + 1) * wide);
        to->pixels[i] = pixel_of(&t, from, end > from ? end : from + 1);
    }
    if (points.points != of->points)
        free(points.points);
}

/* ---- selection ---- */

/* Returns whether a series is requested.  A program's own metrics are recorded by thread only,
 * so they are sent whether or not threads are requested. */
static bool series_query_is_requested(const struct run *run, const struct series_request *r,
                                      const struct os_metric_series *f)
{
    unsigned group = f->meter < USAGE_METERS     ? SERIES_USAGE
                     : f->meter < OS_METRICS_OWN ? SERIES_MEMORY
                                                 : SERIES_OWN;
    bool line = r->line_count == 0;
    for (uint32_t i = 0; !line && i < r->line_count; i++)
        line = r->lines[i] == f->thread;
    bool missing = f->meter >= USAGE_NO_COUNTER && f->meter < USAGE_NO_COUNTER + USAGE_METERS;
    return f->count && line && (r->groups & group) && !missing &&
           (r->threads || !f->thread || group == SERIES_OWN) &&
           (!*r->meter || strcmp(os_metrics_meter(run, f).name, r->meter) == 0);
}

static char *program_of(const struct run *run, uint32_t process)
{
    if (process >= run->processes.count)
        return xstrdup("");
    const struct run_process *p = &run->processes.items[process];
    const char *slash = strrchr(p->path, '/');
    return xasprintf("%s[%u]", slash ? slash + 1 : p->path, p->pid);
}

static void add_curve(const struct run *run, struct time_series_set *all,
                      const struct os_metric_series *f)
{
    struct os_metric_kind meter = os_metrics_meter(run, f);
    struct time_series *to = &all->items[all->count++];
    *to = (struct time_series){.thread = f->thread,
                               .meter = f->meter,
                               .program = program_of(run, f->process),
                               .name = xstrdup(meter.name),
                               .unit = xstrdup(meter.unit),
                               .grows = meter.grows,
                               .exact = f->exact,
                               .scale = meter.scale * (meter.grows ? SERIES_RATE_SCALE : 1)};
    series_query_fill_pixels(run, f, all, to);
}

static int by_place(const void *a, const void *b)
{
    return os_metric_series_compare(*(const struct os_metric_series *const *)a,
                                    *(const struct os_metric_series *const *)b);
}

/* Sets the range: the requested one, else all that is known. */
static void choose_range(const struct run *run, const struct series_request *r,
                         struct time_series_set *s)
{
    s->from = r->from;
    s->to = r->to;
    if (r->to > r->from)
        return;
    s->from = event_times_begin(run);
    s->to = run->clock.last_ns + 1;
    for (size_t i = 0; i < os_metrics_count(run); i++) {
        const struct os_metric_series *f = os_metrics_at(run, i);
        if (f->count && f->points[f->count - 1].at_ns >= s->to)
            s->to = f->points[f->count - 1].at_ns + 1;
    }
    s->to = s->to > s->from ? s->to : s->from + 1;
}

/* Adds the metrics that were recorded over time. */
static void series_query_add_recorded(const struct run *run, const struct series_request *r,
                                      struct time_series_set *s)
{
    size_t n = os_metrics_count(run), kept = 0, most = LIMIT_CURVE_PIXELS / r->pixels - s->count;
    const struct os_metric_series **asked = xcalloc(n + 1, sizeof(const struct os_metric_series *));
    for (size_t i = 0; i < n; i++)
        if (series_query_is_requested(run, r, os_metrics_at(run, i)))
            asked[kept++] = os_metrics_at(run, i);
    qsort(asked, kept, sizeof *asked, by_place);
    most = kept < most ? kept : most;
    s->items = xreallocarray(s->items, s->count + most + 1, sizeof *s->items);
    for (size_t i = 0; i < most; i++)
        add_curve(run, s, asked[i]);
    s->left_out = (uint32_t)(kept - most);
    free(asked);
}

/* ---- the request ---- */

struct series_job {
    const struct run *run;
    struct series_request request;
    struct time_series_set set;
    struct level_series levels;
    bool begun;
};

static void *series_query_begin(struct request_queue *queue, struct decoder *in)
{
    struct series_request request;
    decode_series_request(in, &request);
    if (!decoder_finish(in)) {
        series_request_free(&request);
        return NULL;
    }
    struct series_job *job = xcalloc(1, sizeof *job);
    job->run = queue->run;
    job->request = request;
    return job;
}

static bool series_query_step(void *p, uint64_t budget)
{
    struct series_job *job = p;
    if (!job->begun) {
        choose_range(job->run, &job->request, &job->set);
        job->set.pixels = job->request.pixels;
        job->begun = true;
    }
    return !(job->request.groups & SERIES_LEVELS) ||
           level_series_step(&job->levels, job->run, &job->request, &job->set, &budget);
}

static bool series_query_put(void *p, struct response *reply)
{
    struct series_job *job = p;
    series_query_add_recorded(job->run, &job->request, &job->set);
    response_chunk_begin(reply, RESPONSE_TIME_SERIES);
    encode_time_series(reply->out, &job->set);
    response_chunk_end(reply);
    return true;
}

static void series_query_free(void *p)
{
    struct series_job *job = p;
    level_series_free(&job->levels);
    series_request_free(&job->request);
    time_series_free(&job->set);
    free(job);
}

const struct query query_time_series = {.begin = series_query_begin,
                                        .step = series_query_step,
                                        .put = series_query_put,
                                        .free = series_query_free,
                                        .most = LIMIT_QUERIES};
