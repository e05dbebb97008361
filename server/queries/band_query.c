/* Overview of a run as state bands: which share of each pixel of a row was spent in which state, by
 * the order of the events or by time.  The first request reads all events
 * (server/run/state_timeline.h) and sends partial results now and then; later ones read only new
 * events.  The shares are exact: server/timing/state_summary_tree.h has the sums. */
#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/request_queue.h"
#include "server/queries/saved_results.h"
#include "server/queries/thread_state_timeline.h"
#include "server/queries/visible_rows.h"
#include "server/run/cpu_placement.h"
#include "server/run/event_times.h"
#include "server/run/state_timeline.h"
#include "server/timing/cpu_states.h"
#include "wire/request.h"
#include "wire/state_bands.h"

#include <stdlib.h>
#include <string.h>

#ifndef REPORT_EVERY /* tests make it small */
#define REPORT_EVERY (1u << 17) /* events between partial results; or half of the known ones */
#endif
#define CHUNK 64u /* pixels computed at once in each row: they are adjacent in the summary tree */
#define PIXEL_COST 4u /* cost of a pixel, in events */

_Static_assert((int)BAND_LIVINGS <= (int)SUMMARY_TREE_STATES &&
                   (int)BAND_CLASSES <= (int)BAND_MOST && (int)BAND_LIVINGS <= (int)BAND_MOST,
               "a pyramid has a sum for each state");

struct band_query_job {
    const struct run *run;
    struct density_request request;
    uint32_t *lines, line_count; /* lines of all rows, one row after the other */
    /* By index in `lines`: 1: in one row with the previous line; NULL: each has a row */
    const uint8_t *joined;
    uint64_t reported; /* known events at the last partial result */
    bool known;
    enum band_recall { BANDS_UNKNOWN, BANDS_COMPUTED, BANDS_RECALLED } recall;
    bool reads_log; /* it was the first to need the states of a part of the log */
    /* The result being computed: some pixels of every row, then the next pixels of every row. */
    struct band_filling {
        bool begun;
        uint32_t lines; /* number of lines of the run */
        struct state_bands strip;
        struct band_whole { /* what the shares refer to, shifted to be less than 2^54 */
            uint64_t all;
            unsigned shift;
            double inverse;
        } whole; /* of the current row */
        struct summary_range range;
        uint32_t pixel, count; /* first pixel being computed, and how many */
        uint32_t row, first, end; /* the current row, and its range of `lines`: first .. end - 1 */
        uint32_t line; /* all lines before this index are added */
        struct summary_pixel pixels[CHUNK];
    } filling;
};

static enum timeline_source source_of(const struct band_query_job *job)
{
    return job->request.living ? TIMELINE_LIVING : TIMELINE_ORDER;
}

static void *strip_begin(struct request_queue *queue, struct decoder *in)
{
    struct density_request request;
    decode_density_request(in, &request);
    if (!decoder_finish(in)) {
        density_request_free(&request);
        return NULL;
    }
    struct band_query_job *job = xcalloc(1, sizeof *job);
    job->run = queue->run;
    job->request = request;
    timeline_set_source(TIMELINE_LIVING, &thread_state_source);
    job->reported = timeline_known(queue->run, source_of(job));
    job->reads_log = job->reported < order_count(queue->run->order);
    return job;
}

/* ---- rows ---- */

static bool is_line(const struct band_query_job *job, uint32_t i)
{
    return job->lines[i] && job->lines[i] <= job->filling.lines;
}

/* Finds the range of lines of the next row that has a valid line; returns false if there is
 * none. */
static bool next_row(struct band_query_job *job)
{
    struct band_filling *f = &job->filling;
    for (f->first = f->end; f->first < job->line_count; f->first = f->end) {
        bool any = false;
        for (f->end = f->first;
             f->end == f->first || (f->end < job->line_count && job->joined && job->joined[f->end]);
             f->end++)
            any |= is_line(job, f->end);
        if (any)
            return true;
    }
    return false;
}

