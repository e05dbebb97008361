/* Tables about a run (table_query.h): common parts of all presets. */
#include "server/queries/tables/table_query.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/request_queue.h"
#include "server/queries/saved_results.h"
#include "server/queries/tables/cpu_source.h"
#include "server/run/event_times.h"

#include <stdlib.h>
#include <string.h>

#ifndef REPORT_EVERY
#define REPORT_EVERY (256u << 10) /* events between progress messages */
#endif
#define ENOUGH (128u << 10) /* bytes appended by one put */
#define ROWS 64u /* rows per response part */
#define STEPS_LONG 32u /* a table that takes more steps is saved in any case */

_Static_assert((int)CELL_STEPS == (int)STEP_KINDS, "a cell tells every kind of step");

static const struct table_preset *const table_query_presets[] = {
#define P(name) &preset_##name,
    PRESETS(P)
#undef P
};

struct table_job {
    struct table_view view;
    struct table_request request;
    const struct table_preset *preset; /* NULL: the request is invalid */
    void *work;
    struct partial_run *apart; /* the part of the run that is analyzed; NULL: the whole run */
    uint64_t around; /* number of events before and after it that are included */
    struct wait_record *open;
    uint64_t again; /* interval_cache_generation when the work began */
    enum { RECALLING, LEARNING, PASSING, WORKING, TELLING } stage;
    uint64_t reported; /* known positions at the last progress message */
    uint32_t steps; /* number of steps that it took so far */
    struct result_table table;
    uint32_t sent_rows;
    bool sent_head;
};

/* ---- progress ---- */

static void table_query_set_problem(struct table_job *job, char *text)
{
    free(job->table.problem);
    job->table.problem = text;
}

static char *too_long(const struct table_job *job)
{
    const struct run *run = job->view.run;
    uint64_t first = job->apart ? job->apart->first : order_first(run->order),
             end = job->apart ? job->apart->end : order_count(run->order);
    return xasprintf(
        "%s too long to analyze as a whole (memory limit after %llu of %llu events); select a %s "
        "with --from and --to",
        job->apart ? "range" : "run", (unsigned long long)(interval_cache_position(run) - first),
        (unsigned long long)(end - first), job->apart ? "smaller part" : "part");
}

static bool is_range(const struct table_view *view)
{
    return view->from_ns != INT64_MIN || view->to_ns != INT64_MAX;
}

static void table_query_begin_partial(struct table_job *job, uint64_t around)
{
    const struct run *run = job->view.run;
    if (job->apart)
        partial_run_leave(run, job->apart);
    partial_run_free(job->apart);
    job->apart = partial_run_new(run, job->view.from_ns, job->view.to_ns, around);
    job->around = around;
    job->view.apart = true;
    partial_run_enter(run, job->apart);
}

/* Switches to a part of the run if the run is too large for memory: the range with events around
 * it or, if that is too much, without.  Returns false if there is no smaller part. */
static bool table_query_use_partial(struct table_job *job)
{
    const struct run *run = job->view.run;
    uint64_t count = order_count(run->order) - order_first(run->order);
    if (!job->apart && is_range(&job->view) && interval_cache_capacity(run) < count)
        table_query_begin_partial(job, interval_cache_capacity(run) / 4);
    else if (job->apart && job->around && interval_cache_full(run))
        table_query_begin_partial(job, 0);
    else
        return false;
    return true;
}

static void table_query_send_progress(struct table_job *job)
{
    const struct run *run = job->view.run;
    uint64_t first = job->apart ? job->apart->first : 0;
    job->table.known = interval_cache_position(run) - first;
    job->table.count = (job->apart ? job->apart->end : order_count(run->order)) - first;
}

/* Updates the intervals before each step, as any other request can make them grow, or compute
 * them again. */
static bool table_query_read_intervals(struct table_job *job, uint64_t *budget)
{
    const struct run *run = job->view.run;
    bool whole = interval_cache_step(run, budget);
    while (!whole && table_query_use_partial(job))
        whole = interval_cache_step(run, budget);
    if (interval_cache_full(run))
        table_query_set_problem(job, too_long(job));
    job->view.measured = interval_cache_get(run);
    table_query_send_progress(job);
    return whole;
}

