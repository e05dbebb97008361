/* Tables about a run (table.h): what all presets have in common. */
#include "server/answer/table/table.h"

#include "memory/memory.h"
#include "server/answer/apart.h"
#include "server/answer/desk.h"
#include "server/answer/measured.h"
#include "server/answer/named.h"
#include "server/answer/table/processor.h"
#include "server/run/times.h"

#include <stdlib.h>
#include <string.h>

#ifndef TOLD_EVERY
#define TOLD_EVERY (256u << 10) /* events */
#endif
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
    struct apart *apart; /* it alone is looked at; NULL: the whole run */
    uint64_t around; /* and so many events before and after it */
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

static char *too_long(const struct table_job *job)
{
    const struct run *run = job->view.run;
    uint64_t first = job->apart ? job->apart->first : order_first(run->order),
             end = job->apart ? job->apart->end : order_count(run->order);
    return memory_printed(
        "this %s is too long: what threads did in the first %llu of its %llu events takes a sixth of "
        "this machine's memory: look at %s of it, with --from and --to",
        job->apart ? "part of the run" : "run",
        (unsigned long long)(measured_position(run) - first), (unsigned long long)(end - first),
        job->apart ? "less" : "a part");
}

static bool is_range(const struct table_view *view)
{
    return view->from_ns != INT64_MIN || view->to_ns != INT64_MAX;
}

static void look_apart(struct table_job *job, uint64_t around)
{
    const struct run *run = job->view.run;
    if (job->apart)
        apart_leave(run, job->apart);
    apart_free(run, job->apart);
    job->apart = apart_new(run, job->view.from_ns, job->view.to_ns, around);
    job->around = around;
    job->view.apart = true;
    apart_enter(run, job->apart);
}

/* A range of what is too much is looked at apart: with some around it, or, where that is too much, without. */
static bool looks_apart(struct table_job *job)
{
    const struct run *run = job->view.run;
    uint64_t count = order_count(run->order) - order_first(run->order);
    if (!job->apart && is_range(&job->view) && measured_room(run) < count)
        look_apart(job, measured_room(run) / 4);
    else if (job->apart && job->around && measured_full(run))
        look_apart(job, 0);
    else
        return false;
    return true;
}

static void tell_progress(struct table_job *job)
{
    const struct run *run = job->view.run;
    uint64_t first = job->apart ? job->apart->first : 0;
    job->table.known = measured_position(run) - first;
    job->table.count = (job->apart ? job->apart->end : order_count(run->order)) - first;
}

/* What is measured may begin anew, or grow, whenever anybody asks: so it is looked at again before each step. */
static bool learn(struct table_job *job, uint64_t *budget)
{
    const struct run *run = job->view.run;
    bool whole = measured_learn(run, budget);
    while (!whole && looks_apart(job))
        whole = measured_learn(run, budget);
    if (measured_full(run))
        problem(job, too_long(job));
    job->view.measured = measured_known(run);
    tell_progress(job);
    return whole;
}

static int by_thread(const void *a, const void *b)
{
    uint32_t x = ((const struct wait *)a)->thread, y = ((const struct wait *)b)->thread;
    return x < y ? -1 : x > y;
}

static void take_open(struct table_job *job)
{
    int64_t end = measured_until_ns(job->view.run);
    free(job->open);
    job->open = NULL;
    job->view.lives = (struct lives){.all = job->view.measured};
    job->view.lives.open_count = measured_open(job->view.run, &job->open);
    for (size_t i = 0; i < job->view.lives.open_count; i++)
        job->open[i].to_ns = job->open[i].to_ns > end ? job->open[i].to_ns : end;
    if (job->view.lives.open_count)
        qsort(job->open, job->view.lives.open_count, sizeof *job->open, by_thread);
    job->view.lives.open = job->open;
    processor_choose(&job->view, &job->view.lives);
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

static char *no_such_groups(const struct preset *preset, const char *by)
{
    char *said = memory_printed("%s: no table by \"%s\"%s", preset->what, by,
                                preset->by ? ": there are" : ": there is one only");
    for (const char *const *word = preset->by; word && *word; word++) {
        char *longer = memory_printed("%s%s %s", said, word == preset->by ? "" : ",", *word);
        free(said);
        said = longer;
    }
    return said;
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
        problem(job, no_such_groups(job->preset, r->by));
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

/* A range in which nothing is might be a slip. */
static void look_at_range(struct table_job *job)
{
    const struct table_view *view = &job->view;
    int64_t begin, end, last = INT64_MIN;
    for (uint32_t i = 0; i < view->measured->thread_count; i++) {
        if (!states_life(&view->lives, &view->measured->threads[i], &begin, &end))
            continue;
        last = end > last ? end : last;
        if (begin <= view->to_ns && end >= view->from_ns)
            return;
    }
    if (last > INT64_MIN && last < view->from_ns)
        table_add_note(&job->table,
                       "nothing is in this range: the run ends %.3f ms after its begin",
                       (double)last / 1e6);
    else if (last > INT64_MIN)
        table_add_note(&job->table, "nothing is in this range: the run begins after it");
}

static void note_apart(struct table_job *job)
{
    const struct run *run = job->view.run;
    table_add_note(&job->table,
                   "the run is too long to be looked at as a whole: what was before %.3f ms and "
                   "after %.3f ms was not looked at",
                   (double)times_fitted(run, job->apart->first) / 1e6,
                   (double)times_fitted(run, job->apart->end - 1) / 1e6);
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
    if (!job->table.problem) {
        job->preset->fill(job->work, &job->view, &job->table);
        look_at_range(job);
    }
    if (!job->table.problem && job->apart)
        note_apart(job);
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
    if (job->apart)
        apart_enter(job->view.run, job->apart);
    while (!job->table.problem && work(job, &budget))
        ;
    if (job->apart)
        apart_leave(job->view.run, job->apart);
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
    if (job->apart)
        apart_enter(job->view.run, job->apart);
    free_work(job);
    if (job->apart)
        apart_leave(job->view.run, job->apart);
    apart_free(job->view.run, job->apart);
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
