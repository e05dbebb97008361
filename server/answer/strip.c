/* A run from far away: which share of each pixel of a row was spent in which state, by the order of the events
 * or by time.  The first time all events are looked at (server/run/course.h), and what is known so far is told now
 * and then; after that only what is new. */
#include "memory/memory.h"
#include "server/answer/desk.h"
#include "server/answer/drawn.h"
#include "server/answer/named.h"
#include "server/run/course.h"
#include "server/run/times.h"
#include "wire/asked.h"

#include <math.h>
#include <stdlib.h>

#define TOLD_EVERY (4u << 20) /* events */

struct weight {
    double classes[STRIP_CLASSES], about;
    uint32_t line;
};

struct strip_job {
    const struct run *run;
    struct density_request request;
    uint64_t told; /* known when it was told last */
    bool known;
};

/* What is told: the cells of one row as they are filled. */
struct filling {
    const struct shown_strip *strip;
    struct weight *weights;
};

static void *strip_begin(struct desk *desk, struct in *in)
{
    struct density_request request;
    get_density_request(in, &request);
    if (!in_done(in)) {
        density_request_free(&request);
        return NULL;
    }
    struct strip_job *job = memory_zeroed(1, sizeof *job);
    *job = (struct strip_job){desk->run, request, course_known(desk->run), false};
    return job;
}

static bool strip_step(void *p, uint64_t budget)
{
    struct strip_job *job = p;
    job->known = course_learn(job->run, &budget);
    return job->known || course_known(job->run) - job->told >= TOLD_EVERY;
}

/* ---- the answer ---- */

static void choose_range(const struct run *run, const struct density_request *r,
                         struct shown_strip *s)
{
    s->by_time = r->by_time;
    s->from = r->from;
    s->to = r->to;
    if (s->to > s->from)
        return;
    s->from = r->by_time ? times_begin(run) : (int64_t)order_first(run->order);
    s->to = r->by_time ? run->last_ns + 1 : (int64_t)order_count(run->order);
    s->to = s->to > s->from ? s->to : s->from + 1;
}

/* Adds a piece to the pixels that it touches, by how much of them it covers. */
static void fill(void *context, const struct course_piece *p)
{
    struct filling *f = context;
    const struct shown_strip *s = f->strip;
    double scale = s->pixels / ((double)s->to - (double)s->from);
    double from = ((s->by_time ? (double)p->from_ns : (double)p->from) - (double)s->from) * scale,
           to = ((s->by_time ? (double)p->to_ns : (double)p->to) - (double)s->from) * scale;
    const double *shares = s->by_time ? p->by_time : p->by_position;
    from = from < 0 ? 0 : from;
    to = to > s->pixels ? s->pixels : to;
    for (uint32_t i = (uint32_t)fmin(from, s->pixels); i < s->pixels && i < to; i++) {
        struct weight *w = &f->weights[i];
        double part = fmin(to, i + 1.0) - fmax(from, i), most = 0;
        for (unsigned k = 0; k < STRIP_CLASSES; k++) {
            w->classes[k] += part * shares[k];
            most += part * shares[k];
        }
        if (p->about && (!w->line || most > w->about)) {
            w->line = p->about;
            w->about = most;
        }
    }
}

static void settle(const struct filling *f, struct strip_cell *cells, uint32_t lines)
{
    for (uint32_t i = 0; i < f->strip->pixels; i++) {
        struct weight *w = &f->weights[i];
        for (unsigned k = 0; k < STRIP_CLASSES; k++)
            cells[i].share[k] = (uint8_t)fmin(255, round(255 * w->classes[k] / lines));
        cells[i].about = w->line;
        *w = (struct weight){0};
    }
}

/* rows, and their lines: the first one, and those that join it. */
static void fill_rows(const struct run *run, struct shown_strip *s, const uint32_t *lines,
                      const uint8_t *joined, uint32_t count)
{
    struct filling f = {s, memory_zeroed(s->pixels, sizeof *f.weights)};
    uint32_t all = order_lines(run->order);
    size_t most = (size_t)LIMIT_ANSWER_BYTES / 2 / 16 / s->pixels;
    s->rows = memory_zeroed(count + 1, sizeof *s->rows);
    s->cells =
        memory_zeroed((size_t)(count < most ? count : most) * s->pixels + 1, sizeof *s->cells);
    for (uint32_t i = 0, end; i < count && s->row_count < most; i = end) {
        uint32_t members = 0;
        for (end = i; end == i || (end < count && joined && joined[end]); end++)
            if (lines[end] && lines[end] <= all) {
                course_visit(run, lines[end], s->by_time, s->from, s->to, fill, &f);
                members++;
            }
        settle(&f, s->cells + (size_t)s->row_count * s->pixels, members ? members : 1);
        s->row_count += members > 0;
        if (members)
            s->rows[s->row_count - 1] = lines[i];
    }
    free(f.weights);
}

static void name_lines(const struct shown_strip *s)
{
    for (uint32_t i = 0; i < s->row_count; i++)
        named_note(s->rows[i]);
    uint32_t last = 0;
    for (size_t i = 0; i < (size_t)s->row_count * s->pixels; i++)
        if (s->cells[i].about && s->cells[i].about != last)
            named_note(last = s->cells[i].about);
}

static bool strip_put(void *p, struct reply *reply)
{
    struct strip_job *job = p;
    const struct density_request *r = &job->request;
    struct shown_strip s = {.pixels = r->pixels,
                            .known = course_known(job->run),
                            .count = order_count(job->run->order)};
    uint32_t count = r->row_count, *all = count ? NULL : drawn_lines(job->run, &count);
    choose_range(job->run, r, &s);
    fill_rows(job->run, &s, all ? all : r->rows, all ? NULL : r->joined, count);
    name_lines(&s);
    part_begin(reply, PART_STRIP);
    put_strip(reply->out, &s);
    part_end(reply);
    shown_strip_free(&s);
    free(all);
    job->told = course_known(job->run);
    return job->known;
}

static void strip_free(void *p)
{
    struct strip_job *job = p;
    density_request_free(&job->request);
    free(job);
}

const struct question question_strip = {.begin = strip_begin,
                                        .step = strip_step,
                                        .put = strip_put,
                                        .free = strip_free,
                                        .most = LIMIT_WINDOWS};