static void table_query_add_open_waits(struct table_job *job)
{
    free(job->open);
    job->view.lives = interval_cache_all_lifetimes(job->view.run, &job->open);
    cpu_source_choose(&job->view, &job->view.lives);
    job->again = interval_cache_generation(job->view.run);
}

/* ---- range and past ---- */

static char *no_such_event(struct event_id at)
{
    return xasprintf("no event %u:%llu in this run", at.line, (unsigned long long)at.number);
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
        table_query_set_problem(job, no_such_event(end->event));
        return open;
    }
    return event_times_fitted(job->view.run, position);
}

static const struct table_preset *table_query_find_preset(const char *what)
{
    for (size_t i = 0; i < sizeof table_query_presets / sizeof *table_query_presets; i++)
        if (strcmp(table_query_presets[i]->what, what) == 0)
            return table_query_presets[i];
    return NULL;
}

static bool table_query_is_grouping(const struct table_preset *preset, const char *by)
{
    size_t i = 0;
    while (preset->by && preset->by[i] && strcmp(preset->by[i], by) != 0)
        i++;
    return !*by || (preset->by && preset->by[i]);
}

/* Begins to compute the causal past of the requested event, if there is one. */
static void begin_past(struct table_job *job)
{
    const struct order *order = job->view.run->order;
    uint64_t position;
    if (!job->request.past_of.line)
        return;
    position = order_position(order, job->request.past_of);
    if (position == NO_POSITION)
        table_query_set_problem(job, no_such_event(job->request.past_of));
    else
        job->view.past = cone_new(order, position, false, order_first(order));
}

static char *no_such_groups(const struct table_preset *preset, const char *by)
{
    char *text = xasprintf("%s: no table by \"%s\"%s", preset->what, by,
                           preset->by ? "; use" : "; --by is not supported");
    for (const char *const *word = preset->by; word && *word; word++) {
        char *longer = xasprintf("%s%s %s", text, word == preset->by ? "" : ",", *word);
        free(text);
        text = longer;
    }
    return text;
}

