/* Table of the run itself: one row with the program, its start and duration, and how complete the
 * data is. */
#include "base/alloc.h"
#include "server/queries/tables/table_query.h"
#include "server/run/metrics.h"
#include "server/run/untraced_reasons.h"
#include "wire/os_usage.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum run_column {
    RUN,
    PROGRAM,
    ARGUMENTS,
    BEGAN,
    WALL,
    TOOK,
    THREADS,
    PROCESSES,
    EVENTS,
    LOST,
    CONNECTED
};

static const struct column_definition run_table_columns[] = {
    [RUN] = {"run", .kind = TABLE_TEXT},
    [PROGRAM] = {"program", .kind = TABLE_TEXT},
    [ARGUMENTS] = {"arguments", .kind = TABLE_TEXT},
    [BEGAN] = {"start", "start time", .kind = TABLE_TEXT},
    [WALL] = {"wall_ns", "start time", .kind = TABLE_NS, .detail = true},
    [TOOK] = {"duration_ns", .kind = TABLE_NS},
    [THREADS] = {"threads", .kind = TABLE_COUNT},
    [PROCESSES] = {"processes", .kind = TABLE_COUNT},
    [EVENTS] = {"events", .kind = TABLE_COUNT},
    [LOST] = {"lost", .kind = TABLE_COUNT},
    [CONNECTED] = {"connected", .kind = TABLE_COUNT, .detail = true},
};

/* Returns a word quoted for a shell; the caller frees it. */
static char *run_table_shell_quote(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%^";
    if (*word && !word[strspn(word, plain)])
        return xstrdup(word);
    size_t n = strlen(word), k = 0;
    char *s = xcalloc(4 * n + 3, 1);
    s[k++] = '\'';
    for (size_t i = 0; i < n; i++) {
        if (word[i] == '\'')
            k += (size_t)(stpcpy(s + k, "'\\''") - (s + k));
        else
            s[k++] = word[i];
    }
    s[k] = '\'';
    return s;
}

/* Formats the arguments without the first one, the program's name. */
static struct table_cell run_table_format_arguments(const struct run_process *p)
{
    char *all = xstrdup("");
    for (size_t i = 1; i < p->argument_count; i++) {
        char *word = run_table_shell_quote(p->arguments[i]),
             *more = xasprintf("%s%s%s", all, *all ? " " : "", word);
        free(word);
        free(all);
        all = more;
    }
    struct table_cell cell = table_cell_text(all);
    free(all);
    return cell;
}

/* Formats a time independently of the local time zone. */
static struct table_cell run_table_format_begin(uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm tm;
    char text[40];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&seconds, &tm));
    return table_cell_text(text);
}

/* Returns the duration of the run. A killed program records no end; then the run lasts until the
 * server noticed that all of its processes were gone. */
static int64_t run_table_duration(const struct table_view *view)
{
    const struct intervals *all = view->measured;
    int64_t length = table_length(view), from = INT64_MAX;
    bool cut = false;
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct thread_timeline *c = &all->threads[i];
        if (c->start_ns == INTERVALS_NEVER)
            continue;
        from = c->start_ns < from ? c->start_ns : from;
        cut |= c->end == NO_POSITION;
    }
    bool later = cut && !view->apart && view->run->clock.ended_ns > from;
    return later && view->run->clock.ended_ns - from > length ? view->run->clock.ended_ns - from
                                                              : length;
}

/* Adds notes about threads and waits that may not be traced: the operating system counted more
 * threads than there are, such as those that libraries create, or there is only one.  A runtime has
 * threads of its own, on which its tasks run. */
static void run_table_note_untraced(struct result_table *t, const struct table_view *view)
{
    uint64_t seen = view->measured->thread_count, there = 0;
    for (size_t i = 0; i < os_metrics_count(view->run); i++) {
        const struct os_metric_series *s = os_metrics_at(view->run, i);
        there += s->meter == USAGE_THREADS && !s->thread && s->most > 0 ? (uint64_t)s->most : 0;
    }
    bool runtime = placements_carriers(cpu_states_tasks(view->lives.spans));
    if (there > seen && !runtime)
        table_add_note(t,
                       "%llu threads existed, at most %llu %s traced; use poet record --libraries "
                       "to trace threads created by libraries",
                       (unsigned long long)there, (unsigned long long)seen,
                       seen == 1 ? "was" : "were");
    if (seen == 1)
        table_add_note(t, "single-threaded: its waits may be untraced; pipes, sockets and file "
                          "locks need poet record or poetcc -trace -processes");
}

static void run_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    const struct run *run = view->run;
    struct order_figures f = order_figures(run->order);
    uint64_t unreadable = order_unreadable_events(run->order);
    (void)work;
    t->title = xstrdup("run");
    table_add_columns(t, run_table_columns, sizeof run_table_columns / sizeof *run_table_columns);
    struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
    cells[RUN] = table_cell_text(run->name);
    if (run->processes.count) {
        cells[PROGRAM] = table_cell_text(run->processes.items[0].path);
        cells[ARGUMENTS] = run_table_format_arguments(&run->processes.items[0]);
    }
    if (run->clock.wall_ns) {
        cells[BEGAN] = run_table_format_begin(run->clock.wall_ns);
        cells[WALL] = table_cell_number((int64_t)run->clock.wall_ns);
    }
    cells[TOOK] = table_cell_number(run_table_duration(view));
    cells[THREADS] = table_cell_number(view->measured->thread_count);
    cells[PROCESSES] = table_cell_number((int64_t)run->processes.count);
    cells[EVENTS] = table_cell_number((int64_t)(f.events - unreadable));
    cells[LOST] = table_cell_number((int64_t)(run_lost(run) + unreadable));
    cells[CONNECTED] = table_cell_number(run_connected(run));
    if (run->file.damage)
        table_add_note(t, "%s", run->file.damage);
    if (f.pending && run_connected(run)) /* of a finished run, table_note_missing() reports them */
        table_add_note(t, "%llu events are not yet ordered", (unsigned long long)f.pending);
    run_table_note_untraced(t, view);
}

const struct table_preset preset_run = {.what = "run", .fill = run_table_fill};
