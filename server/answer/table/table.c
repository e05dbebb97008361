/* Tables about a run (table.h): what all presets have in common. */
#include "server/answer/table/table.h"

#include "memory/memory.h"
#include "server/answer/desk.h"
#include "server/answer/measured.h"
#include "server/answer/named.h"
#include "server/run/times.h"

#include <stdlib.h>
#include <string.h>

#define TOLD_EVERY (256u << 10) /* events */
#define ENOUGH (128u << 10) /* bytes of one put */
#define ROWS 64u /* of one part */

_Static_assert((int)CELL_STEPS == (int)STEP_KINDS, "a cell tells every kind of step");

static const struct preset *const presets[] = {
#define P(name) &preset_##name,
    PRESETS(P)
#undef P
};

struct table_job {
    struct table_view view;
    struct table_request request;
    const struct preset *preset; /* NULL: there is a problem */
    void *work;
    struct wait *open;
    uint64_t again; /* measured_again when the work began */
    enum { LEARNING, PASSING, WORKING, TELLING } stage;
    uint64_t told; /* known when that was told last */
    struct shown_table table;
    uint32_t told_rows;
    bool told_head;
};

/* ---- what is known so far ---- */

static void problem(struct table_job *job, char *text)
{
    free(job->table.problem);
    job->table.problem = text;
}

/* What is measured may begin anew, or grow, whenever anybody asks: so it is looked at again before each step. */
static bool learn(struct table_job *job, uint64_t *budget)
{
    const struct run *run = job->view.run;
    bool whole = measured_learn(run, budget);
    if (measured_full(run))
        problem(
            job,
            memory_printed(
                "this run is too long: what its threads did in the first %llu of %llu events takes "
                "an eighth of this machine's memory, and no part of it can be looked at alone",
                (unsigned long long)measured_position(run),
                (unsigned long long)order_count(run->order)));
    job->view.measured = measured_known(run);
    job->table.known = measured_position(run);
    job->table.count = order_count(run->order);
    return whole;
}

static int by_thread(const void *a, const void *b)
{
    uint32_t x = ((const struct wait *)a)->thread, y = ((const struct wait *)b)->thread;
    return x < y ? -1 : x > y;
}

/* Up to when who waits still has waited: now, or the end of the run. */
static int64_t end_ns(const struct run *run)
{
    if (run->connected && run->wall_ns)
        return run_clock_ns(run);
    return run->ended_ns > run->last_ns ? run->ended_ns : run->last_ns;
}

static void take_open(struct table_job *job)
{
    int64_t end = end_ns(job->view.run);
    free(job->open);
    job->open = NULL;
    job->view.lives = (struct lives){.all = job->view.measured};
    job->view.lives.open_count = measured_open(job->view.run, &job->open);
    for (size_t i = 0; i < job->view.lives.open_count; i++)
        job->open[i].to_ns = job->open[i].to_ns > end ? job->open[i].to_ns : end;
    if (job->view.lives.open_count)
        qsort(job->open, job->view.lives.open_count, sizeof *job->open, by_thread);
    job->view.lives.open = job->open;
    job->again = measured_again(job->view.run);
}

/* ---- what it is about ---- */

static char *no_such_event(struct ref at)
{
    return memory_printed("there is no event %u:%llu in this run", at.line,
                          (unsigned long long)at.number);
}

static int64_t end_of(struct table_job *job, const struct table_end *end, int64_t open)
{
    const struct order *order = job->view.run->order;
    uint64_t position = (uint64_t)end->at;
    if (end->is == TABLE_OPEN)
        return open;
    if (end->is == TABLE_AT_NS)
        return end->at;
    if (end->is == TABLE_AT_EVENT)
        position = order_position(order, end->event);
    else if (position >= order_count(order))
        return INT64_MAX;
    if (position == NO_POSITION || position < order_first(order)) {
        problem(job, no_such_event(end->event));
        return open;
    }
    return times_fitted(job->view.run, position);
}

static const struct preset *find(const char *what)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i]->what, what) == 0)
            return presets[i];
    return NULL;
}

static bool groups(const struct preset *preset, const char *by)
{
    size_t i = 0;
    while (preset->by && preset->by[i] && strcmp(preset->by[i], by) != 0)
        i++;
    return !*by || (preset->by && preset->by[i]);
}

/* The past of an event: begins to look for it. */
static void begin_past(struct table_job *job)
{
    const struct order *order = job->view.run->order;
    uint64_t position;
    if (!job->request.past_of.line)
        return;
    position = order_position(order, job->request.past_of);
    if (position == NO_POSITION)
        problem(job, no_such_event(job->request.past_of));
    else
        job->view.past = reach_new(order, position, false, order_first(order));
}

