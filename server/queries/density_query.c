/* Overview of a run by event density: for each row and pixel the number of events, and the longest
 * time in which only blocked threads were in the line.  Counts are found by searching each line for
 * the borders of the pixels, so the cost does not depend on the number of events, or in one pass
 * over the log if that is less; the blocked times require a visit of each event. */
#include "base/lower_bound.h"
#include "server/queries/request_queue.h"
#include "server/queries/referenced_lines.h"
#include "server/run/event_times.h"
#include "server/queries/visible_rows.h"
#include "base/alloc.h"
#include "wire/layout_results.h"

#include <stdlib.h>
#include <string.h>

struct density_job {
    const struct run *run;
    struct density_info shown;
    bool by_time, blocked;
    uint32_t *lines, *strip; /* lines in order, and the index of the row of each */
    uint32_t line_count;
    /* By line - 1: 1 + the index of its row, 0: none; NULL: no pass over the log counts events */
    uint32_t *passed;
    uint32_t passed_lines; /* number of lines when it began */
    uint64_t position; /* of the next event of the pass */
    uint32_t at; /* index of the current line */
    uint64_t ordinal; /* the next one there; NO_POSITION: the line is not begun */
};

static void add_line(struct density_job *job, uint32_t line, bool joins)
{
    struct density_info *d = &job->shown;
    if (!joins || d->row_count == 0)
        d->rows[d->row_count++] = line;
    job->lines[job->line_count] = line;
    job->strip[job->line_count++] = d->row_count - 1;
}

static void choose_lines(struct density_job *job, const struct density_request *r)
{
    uint32_t lines = order_line_count(job->run->order), most = r->row_count ? r->row_count : lines;
    job->shown.rows = xcalloc(most + 1, sizeof *job->shown.rows);
    job->lines = xcalloc(most + 1, sizeof *job->lines);
    job->strip = xcalloc(most + 1, sizeof *job->strip);
    for (uint32_t i = 0; i < r->row_count; i++)
        if (r->rows[i] && r->rows[i] <= lines)
            add_line(job, r->rows[i], r->joined[i]);
    uint32_t count = 0, *all = r->row_count ? NULL : visible_rows_lines(job->run, &count);
    for (uint32_t i = 0; i < count; i++)
        add_line(job, all[i], false);
    free(all);
}

/* Costs, in visits of an event: of a search for the border of a pixel by position, and by time.  A
 * pass over the log costs less than one visit for so many events. */
#define SEARCH_COST 12u
#define SEARCH_COST_BY_TIME 100u
#define PASS_GAIN 3u

static bool density_query_grows(const struct density_job *job, uint32_t line)
{
    return !job->by_time || !order_line_shared(job->run->order, line);
}

static uint64_t density_query_line_cost(const struct density_job *job, uint32_t line)
{
    uint64_t count =
                 order_line_events(job->run->order, line) - order_line_first(job->run->order, line),
             search = job->by_time ? SEARCH_COST_BY_TIME : SEARCH_COST,
             searches = search * job->shown.pixels;
    return density_query_grows(job, line) && searches < count ? searches : count;
}

/* Decides whether one pass over the log counts the events of all lines.  (A line that is requested
 * twice has two rows.) */
static void density_query_choose_pass(struct density_job *job)
{
    const struct order *order = job->run->order;
    uint64_t cost = 0;
    bool twice = job->blocked;
    job->position = order_first(order);
    job->passed_lines = order_line_count(order);
    job->passed = xcalloc(job->passed_lines + 1, sizeof *job->passed);
    for (uint32_t i = 0; i < job->line_count && !twice; i++) {
        uint32_t line = job->lines[i], *row = &job->passed[line - 1];
        twice = *row != 0;
        *row = 1 + job->strip[i];
        cost += density_query_line_cost(job, line);
    }
    if (!twice && cost > (order_count(order) - job->position) / PASS_GAIN)
        return;
    free(job->passed);
    job->passed = NULL;
}

