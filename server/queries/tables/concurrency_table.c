/* Table of the level of concurrency: how many threads ran, were runnable, and were blocked by class
 * (server/timing/thread_levels.h), by state, by number of threads, or over time; with the work,
 * the span and the parallelism of the range.
 *
 * Work is the running time of all threads, span that of the critical path; their ratio is the
 * parallelism (Blumofe and Leiserson 1999; He, Leiserson and Leiserson 2010, Cilkview).  Where the
 * critical path did not run all the time, another chain can have run for longer: an upper bound. */
#include "base/alloc.h"
#include "base/extremes.h"
#include "server/queries/tables/cpu_source.h"
#include "server/queries/tables/path_baseline.h"
#include "server/timing/thread_levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONCURRENCY_PARTS 20u /* rows over time, unless requested otherwise */
#define CONCURRENCY_PARTS_MOST 100000u

enum concurrency_grouping { BY_STATE, BY_LEVEL, BY_TIME };

static const char *const concurrency_table_groupings[] = {
    [BY_STATE] = "state", [BY_LEVEL] = "level", [BY_TIME] = "time", NULL};

struct concurrency_work {
    const struct table_view *view;
    enum concurrency_grouping by;
    struct thread_levels levels;
    struct critical_path path;
    bool spans; /* the span is computed: no thread is left out */
    bool followed;
    size_t piece; /* pieces of the path before this one are added */
    int64_t span_ns, path_ns; /* of the path in the range: running; all of it */
    struct cpu_source_counts sources;
};

/* ---- the request ---- */

static uint32_t concurrency_table_parts(const struct table_view *view)
{
    const char *value = table_option(view->request, "parts");
    unsigned long parts = value ? strtoul(value, NULL, 10) : 0;
    return !parts                           ? CONCURRENCY_PARTS
           : parts > CONCURRENCY_PARTS_MOST ? CONCURRENCY_PARTS_MOST
                                            : (uint32_t)parts;
}

static bool concurrency_table_counts(const struct table_view *view,
                                     const struct thread_timeline *course)
{
    return table_wants(view, course->thread) && table_lives(view, course->thread);
}

/* Sets the range: the requested one, as far as a thread lived in it.  Returns false if none did. */
static bool concurrency_table_range(const struct table_view *view, int64_t *from_ns, int64_t *to_ns)
{
    const struct intervals *all = view->measured;
    int64_t begin, end;
    *from_ns = INT64_MAX;
    *to_ns = INT64_MIN;
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct thread_timeline *c = &all->threads[i];
        if (!concurrency_table_counts(view, c) ||
            !thread_states_lifetime(&view->lives, c, &begin, &end))
            continue;
        *from_ns = int64_min(*from_ns, begin);
        *to_ns = int64_max(*to_ns, int64_min(end, table_until(view, c)));
    }
    *from_ns = view->from_ns == INT64_MIN ? *from_ns : int64_max(*from_ns, view->from_ns);
    *to_ns = view->to_ns == INT64_MAX ? *to_ns : int64_min(*to_ns, view->to_ns);
    return *from_ns < *to_ns;
}

static void *concurrency_table_begin(const struct table_view *view, struct error *error)
{
    struct concurrency_work *w = xcalloc(1, sizeof *w);
    int64_t from_ns, to_ns;
    (void)error;
    w->view = view;
    while (w->by < BY_TIME && *view->request->by &&
           strcmp(view->request->by, concurrency_table_groupings[w->by]) != 0)
        w->by++;
    if (!concurrency_table_range(view, &from_ns, &to_ns)) {
        w->followed = true;
        return w;
    }
    thread_levels_begin(&w->levels, from_ns, to_ns,
                        w->by == BY_TIME ? concurrency_table_parts(view) : 1);
    for (uint32_t i = 0; i < view->measured->thread_count; i++) {
        const struct thread_timeline *c = &view->measured->threads[i];
        if (!concurrency_table_counts(view, c))
            continue;
        thread_levels_add(&w->levels, &view->lives, i, table_until(view, c));
        cpu_source_row(&w->sources, view, c);
    }
    w->spans = !view->request->line_count;
    w->followed = !w->spans;
    if (w->spans)
        path_baseline_begin_path(&w->path, view, path_baseline_target(view));
    return w;
}

/* ---- work ---- */

/* Adds the running time of each piece of the path in the range; returns true after the last one. */
static bool concurrency_table_add_span(struct concurrency_work *w, uint64_t *budget)
{
    const struct table_view *view = w->view;
    for (; w->piece < w->path.count; w->piece++, --*budget) {
        const struct path_piece *p = &w->path.pieces[w->piece];
        const struct thread_timeline *c = intervals_for_thread(view->measured, p->thread);
        int64_t from_ns = int64_max(p->from_ns, w->levels.from_ns),
                to_ns = int64_min(p->to_ns, w->levels.to_ns);
        struct thread_states sums;
        if (!*budget)
            return false;
        w->path_ns += int64_max(to_ns - from_ns, 0);
        if (p->is != PATH_RUNS || !c || !table_lives(view, p->thread))
            continue;
        thread_states_sum(&view->lives, c, from_ns, int64_min(to_ns, table_until(view, c)), &sums);
        w->span_ns += sums.of[THREAD_STATE_RUNNING].total_ns;
    }
    return true;
}