static void look_at_request(struct table_job *job)
{
    const struct table_request *r = &job->request;
    job->preset = find(r->what);
    job->view.from_ns = end_of(job, &r->from, INT64_MIN);
    job->view.to_ns = end_of(job, &r->to, INT64_MAX);
    begin_past(job);
    if (!job->preset)
        problem(job, memory_printed("this server knows no table \"%s\"", r->what));
    else if (!groups(job->preset, r->by))
        problem(job, memory_printed("%s: no table by \"%s\"", r->what, r->by));
    else if (job->view.from_ns > job->view.to_ns)
        problem(job, memory_copied("the range ends before it begins"));
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void *table_begin(struct desk *desk, struct in *in)
{
    struct table_request request;
    get_table_request(in, &request);
    if (!in_done(in)) {
        table_request_free(&request);
        return NULL;
    }
    struct table_job *job = memory_zeroed(1, sizeof *job);
    job->request = request;
    job->view.run = desk->run;
    job->view.request = &job->request;
    if (request.line_count)
        qsort(job->request.lines, request.line_count, sizeof *request.lines, by_number);
    look_at_request(job);
    return job;
}

/* ---- working ---- */

static void free_work(struct table_job *job)
{
    if (job->work && job->preset->free)
        job->preset->free(job->work);
    job->work = NULL;
}

static void begin_work(struct table_job *job)
{
    char *why = NULL;
    take_open(job);
    if (job->preset->begin)
        job->work = job->preset->begin(&job->view, &why);
    if (why)
        problem(job, why);
}

/* Steps of the preset's own; where what is measured began anew, so does it.  False: there is more to do. */
static bool go_on(struct table_job *job, uint64_t *budget)
{
    job->view.measured = measured_known(job->view.run);
    job->view.lives.all = job->view.measured;
    if (measured_again(job->view.run) != job->again) {
        free_work(job);
        job->stage = LEARNING;
        return false;
    }
    take_open(job);
    if (!job->table.problem && job->preset->step && !job->preset->step(job->work, budget))
        return false;
    if (!job->table.problem)
        job->preset->fill(job->work, &job->view, &job->table);
    if (!job->table.problem && !job->preset->tells_all)
        table_say_missing(&job->view, &job->table);
    free_work(job);
    return true;
}

/* One stage further; false: not in this step. */
static bool work(struct table_job *job, uint64_t *budget)
{
    switch (job->stage) {
    case LEARNING:
        if (!learn(job, budget))
            return false;
        break;
    case PASSING:
        if (job->view.past && !reach_step(job->view.past, *budget))
            return false;
        begin_work(job);
        break;
    case WORKING:
        if (!go_on(job, budget))
            return false;
        break;
    case TELLING:
        return false;
    }
    job->stage++;
    return true;
}

static bool table_work(void *p, uint64_t budget)
{
    struct table_job *job = p;
    while (!job->table.problem && work(job, &budget))
        ;
    if (job->table.problem)
        job->stage = TELLING;
    return job->stage == TELLING ||
           (job->stage == LEARNING && job->table.known - job->told >= TOLD_EVERY);
}

/* ---- the answer ---- */

static void name_cells(const struct table_cell *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (cells[i].is == CELL_LINE)
            named_note(cells[i].line);
        else if (cells[i].is == CELL_EVENT)
            named_note(cells[i].event.line);
}

static void name_row(const struct shown_table *t, uint32_t row)
{
    const struct table_row *r = &t->rows[row];
    if (r->event.line)
        named_note(r->event.line);
    for (uint32_t i = 0; i < r->line_count; i++)
        named_note(r->lines[i]);
    name_cells(table_cells(t, row), t->column_count);
}

static void tell_end(struct table_job *job, struct reply *reply)
{
    part_begin(reply, PART_TABLE_END);
    put_table_end(reply->out, &job->table);
    part_end(reply);
    job->told = job->table.known;
}

static void tell_head(struct table_job *job, struct reply *reply)
{
    part_begin(reply, PART_TABLE);
    put_table_head(reply->out, &job->table);
    part_end(reply);
    job->told_head = true;
}

static void tell_rows(struct table_job *job, struct reply *reply)
{
    const struct shown_table *t = &job->table;
    uint32_t first = job->told_rows, end = first + ROWS;
    end = end < t->row_count ? end : t->row_count;
    for (uint32_t i = first; i < end; i++)
        name_row(t, i);
    part_begin(reply, PART_ROWS);
    put_table_rows(reply->out, t, first, end);
    part_end(reply);
    job->told_rows = end;
}

static bool table_put(void *p, struct reply *reply)
{
    struct table_job *job = p;
    size_t enough = reply->out->size + ENOUGH;
    if (job->stage == TELLING && !job->told_head)
        tell_head(job, reply);
    while (job->stage == TELLING && job->told_rows < job->table.row_count &&
           reply->out->size < enough)
        tell_rows(job, reply);
    if (job->stage == TELLING && job->told_rows < job->table.row_count)
        return false;
    if (job->stage == TELLING && job->table.total)
        name_cells(job->table.total, job->table.column_count);
    tell_end(job, reply);
    return job->stage == TELLING;
}

static void table_free(void *p)
{
    struct table_job *job = p;
    free_work(job);
    free(job->open);
    if (job->view.past)
        reach_free(job->view.past);
    shown_table_free(&job->table);
    table_request_free(&job->request);
    free(job);
}

const struct question question_table = {.begin = table_begin,
                                        .step = table_work,
                                        .put = table_put,
                                        .free = table_free,
                                        .most = LIMIT_QUESTIONS};