/* Moves the lines of threads before those of objects, and keeps their order otherwise. */
static void threads_first(struct band_query_job *job)
{
    uint32_t *objects = xcalloc(job->line_count + 1, sizeof *objects), threads = 0, others = 0;
    for (uint32_t i = 0; i < job->line_count; i++)
        if (order_thread_last(job->run->order, job->lines[i]) != NO_POSITION)
            job->lines[threads++] = job->lines[i];
        else
            objects[others++] = job->lines[i];
    memcpy(job->lines + threads, objects, others * sizeof *objects);
    free(objects);
}

static void choose_rows(struct band_query_job *job)
{
    const struct density_request *r = &job->request;
    if (r->row_count) {
        job->lines = r->rows;
        job->joined = r->joined;
        job->line_count = r->row_count;
        return;
    }
    free(job->lines);
    job->lines = visible_rows_lines(job->run, &job->line_count);
    threads_first(job);
}

/* ---- shares ---- */

static void choose_range(const struct run *run, const struct density_request *r,
                         struct state_bands *s)
{
    s->by_time = r->by_time;
    s->from = r->from;
    s->to = r->to;
    if (s->to > s->from)
        return;
    s->from = r->by_time ? event_times_begin(run) : (int64_t)order_first(run->order);
    s->to = r->by_time ? event_times_end(run) : (int64_t)order_count(run->order);
    s->to = s->to > s->from ? s->to : s->from + 1;
}

/* Returns the end of the last states of the rows: of a partial result, the last known event.
 * (Waits that have not ended last until now.) */
static int64_t end_of(const struct band_query_job *job)
{
    const struct state_bands *s = &job->filling.strip;
    int64_t end = event_times_end(job->run), now = interval_cache_until_ns(job->run);
    if (!job->request.by_time)
        return (int64_t)s->known;
    if (s->known < s->count)
        return s->known > order_first(job->run->order) ? event_times_fitted(job->run, s->known - 1)
                                                       : s->from;
    return job->request.living && now > end ? now : end;
}

/* Returns of how many threads of the rows running and off-CPU time are known apart. */
static enum band_measurement band_query_measurement(const struct band_query_job *job)
{
    const struct cpu_states *states = cpu_placement_states(job->run);
    bool some = false, all = true;
    for (uint32_t i = 0; states && job->request.living && i < job->line_count; i++) {
        if (!is_line(job, i) || order_thread_last(job->run->order, job->lines[i]) == NO_POSITION)
            continue;
        bool known = cpu_states_best(states, job->lines[i], CPU_SOURCE_ORDER) != CPU_SOURCE_ORDER;
        some |= known;
        all &= known;
    }
    return !some ? BAND_MEASURED_NONE : all ? BAND_MEASURED_ALL : BAND_MEASURED_SOME;
}

static void fill_begin(struct band_query_job *job)
{
    struct band_filling *f = &job->filling;
    struct state_bands *s = &f->strip;
    choose_rows(job);
    *f = (struct band_filling){
        .begun = true,
        .lines = order_line_count(job->run->order),
        .strip = {.classes = job->request.living ? BAND_LIVINGS : BAND_CLASSES,
                  .pixels = job->request.pixels,
                  .known = timeline_known(job->run, source_of(job)),
                  .count = order_count(job->run->order)}};
    s->measured = (uint8_t)band_query_measurement(job);
    choose_range(job->run, &job->request, s);
    f->range = (struct summary_range){.by_time = s->by_time,
                                      .from = s->from,
                                      .to = s->to,
                                      .pixels = s->pixels,
                                      .end = end_of(job)};
    size_t most = (size_t)LIMIT_ANSWER_BYTES / 2 / 16 / s->pixels, rows = job->line_count;
    rows = rows < most ? rows : most;
    s->rows = xcalloc(rows + 1, sizeof *s->rows);
    s->cells = xcalloc(rows * s->pixels + 1, sizeof *s->cells);
    while (s->row_count < rows && next_row(job))
        s->rows[s->row_count++] = job->lines[f->first];
    f->first = f->end = 0;
    f->row = s->row_count; /* the first step then selects the first row */
}

static struct band_whole whole_of(uint64_t all)
{
    struct band_whole w = {all, 0, 0};
    for (; w.all >> 54; w.all >>= 1)
        w.shift++;
    w.inverse = 1 / (double)w.all;
    return w;
}

