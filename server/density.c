/* A run from far away: per row and pixel how many events, and the longest stretch in which only
 * blocked threads were in the line. */
#include "server/times.h"
#include "server/window.h"

#include <stdlib.h>
#include <string.h>

struct density_job {
    const struct run *run;
    struct shown_density shown;
    bool by_time;
    uint32_t row;     /* the one that is worked on */
    uint64_t ordinal; /* in it */
};

uint32_t density_id(const struct density_job *job) { return job->shown.id; }

static void *zeroed(size_t n, size_t each)
{
    void *p = calloc(n + 1, each);
    if (!p)
        abort();
    return p;
}

struct density_job *density_begin(const struct run *run, struct density_request *r)
{
    struct density_job *job = zeroed(1, sizeof *job);
    uint32_t lines = order_lines(run->order);
    *job = (struct density_job){.run = run, .by_time = r->by_time};
    struct shown_density *d = &job->shown;
    *d = (struct shown_density){.id = r->id, .from = r->from, .to = r->to, .pixels = r->pixels};
    if (d->to <= d->from) {
        d->from = r->by_time ? times_begin(run) : (int64_t)order_first(run->order);
        d->to = r->by_time ? run->last_ns + 1 : (int64_t)order_count(run->order);
    }
    d->rows = zeroed(r->row_count ? r->row_count : lines, sizeof *d->rows);
    for (uint32_t i = 0; i < r->row_count; i++)
        if (r->rows[i] && r->rows[i] <= lines)
            d->rows[d->row_count++] = r->rows[i];
    for (uint32_t line = 1; r->row_count == 0 && line <= lines; line++)
        if (window_draws(run, line))
            d->rows[d->row_count++] = line;
    size_t most = ((size_t)LIMIT_ANSWER_BYTES / 2 / 12) / d->pixels; /* what an answer can hold */
    d->row_count = d->row_count > most ? (uint32_t)most : d->row_count;
    d->counts = zeroed((size_t)d->row_count * d->pixels, sizeof *d->counts);
    d->blocked_ns = zeroed((size_t)d->row_count * d->pixels, sizeof *d->blocked_ns);
    free(r->rows);
    r->rows = NULL;
    return job;
}

static int64_t coordinate(const struct density_job *job, uint64_t position)
{
    return job->by_time ? times_fitted(job->run, position) : (int64_t)position;
}

static uint32_t pixel_of(const struct shown_density *d, int64_t at)
{
    double share = (double)(at - d->from) / (double)(d->to - d->from);
    uint32_t pixel = (uint32_t)(share * d->pixels);
    return pixel < d->pixels ? pixel : d->pixels - 1;
}

static bool only_blocked(struct presences in) { return in.blocked && !in.active && !in.away; }

/* Counts one event; how long it was blocked from there on, up to the next event or the run's end. */
static void count(struct density_job *job, uint32_t line, uint64_t position)
{
    struct shown_density *d = &job->shown;
    int64_t at = coordinate(job, position);
    if (at < d->from || at >= d->to)
        return;
    size_t cell = (size_t)job->row * d->pixels + pixel_of(d, at);
    d->counts[cell]++;
    struct event e = order_event(job->run->order, position);
    if (!only_blocked(e.in))
        return;
    uint64_t n = order_line_events(job->run->order, line);
    uint64_t next = job->ordinal + 1 < n ? order_line_at(job->run->order, line, job->ordinal + 1)
                                         : NO_POSITION;
    int64_t until = next == NO_POSITION ? job->run->last_ns : times_fitted(job->run, next);
    int64_t stretch = until - times_fitted(job->run, position);
    if (stretch > 0 && (uint64_t)stretch > d->blocked_ns[cell])
        d->blocked_ns[cell] = (uint64_t)stretch;
}

/* Where to begin in a row: by position that is known; by time all is looked at. */
static uint64_t begin_of(const struct density_job *job, uint32_t line)
{
    return job->by_time ? order_line_first(job->run->order, line)
                        : order_line_from(job->run->order, line, (uint64_t)job->shown.from);
}

bool density_step(struct density_job *job, uint64_t budget)
{
    while (job->row < job->shown.row_count) {
        uint32_t line = job->shown.rows[job->row];
        uint64_t n = order_line_events(job->run->order, line);
        if (job->ordinal < order_line_first(job->run->order, line) || job->ordinal == 0)
            job->ordinal = begin_of(job, line);
        for (; job->ordinal < n; job->ordinal++) {
            if (budget-- == 0)
                return false;
            uint64_t position = order_line_at(job->run->order, line, job->ordinal);
            if (position == NO_POSITION)
                continue;
            if (!job->by_time && (int64_t)position >= job->shown.to)
                break;
            count(job, line, position);
        }
        job->row++;
        job->ordinal = 0;
    }
    return true;
}

void density_put(struct density_job *job, struct out *out)
{
    out_begin(out, MESSAGE_DENSITY_IS);
    put_density(out, &job->shown);
    out_end(out);
}

void density_free(struct density_job *job)
{
    if (job)
        shown_density_free(&job->shown);
    free(job);
}