static struct density_job *density_begin(const struct run *run, const struct density_request *r)
{
    struct density_job *job = xcalloc(1, sizeof *job);
    *job = (struct density_job){
        .run = run, .by_time = r->by_time, .blocked = r->blocked, .ordinal = NO_POSITION};
    struct density_info *d = &job->shown;
    *d = (struct density_info){.from = r->from, .to = r->to, .pixels = r->pixels};
    if (d->to <= d->from) {
        d->from = r->by_time ? event_times_begin(run) : (int64_t)order_first(run->order);
        d->to = r->by_time ? event_times_end(run) : (int64_t)order_count(run->order);
    }
    choose_lines(job, r);
    /* The maximum number of rows of one response. */
    size_t most = ((size_t)LIMIT_ANSWER_BYTES / 2 / 12) / d->pixels;
    d->row_count = d->row_count > most ? (uint32_t)most : d->row_count;
    while (job->line_count && job->strip[job->line_count - 1] >= d->row_count)
        job->line_count--;
    density_query_choose_pass(job);
    d->counts = xcalloc((size_t)d->row_count * d->pixels + 1, sizeof *d->counts);
    d->blocked_ns = xcalloc((size_t)d->row_count * d->pixels + 1, sizeof *d->blocked_ns);
    return job;
}

/* ---- coordinates ---- */

static int64_t density_query_coordinate(const struct density_job *job, uint64_t position)
{
    return job->by_time ? event_times_fitted(job->run, position) : (int64_t)position;
}

static uint32_t pixel_of(const struct density_info *d, int64_t at)
{
    double share = (double)(at - d->from) / (double)(d->to - d->from);
    uint32_t pixel = (uint32_t)(share * d->pixels);
    return pixel < d->pixels ? pixel : d->pixels - 1;
}

/* Returns the begin of a pixel: the lowest coordinate that pixel_of() maps to it. */
static int64_t density_query_pixel_start(const struct density_info *d, uint32_t pixel)
{
    if (pixel >= d->pixels)
        return d->to;
    int64_t at = d->from + (int64_t)((double)pixel / d->pixels * (double)(d->to - d->from));
    while (at > d->from && pixel_of(d, at - 1) >= pixel)
        at--;
    while (at < d->to && pixel_of(d, at) < pixel)
        at++;
    return at;
}

static bool density_query_is_before(const struct density_job *job, uint64_t position, int64_t at)
{
    return position != NO_POSITION && density_query_coordinate(job, position) < at;
}

/* Returns the ordinal of the line's first event at or after a coordinate.  Times increase along
 * the line; `low` is a lower bound. */
static uint64_t ordinal_from(const struct density_job *job, uint32_t line, uint64_t low, int64_t at)
{
    const struct order *order = job->run->order;
    uint64_t high = order_line_events(order, line);
    if (!job->by_time)
        return at <= 0 ? order_line_first(order, line) : order_line_from(order, line, (uint64_t)at);
    return LOWER_BOUND(i, low, high,
                       density_query_is_before(job, order_line_at(order, line, i), at));
}

/* ---- counting ---- */

static bool only_blocked(struct occupants in) { return in.blocked && !in.active && !in.away; }

/* Returns for how long only blocked threads are in the line after an event, up to the next event
 * or the run's end. */
static uint64_t blocked_after(const struct density_job *job, uint32_t line, uint64_t ordinal,
                              uint64_t position)
{
    const struct order *order = job->run->order;
    if (!only_blocked(order_event(order, position).in))
        return 0;
    uint64_t next = ordinal + 1 < order_line_events(order, line)
                        ? order_line_at(order, line, ordinal + 1)
                        : NO_POSITION;
    int64_t until =
        next == NO_POSITION ? job->run->clock.last_ns : event_times_fitted(job->run, next);
    int64_t stretch = until - event_times_fitted(job->run, position);
    return stretch > 0 ? (uint64_t)stretch : 0;
}

/* Counts a line by visiting each event; returns false when the budget is used up. */
static bool density_query_scan_line(struct density_job *job, uint32_t line, uint64_t *budget)
{
    struct density_info *d = &job->shown;
    const struct order *order = job->run->order;
    for (; job->ordinal < order_line_events(order, line); job->ordinal++) {
        if ((*budget)-- == 0)
            return false;
        uint64_t position = order_line_at(order, line, job->ordinal);
        if (position == NO_POSITION)
            continue;
        if (!job->by_time && (int64_t)position >= d->to)
            break;
        int64_t at = density_query_coordinate(job, position);
        if (at < d->from || at >= d->to)
            continue;
        size_t cell = (size_t)job->strip[job->at] * d->pixels + pixel_of(d, at);
        d->counts[cell]++;
        uint64_t stretch = job->blocked ? blocked_after(job, line, job->ordinal, position) : 0;
        if (stretch > d->blocked_ns[cell])
            d->blocked_ns[cell] = stretch;
    }
    return true;
}