/* Returns the share of a part in the whole, in 1/255, rounded; avoids a division for speed. */
static uint8_t band_query_share_of_255(uint64_t part, const struct band_whole *w)
{
    uint64_t twice = 510 * (part >> w->shift) + w->all, all = 2 * w->all;
    uint64_t share = (uint64_t)((double)twice * w->inverse / 2);
    share -= share * all > twice;
    share += (share + 1) * all <= twice;
    return (uint8_t)share;
}

/* Sets the shares of a pixel.  Every state that occurs gets at least 1, and the largest share is
 * adjusted such that the sum is the rounded share of all states. */
static void settle_cell(const struct band_filling *f, const struct summary_pixel *p,
                        struct state_band_cell *cell)
{
    unsigned classes = f->strip.classes, most = 0;
    uint64_t all = 0;
    int sum = 0;
    for (unsigned k = 0; k < classes; k++) {
        uint8_t part = p->part[k] ? band_query_share_of_255(p->part[k], &f->whole) : 0;
        cell->share[k] = p->part[k] && !part ? 1 : part;
        most = p->part[k] > p->part[most] ? k : most;
        all += p->part[k];
        sum += cell->share[k];
    }
    int rest = all ? band_query_share_of_255(all, &f->whole) - sum : 0;
    if (cell->share[most] + rest > 0)
        cell->share[most] = (uint8_t)(cell->share[most] + rest);
    cell->about = p->about;
}

static void band_query_settle_pixel(struct band_filling *f)
{
    struct state_bands *s = &f->strip;
    struct state_band_cell *cells = s->cells + (size_t)f->row * s->pixels + f->pixel;
    for (uint32_t i = 0; i < f->count; i++)
        settle_cell(f, &f->pixels[i], &cells[i]);
}

static void begin_row(struct band_query_job *job)
{
    struct band_filling *f = &job->filling;
    uint32_t members = 0;
    for (uint32_t i = f->first; i < f->end; i++)
        members += is_line(job, i);
    f->whole = whole_of((uint64_t)(f->strip.to - f->strip.from) * members);
    f->line = f->first;
    memset(f->pixels, 0, sizeof f->pixels);
}

/* Selects the next row or, after the last one, the next pixels of the first; returns false when
 * all are done. */
static bool band_query_fill_row(struct band_query_job *job)
{
    struct band_filling *f = &job->filling;
    if (++f->row >= f->strip.row_count) {
        f->row = f->first = f->end = 0;
        f->pixel += f->count;
        uint32_t left = f->strip.pixels - f->pixel;
        f->count = left < CHUNK ? left : CHUNK;
    }
    if (!f->count || !next_row(job))
        return false;
    begin_row(job);
    return true;
}

static void add_line(struct band_query_job *job, const struct summary_tree *pyramid)
{
    struct band_filling *f = &job->filling;
    const int64_t *untils = job->lines == job->request.rows ? job->request.untils : NULL;
    f->range.cut = untils != NULL;
    f->range.until = untils ? untils[f->line] : 0;
    summary_tree_add_pixels(pyramid, job->lines[f->line], &f->range, f->pixel, f->count, f->pixels);
}

/* Returns true once all pixels are filled. */
static bool fill_step(struct band_query_job *job, uint64_t *budget)
{
    struct band_filling *f = &job->filling;
    const struct summary_tree *pyramid = timeline_tree(job->run, source_of(job));
    while (f->line < f->end || band_query_fill_row(job)) {
        for (; f->line < f->end; f->line++) {
            if (!*budget)
                return false;
            if (is_line(job, f->line))
                add_line(job, pyramid);
            uint64_t cost = (uint64_t)f->count * PIXEL_COST;
            *budget -= cost < *budget ? cost : *budget;
        }
        band_query_settle_pixel(f);
    }
    return true;
}

/* ---- saved bands ---- */

/* Encodes the request such that the range of the whole run is the same as none: a viewer requests
 * both. */
static struct encoder band_query_key(const struct band_query_job *job)
{
    struct density_request request = job->request;
    struct state_bands whole;
    struct encoder key = {0};
    choose_range(job->run, &(struct density_request){.by_time = request.by_time}, &whole);
    if (request.to <= request.from || (request.from == whole.from && request.to == whole.to))
        request.from = request.to = 0;
    encode_density_request(&key, &request);
    return key;
}