static bool concurrency_table_step(void *work, uint64_t *budget)
{
    struct concurrency_work *w = work;
    if (!thread_levels_step(&w->levels, &w->view->lives, budget))
        return false;
    if (!w->followed && !critical_path_step(&w->path, *budget))
        return false;
    w->followed = true;
    return concurrency_table_add_span(w, budget);
}

/* ---- rows ---- */

static bool concurrency_table_knows(const struct concurrency_work *w, unsigned level)
{
    return level != LEVEL_OFF_CPU || cpu_source_any(&w->sources);
}

static struct table_cell concurrency_table_mean(const struct level_sum *sum, int64_t ns)
{
    return table_cell_real((double)sum->total_ns / (double)ns);
}

enum concurrency_state_column { STATE, MEAN, LEAST, MOST, ANY_NS, TOTAL_NS, STATE_COLUMNS };

static const struct column_definition concurrency_state_columns[STATE_COLUMNS] = {
    [STATE] = {"metric", "threads", .kind = TABLE_TEXT},
    [MEAN] = {"mean", .kind = TABLE_COUNT},
    [LEAST] = {"min", .kind = TABLE_COUNT},
    [MOST] = {"max", .kind = TABLE_COUNT},
    [ANY_NS] = {"any_ns", "any thread", .kind = TABLE_NS},
    [TOTAL_NS] = {"total_ns", "all threads", .kind = TABLE_NS}};

static void concurrency_table_add_states(const struct concurrency_work *w, struct result_table *t)
{
    struct level_part all = thread_levels_total(&w->levels);
    int64_t ns = all.to_ns - all.from_ns;
    for (unsigned level = 0; level < THREAD_LEVELS; level++) {
        const struct level_sum *sum = &all.of[level];
        struct table_cell *cells =
            table_add_row(t, thread_level_words[level].class, (struct event_id){0});
        if (!cells)
            return;
        cells[STATE] = table_cell_text(thread_level_words[level].name);
        if (!concurrency_table_knows(w, level))
            continue;
        cells[MEAN] = concurrency_table_mean(sum, ns);
        cells[LEAST] = table_cell_number(sum->least);
        cells[MOST] = table_cell_number(sum->most);
        cells[ANY_NS] = table_cell_number(ns - w->levels.at[0].ns[level]);
        cells[TOTAL_NS] = table_cell_number(sum->total_ns);
    }
}

static void concurrency_table_state_columns(struct result_table *t, const char *source)
{
    struct column_definition columns[STATE_COLUMNS];
    memcpy(columns, concurrency_state_columns, sizeof columns);
    for (unsigned i = MEAN; i < STATE_COLUMNS; i++)
        columns[i].source = source;
    table_add_columns(t, columns, STATE_COLUMNS);
}

/* Returns the source of a state's numbers; NULL: the order alone. */
static const char *concurrency_table_source(unsigned level, const char *source)
{
    bool blocked = level == LEVEL_BLOCKED || thread_level_words[level].class;
    return blocked ? NULL : source;
}

/* Adds columns of the number of threads, then one per state: how long that many were in it. */
static void concurrency_table_level_columns(struct result_table *t, const char *source)
{
    table_add_column(t, "threads", NULL, TABLE_COUNT, NULL);
    for (unsigned level = 0; level < THREAD_LEVELS; level++)
        table_add_column(t, thread_level_words[level].column, thread_level_words[level].name,
                         TABLE_NS, concurrency_table_source(level, source));
}

static void concurrency_table_add_levels(const struct concurrency_work *w, struct result_table *t)
{
    for (uint32_t n = 0; n < w->levels.at_count; n++) {
        struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
        if (!cells)
            return;
        *cells++ = table_cell_number(n);
        for (unsigned level = 0; level < THREAD_LEVELS; level++, cells++)
            if (concurrency_table_knows(w, level))
                *cells = table_cell_number(w->levels.at[n].ns[level]);
    }
}

/* Adds columns of a part of the range, then the mean of each state, and its minimum and maximum. */
static void concurrency_table_time_columns(struct result_table *t, const char *source)
{
    table_add_column(t, "from_ns", NULL, TABLE_NS, NULL);
    table_add_column(t, "duration_ns", NULL, TABLE_NS, NULL);
    for (unsigned level = 0; level < THREAD_LEVELS; level++) {
        const struct thread_level_words *words = &thread_level_words[level];
        const char *from = concurrency_table_source(level, source);
        static const char *const ends[] = {"min", "max"};
        table_add_column(t, words->key, words->name, TABLE_COUNT, from);
        for (unsigned i = 0; i < 2; i++) {
            char name[40], title[40];
            snprintf(name, sizeof name, "%s_%s", words->key, ends[i]);
            snprintf(title, sizeof title, "%s %s", words->name, ends[i]);
            table_add_column(t, name, title, TABLE_COUNT, from);
            table_detail(t);
        }
    }
}