static void table_query_check_request(struct table_job *job)
{
    const struct table_request *r = &job->request;
    job->preset = table_query_find_preset(r->what);
    job->view.from_ns = end_of(job, &r->from, INT64_MIN);
    job->view.to_ns = end_of(job, &r->to, INT64_MAX);
    begin_past(job);
    if (!job->preset)
        table_query_set_problem(job, xasprintf("unknown table \"%s\"", r->what));
    else if (!table_query_is_grouping(job->preset, r->by))
        table_query_set_problem(job, no_such_groups(job->preset, r->by));
    else if (job->view.from_ns > job->view.to_ns)
        table_query_set_problem(job, xstrdup("the range ends before it starts"));
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void *table_begin(struct request_queue *queue, struct decoder *in)
{
    struct table_request request;
    decode_table_request(in, &request);
    if (!decoder_finish(in)) {
        table_request_free(&request);
        return NULL;
    }
    struct table_job *job = xcalloc(1, sizeof *job);
    job->request = request;
    job->view.run = queue->run;
    job->view.request = &job->request;
    if (request.line_count)
        qsort(job->request.lines, request.line_count, sizeof *request.lines, by_number);
    table_query_check_request(job);
    return job;
}

/* ---- work ---- */

static void free_work(struct table_job *job)
{
    if (job->work && job->preset->free)
        job->preset->free(job->work);
    job->work = NULL;
}

static void begin_work(struct table_job *job)
{
    struct error error = {""};
    if (!job->preset->no_intervals)
        table_query_add_open_waits(job);
    if (job->preset->begin)
        job->work = job->preset->begin(&job->view, &error);
    if (*error.text)
        table_query_set_problem(job, xstrdup(error.text));
}

/* Adds a note if the range has no threads, as it can be a mistake. */
static void table_query_check_range(struct table_job *job)
{
    const struct table_view *view = &job->view;
    int64_t begin, end, last = INT64_MIN;
    for (uint32_t i = 0; i < view->measured->thread_count; i++) {
        if (!thread_states_lifetime(&view->lives, &view->measured->threads[i], &begin, &end))
            continue;
        last = end > last ? end : last;
        if (begin <= view->to_ns && end >= view->from_ns)
            return;
    }
    if (last > INT64_MIN && last < view->from_ns)
        table_add_note(&job->table, "empty range: the run lasts %.3f ms", (double)last / 1e6);
    else if (last > INT64_MIN)
        table_add_note(&job->table, "empty range: the run starts after it");
}

static void table_query_note_partial(struct table_job *job)
{
    const struct run *run = job->view.run;
    table_add_note(&job->table, "only %.3f ms to %.3f ms was analyzed (run too long)",
                   (double)event_times_fitted(run, job->apart->first) / 1e6,
                   (double)event_times_fitted(run, job->apart->end - 1) / 1e6);
}

/* Runs a preset that needs no intervals.  Returns false if there is more to do. */
static bool table_query_step_alone(struct table_job *job, uint64_t *budget)
{
    const struct order *order = job->view.run->order;
    job->table.count = order_count(order) - order_first(order);
    if (!job->table.problem && job->preset->step && !job->preset->step(job->work, budget)) {
        job->table.known = job->preset->progress ? job->preset->progress(job->work) : 0;
        job->table.count += job->table.known >= job->table.count;
        return false;
    }
    job->table.known = job->table.count;
    if (!job->table.problem) {
        job->preset->fill(job->work, &job->view, &job->table);
        table_note_missing(&job->view, &job->table);
    }
    free_work(job);
    return true;
}

/* Runs the preset; starts it again if the intervals were computed again.  Returns false if there
 * is more to do. */
static bool table_query_step(struct table_job *job, uint64_t *budget)
{
    if (job->preset->no_intervals)
        return table_query_step_alone(job, budget);
    job->view.measured = interval_cache_get(job->view.run);
    job->view.lives.all = job->view.measured;
    if (interval_cache_generation(job->view.run) != job->again) {
        free_work(job);
        job->stage = LEARNING;
        return false;
    }
    table_query_add_open_waits(job);
    if (!job->table.problem && job->preset->step && !job->preset->step(job->work, budget))
        return false;
    if (!job->table.problem) {
        job->preset->fill(job->work, &job->view, &job->table);
        table_query_check_range(job);
    }
    if (!job->table.problem && job->apart)
        table_query_note_partial(job);
    if (!job->table.problem && !job->preset->tells_all)
        table_note_missing(&job->view, &job->table);
    free_work(job);
    return true;
}

/* ---- saved tables ---- */

/* Reads the table of an earlier request that was the same; returns false if there is none. */
static bool table_query_recall(struct table_job *job)
{
    struct encoder request = {0};
    size_t size = 0;
    encode_table_request(&request, &job->request);
    uint8_t *saved = saved_result_read(job->view.run, REQUEST_TABLE, &request, &size);
    struct decoder in = decoder_init(saved, size);
    encoder_free(&request);
    if (!saved)
        return false;
    decode_table_head(&in, &job->table);
    decode_table_rows(&in, &job->table);
    decode_table_end(&in, &job->table);
    if (!decoder_finish(&in) || job->table.problem)
        result_table_free(&job->table);
    free(saved);
    return !in.error && job->table.columns;
}

/* Saves tables of the whole run, and those that took long.  (A viewer requests very many others
 * while a user zooms and points.) */
static void table_query_save(const struct table_job *job)
{
    struct encoder request = {0}, result = {0};
    bool part = is_range(&job->view) || job->view.past || table_option(&job->request, "begin");
    if (job->apart || (part && job->steps < STEPS_LONG))
        return;
    encode_table_request(&request, &job->request);
    encode_table_head(&result, &job->table);
    encode_table_rows(&result, &job->table, 0, job->table.row_count);
    encode_table_end(&result, &job->table);
    saved_result_write(job->view.run, REQUEST_TABLE, &request, &result);
    encoder_free(&request);
    encoder_free(&result);
}

/* ---- stages ---- */

/* Completes the current stage; returns false if that takes further steps. */
static bool table_query_run_stage(struct table_job *job, uint64_t *budget)
{
    switch (job->stage) {
    case RECALLING:
        if (table_query_recall(job))
            job->stage = WORKING;
        break;
    case LEARNING:
        if (!job->preset->no_intervals && !table_query_read_intervals(job, budget))
            return false;
        break;
    case PASSING:
        if (job->view.past && !cone_step(job->view.past, *budget))
            return false;
        begin_work(job);
        break;
    case WORKING:
        if (!table_query_step(job, budget))
            return false;
        if (!job->table.problem)
            table_query_save(job);
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
    job->steps++;
    if (job->apart)
        partial_run_enter(job->view.run, job->apart);
    while (!job->table.problem && table_query_run_stage(job, &budget))
        ;
    if (job->apart)
        partial_run_leave(job->view.run, job->apart);
    if (job->table.problem)
        job->stage = TELLING;
    return job->stage == TELLING || ((job->stage == LEARNING || job->preset->progress) &&
                                     job->table.known - job->reported >= REPORT_EVERY);
}

/* ---- the response ---- */

static void name_cells(const struct table_cell *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (cells[i].is == CELL_LINE)
            referenced_lines_note(cells[i].line);
        else if (cells[i].is == CELL_EVENT)
            referenced_lines_note(cells[i].event.line);
}

static void name_row(const struct result_table *t, uint32_t row)
{
    const struct table_row *r = &t->rows[row];
    if (r->event.line)
        referenced_lines_note(r->event.line);
    for (uint32_t i = 0; i < r->line_count; i++)
        referenced_lines_note(r->lines[i]);
    name_cells(result_table_cells(t, row), t->column_count);
}

static void table_query_send_end(struct table_job *job, struct response *reply)
{
    response_chunk_begin(reply, RESPONSE_TABLE_END);
    encode_table_end(reply->out, &job->table);
    response_chunk_end(reply);
    job->reported = job->table.known;
}

static void table_query_send_head(struct table_job *job, struct response *reply)
{
    response_chunk_begin(reply, RESPONSE_TABLE);
    encode_table_head(reply->out, &job->table);
    response_chunk_end(reply);
    job->sent_head = true;
}

static void table_query_send_rows(struct table_job *job, struct response *reply)
{
    const struct result_table *t = &job->table;
    uint32_t first = job->sent_rows, end = first + ROWS;
    end = end < t->row_count ? end : t->row_count;
    for (uint32_t i = first; i < end; i++)
        name_row(t, i);
    response_chunk_begin(reply, RESPONSE_ROWS);
    encode_table_rows(reply->out, t, first, end);
    response_chunk_end(reply);
    job->sent_rows = end;
}

static bool table_put(void *p, struct response *reply)
{
    struct table_job *job = p;
    size_t enough = reply->out->size + ENOUGH;
    if (job->stage == TELLING && !job->sent_head)
        table_query_send_head(job, reply);
    while (job->stage == TELLING && job->sent_rows < job->table.row_count &&
           reply->out->size < enough)
        table_query_send_rows(job, reply);
    if (job->stage == TELLING && job->sent_rows < job->table.row_count)
        return false;
    if (job->stage == TELLING && job->table.total)
        name_cells(job->table.total, job->table.column_count);
    table_query_send_end(job, reply);
    return job->stage == TELLING;
}

static void table_free(void *p)
{
    struct table_job *job = p;
    if (job->apart)
        partial_run_enter(job->view.run, job->apart);
    free_work(job);
    if (job->apart)
        partial_run_leave(job->view.run, job->apart);
    partial_run_free(job->apart);
    free(job->open);
    if (job->view.past)
        cone_free(job->view.past);
    result_table_free(&job->table);
    table_request_free(&job->request);
    free(job);
}

const struct query query_table = {.begin = table_begin,
                                  .step = table_work,
                                  .put = table_put,
                                  .free = table_free,
                                  .most = LIMIT_QUERIES};
