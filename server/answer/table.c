/* Tables about a run (table.h): what all presets have in common. */
#include "server/answer/table.h"

#include "memory/memory.h"
#include "server/answer/desk.h"
#include "server/answer/measured.h"
#include "server/answer/named.h"
#include "server/run/times.h"

#include <stdlib.h>
#include <string.h>

#define TOLD_EVERY (4u << 20) /* events */
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
    enum { LEARNING, PASSING, WORKING, TELLING } stage;
    uint64_t told; /* known when that was told last */
    struct shown_table table;
    uint32_t told_rows;
    bool told_head;
};

/* ---- what is known so far ---- */

static bool learn(struct table_job *job, uint64_t *budget)
{
    bool known = measured_learn(job->view.run, budget);
    job->view.measured = measured_known(job->view.run);
    job->table.known = measured_position(job->view.run);
    job->table.count = order_count(job->view.run->order);
    return known;
}

/* ---- what it is about ---- */

static void problem(struct table_job *job, char *text)
{
    free(job->table.problem);
    job->table.problem = text;
}

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

static void fill(struct table_job *job)
{
    struct shown_table *t = &job->table;
    if (!t->problem)
        job->preset->fill(job->work, &job->view, t);
    if (job->preset && job->preset->free && job->work)
        job->preset->free(job->work);
    job->work = NULL;
}

static void begin_work(struct table_job *job)
{
    char *why = NULL;
    if (job->preset->begin)
        job->work = job->preset->begin(&job->view, &why);
    if (why)
        problem(job, why);
}

/* One stage further; false: its budget is over. */
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
        if (!job->table.problem && job->preset->step && !job->preset->step(job->work, budget))
            return false;
        fill(job);
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
    if (job->table.problem)
        job->stage = TELLING;
    while (work(job, &budget))
        ;
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
    if (job->work && job->preset->free)
        job->preset->free(job->work);
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

/* ---- for presets ---- */

bool table_wants(const struct table_view *view, uint32_t line)
{
    const struct table_request *r = view->request;
    return !r->line_count ||
           bsearch(&line, r->lines, r->line_count, sizeof *r->lines, by_number) != NULL;
}

/* Does it end with an event of the thread's own? */
static bool is_own(const struct interval *interval) { return interval->is != INTERVAL_SEGMENT; }

/* How many of the first intervals lie in the past: those up to the last that ends with an event in it. */
static size_t count_past(const struct table_view *view, const struct course_of *course)
{
    size_t low = 0, high = course->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2, i = middle;
        while (i < high && !is_own(&course->items[i]))
            i++;
        if (i < high && reach_has(view->past, course->items[i].position))
            low = i + 1;
        else
            high = middle;
    }
    return low;
}

int64_t table_until(const struct table_view *view, const struct course_of *course)
{
    int64_t until = INT64_MAX;
    if (view->past) {
        size_t n = count_past(view, course);
        bool began = course->start != NO_POSITION && reach_has(view->past, course->start);
        until = n ? course->items[n - 1].to_ns : began ? course->start_ns : INT64_MIN;
    }
    return until < view->to_ns ? until : view->to_ns;
}

struct table_place table_place(const struct table_view *view, uint32_t place)
{
    const struct run *run = view->run;
    if (!place || place > run->site_count)
        return (struct table_place){0};
    const struct site *site = &run->site_list[place - 1];
    return (struct table_place){site->process, site->address};
}

struct table_cell table_step(const struct table_view *view, uint32_t code)
{
    if (!code)
        return (struct table_cell){0};
    struct step step = steps_at(&view->measured->steps, code);
    return cell_step((enum cell_step)step.is, table_place(view, step.from),
                     table_place(view, step.to));
}

struct ref table_event(const struct table_view *view, uint64_t position)
{
    const struct order *order = view->run->order;
    if (position == NO_POSITION || position < order_first(order) || position >= order_count(order))
        return (struct ref){0};
    struct event event = order_event(order, position);
    return (struct ref){event.line, event.number};
}