/* Reads the bands of an earlier request that was the same, if there are any. */
static enum band_recall band_query_recall(struct band_query_job *job)
{
    struct encoder request = band_query_key(job);
    size_t size = 0;
    uint8_t *saved = saved_result_read(job->run, REQUEST_STATE_BANDS, &request, &size);
    struct decoder in = decoder_init(saved, size);
    encoder_free(&request);
    if (!saved)
        return BANDS_COMPUTED;
    decode_state_bands(&in, &job->filling.strip);
    free(saved);
    if (decoder_finish(&in))
        return BANDS_RECALLED;
    state_bands_free(&job->filling.strip);
    return BANDS_COMPUTED;
}

static void band_query_save(const struct band_query_job *job)
{
    struct encoder request = band_query_key(job), result = {0};
    encode_state_bands(&result, &job->filling.strip);
    saved_result_write(job->run, REQUEST_STATE_BANDS, &request, &result);
    encoder_free(&request);
    encoder_free(&result);
}

/* ---- steps ---- */

static bool strip_step(void *p, uint64_t budget)
{
    struct band_query_job *job = p;
    if (job->recall == BANDS_UNKNOWN)
        job->recall = band_query_recall(job);
    if (job->recall == BANDS_RECALLED) {
        job->filling.begun = job->known = true;
        return true;
    }
    if (job->filling.begun && timeline_known(job->run, source_of(job)) < job->filling.strip.known) {
        state_bands_free(&job->filling.strip); /* another request restarted the timeline */
        job->filling.begun = false;
        job->reported = 0;
    }
    if (!job->filling.begun) {
        uint64_t news = job->reported / 2 > REPORT_EVERY ? job->reported / 2 : REPORT_EVERY;
        job->known = timeline_build(job->run, source_of(job), &budget);
        if (job->request.living && interval_cache_full(job->run))
            return true;
        if (!job->known && timeline_known(job->run, source_of(job)) < job->reported + news)
            return false;
        fill_begin(job);
    }
    return fill_step(job, &budget);
}

/* ---- the response ---- */

static void name_lines(const struct state_bands *s)
{
    for (uint32_t i = 0; i < s->row_count; i++)
        referenced_lines_note(s->rows[i]);
    uint32_t last = 0;
    for (size_t i = 0; i < (size_t)s->row_count * s->pixels; i++)
        if (s->cells[i].about && s->cells[i].about != last)
            referenced_lines_note(last = s->cells[i].about);
}

static bool strip_put(void *p, struct response *reply)
{
    struct band_query_job *job = p;
    struct state_bands *s = &job->filling.strip;
    bool recalled = job->recall == BANDS_RECALLED;
    if (!job->filling.begun ||
        (!recalled && summary_tree_full(timeline_tree(job->run, source_of(job))))) {
        response_chunk_begin(reply, RESPONSE_ERROR);
        encode_string(reply->out,
                      job->request.living && interval_cache_full(job->run)
                          ? "run too long: its thread states take a sixth of the memory of this "
                            "machine, and no part of it can be analyzed alone"
                          : "run too long: no space for its states in memory or TMPDIR");
        response_chunk_end(reply);
        return true;
    }
    if (job->known && !recalled && job->reads_log)
        band_query_save(job);
    name_lines(s);
    response_chunk_begin(reply, RESPONSE_STATE_BANDS);
    encode_state_bands(reply->out, s);
    response_chunk_end(reply);
    job->reported = s->known;
    state_bands_free(s);
    job->filling.begun = false;
    return job->known;
}

static void strip_free(void *p)
{
    struct band_query_job *job = p;
    state_bands_free(&job->filling.strip);
    if (job->lines != job->request.rows)
        free(job->lines);
    density_request_free(&job->request);
    free(job);
}

const struct query query_state_bands = {.begin = strip_begin,
                                        .step = strip_step,
                                        .put = strip_put,
                                        .free = strip_free,
                                        .most = LIMIT_WINDOWS,
                                        .overview = true};