static void concurrency_table_add_times(const struct concurrency_work *w, struct result_table *t)
{
    for (uint32_t i = 0; i < w->levels.part_count; i++) {
        const struct level_part *p = &w->levels.parts[i];
        struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
        if (!cells)
            return;
        *cells++ = table_cell_number(p->from_ns);
        *cells++ = table_cell_number(p->to_ns - p->from_ns);
        for (unsigned level = 0; level < THREAD_LEVELS; level++, cells += 3) {
            if (!concurrency_table_knows(w, level))
                continue;
            cells[0] = concurrency_table_mean(&p->of[level], p->to_ns - p->from_ns);
            cells[1] = table_cell_number(p->of[level].least);
            cells[2] = table_cell_number(p->of[level].most);
        }
    }
}

/* ---- work, span and parallelism ---- */

/* The last columns, of the total. */
enum concurrency_total_column { WORK, SPAN, PATH, PARALLELISM, TOTAL_COLUMNS };

static const struct column_definition concurrency_total_columns[TOTAL_COLUMNS] = {
    [WORK] = {"work_ns", .kind = TABLE_NS, .detail = true},
    [SPAN] = {"span_ns", .kind = TABLE_NS, .detail = true},
    [PATH] = {"critical_path_ns", .kind = TABLE_NS, .detail = true},
    [PARALLELISM] = {"parallelism", .kind = TABLE_COUNT, .detail = true}};

/* Sets the total of the rows: the time of all threads, or the length of the range. */
static void concurrency_table_fill_sums(const struct concurrency_work *w, struct table_cell *cells)
{
    struct level_part all = thread_levels_total(&w->levels);
    struct table_cell length = table_cell_number(all.to_ns - all.from_ns);
    struct level_sum sum = {0};
    for (unsigned level = 0; level < THREAD_LEVELS; level++) {
        sum.total_ns += thread_level_words[level].class ? 0 : all.of[level].total_ns;
        if (w->by == BY_LEVEL && concurrency_table_knows(w, level))
            cells[1 + level] = length;
    }
    if (w->by == BY_TIME)
        cells[1] = length;
    if (w->by != BY_STATE)
        return;
    cells[MEAN] = concurrency_table_mean(&sum, length.number);
    cells[TOTAL_NS] = table_cell_number(sum.total_ns);
}

static void concurrency_table_fill_total(const struct concurrency_work *w, struct result_table *t)
{
    int64_t work = thread_levels_total(&w->levels).of[LEVEL_RUNNING].total_ns;
    struct table_cell *cells = table_make_total(t);
    concurrency_table_fill_sums(w, cells);
    cells += t->column_count - TOTAL_COLUMNS;
    cells[WORK] = table_cell_number(work);
    if (!w->spans) {
        table_add_note(t,
                       "work %.3f ms; span and parallelism are of all threads, without "
                       "--threads",
                       (double)work / 1e6);
        return;
    }
    cells[SPAN] = table_cell_number(w->span_ns);
    cells[PATH] = table_cell_number(w->path_ns);
    if (!w->span_ns)
        return;
    double parallelism = (double)work / (double)w->span_ns;
    cells[PARALLELISM] = table_cell_real(parallelism);
    table_add_note(t,
                   "work %.3f ms (running time of all threads), span %.3f ms (running time on the "
                   "critical path): parallelism %s%.2f",
                   (double)work / 1e6, (double)w->span_ns / 1e6,
                   w->path_ns > w->span_ns ? "at most " : "", parallelism);
    if (w->path_ns > w->span_ns)
        table_add_note(t,
                       "the critical path did not run for %.3f ms: another chain can have more "
                       "running time than the span",
                       (double)(w->path_ns - w->span_ns) / 1e6);
}

static void concurrency_table_fill(void *work, const struct table_view *view,
                                   struct result_table *t)
{
    static const struct {
        void (*columns)(struct result_table *table, const char *source);
        void (*rows)(const struct concurrency_work *w, struct result_table *table);
    } groupings[] = {[BY_STATE] = {concurrency_table_state_columns, concurrency_table_add_states},
                     [BY_LEVEL] = {concurrency_table_level_columns, concurrency_table_add_levels},
                     [BY_TIME] = {concurrency_table_time_columns, concurrency_table_add_times}};
    struct concurrency_work *w = work;
    t->title = xstrdup("level of concurrency");
    groupings[w->by].columns(t, cpu_source_text(&w->sources));
    table_add_columns(t, concurrency_total_columns, TOTAL_COLUMNS);
    if (w->levels.part_count) {
        groupings[w->by].rows(w, t);
        concurrency_table_fill_total(w, t);
        cpu_source_note(t, view, &w->sources);
    }
    table_arrange(t, view->request, NULL);
}

static void concurrency_table_free(void *work)
{
    struct concurrency_work *w = work;
    thread_levels_free(&w->levels);
    critical_path_free(&w->path);
    free(w);
}

const struct table_preset preset_concurrency = {.what = "concurrency",
                                                .by = concurrency_table_groupings,
                                                .begin = concurrency_table_begin,
                                                .step = concurrency_table_step,
                                                .fill = concurrency_table_fill,
                                                .free = concurrency_table_free};