#define PASS_EVENTS 256u /* read at once */

/* Counts the events of all lines in the order of the log; returns false when the budget is used
 * up. */
static bool density_query_pass(struct density_job *job, uint64_t *budget)
{
    struct density_info *d = &job->shown;
    const struct order *order = job->run->order;
    uint64_t count = order_count(order), first = order_first(order);
    struct event_time events[PASS_EVENTS];
    job->position = job->position > first ? job->position : first; /* some were discarded */
    while (job->position < count) {
        if (*budget < PASS_EVENTS / PASS_GAIN)
            return false;
        size_t read = order_read_times(order, job->position, PASS_EVENTS, events);
        for (size_t i = 0; i < read; i++) {
            uint32_t line = events[i].line,
                     row = line && line <= job->passed_lines ? job->passed[line - 1] : 0;
            int64_t at = !row           ? d->to
                         : job->by_time ? event_times_of(job->run, &events[i])
                                        : (int64_t)(job->position + i);
            if (at >= d->from && at < d->to)
                d->counts[(size_t)(row - 1) * d->pixels + pixel_of(d, at)]++;
        }
        job->position += read;
        *budget -= PASS_EVENTS / PASS_GAIN;
    }
    return true;
}

/* Counts a line by searching only for the borders of the pixels. */
static void density_query_skip_to_borders(struct density_job *job, uint32_t line)
{
    struct density_info *d = &job->shown;
    uint64_t end = order_line_events(job->run->order, line), at = job->ordinal;
    for (uint32_t pixel = 0; pixel < d->pixels && at < end;) {
        uint64_t position = order_line_at(job->run->order, line, at);
        int64_t here = position == NO_POSITION ? d->to : density_query_coordinate(job, position);
        if (here >= d->to)
            break;
        pixel = pixel_of(d, here); /* skip pixels without events */
        uint64_t next = ordinal_from(job, line, at, density_query_pixel_start(d, pixel + 1));
        next = next > at ? next : at + 1;
        d->counts[(size_t)job->strip[job->at] * d->pixels + pixel] += (uint32_t)(next - at);
        at = next;
    }
}

static bool density_step(void *p, uint64_t budget)
{
    struct density_job *job = p;
    if (job->passed)
        return density_query_pass(job, &budget);
    for (; job->at < job->line_count; job->at++) {
        uint32_t line = job->lines[job->at];
        bool grows = density_query_grows(job, line);
        if (job->ordinal == NO_POSITION)
            job->ordinal = grows ? ordinal_from(job, line, order_line_first(job->run->order, line),
                                                job->shown.from)
                                 : order_line_first(job->run->order, line);
        if (budget < 1000)
            return false;
        if (job->blocked || !grows) {
            if (!density_query_scan_line(job, line, &budget))
                return false;
        } else {
            density_query_skip_to_borders(job, line);
            budget -= 1000;
        }
        job->ordinal = NO_POSITION;
    }
    return true;
}

static void *density_query_begin(struct request_queue *queue, struct decoder *in)
{
    struct density_request request;
    decode_density_request(in, &request);
    struct density_job *job = decoder_finish(in) ? density_begin(queue->run, &request) : NULL;
    density_request_free(&request);
    return job;
}

static bool density_put(void *p, struct response *reply)
{
    struct density_job *job = p;
    for (uint32_t i = 0; i < job->shown.row_count; i++)
        referenced_lines_note(job->shown.rows[i]);
    response_chunk_begin(reply, RESPONSE_DENSITY);
    encode_density(reply->out, &job->shown);
    response_chunk_end(reply);
    return true;
}

static void density_free(void *p)
{
    struct density_job *job = p;
    density_info_free(&job->shown);
    free(job->lines);
    free(job->strip);
    free(job->passed);
    free(job);
}

const struct query query_density = {.begin = density_query_begin,
                                    .step = density_step,
                                    .put = density_put,
                                    .free = density_free,
                                    .most = LIMIT_WINDOWS};
