/* Table of resource usage: what the operating system reported about processes and threads
 * (server/run/metrics.h). */
#include "server/run/metrics.h"

#include "base/alloc.h"
#include "base/units.h"
#include "server/queries/tables/table_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum usage_column {
    PROCESS,
    THREAD,
    METER,
    AMOUNT,
    GREATEST,
    MEAN_AMOUNT,
    SAMPLES,
    SOURCE,
    UNIT,
    TOTAL,
    LAST,
    LEAST,
    MOST,
    MEAN
};

static const char sampled[] = "/proc, getrusage, perf_event_open";
static const struct column_definition usage_table_columns[] = {
    [PROCESS] = {"program", .kind = TABLE_TEXT},
    [THREAD] = {"thread", .kind = TABLE_LINE},
    [METER] = {"metric", .kind = TABLE_TEXT},
    [AMOUNT] = {"value", .kind = TABLE_TEXT, .source = sampled},
    [GREATEST] = {"max_text", .kind = TABLE_TEXT, .source = sampled},
    [MEAN_AMOUNT] = {"mean_text", .kind = TABLE_TEXT, .source = sampled},
    [SAMPLES] = {"samples", .kind = TABLE_COUNT},
    [SOURCE] = {"source", .kind = TABLE_TEXT},
    [UNIT] = {"unit", .kind = TABLE_TEXT, .detail = true},
    [TOTAL] = {"total", .kind = TABLE_COUNT, .source = sampled, .detail = true},
    [LAST] = {"last", .kind = TABLE_COUNT, .source = sampled, .detail = true},
    [LEAST] = {"min", .kind = TABLE_COUNT, .source = sampled, .detail = true},
    [MOST] = {"max", .kind = TABLE_COUNT, .source = sampled, .detail = true},
    [MEAN] = {"mean", .kind = TABLE_COUNT, .source = sampled, .detail = true},
};

/* ---- values of a series in a range ---- */

struct usage_changes {
    uint32_t count; /* number of points in the range */
    int64_t before, last, least, most; /* before: the last value before the range */
    double mean; /* over time */
    int64_t last_ns;
};

static struct usage_changes usage_table_changes_of(const struct os_metric_series *s,
                                                   const struct table_view *view)
{
    struct usage_changes changes = {.least = INT64_MAX};
    double weighted = 0;
    int64_t since = 0, begun = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        struct os_metric_point p = s->points[i];
        if (p.at_ns >= view->to_ns)
            break;
        if (p.at_ns < view->from_ns) {
            changes.before = p.value;
            continue;
        }
        if (changes.count++)
            weighted += (double)changes.last * (double)(p.at_ns - since);
        else
            begun = p.at_ns;
        since = p.at_ns;
        changes.last = p.value;
        changes.least = p.value < changes.least ? p.value : changes.least;
        changes.most = p.value > changes.most ? p.value : changes.most;
    }
    changes.last_ns = since;
    changes.mean = since > begun ? weighted / (double)(since - begun) : (double)changes.last;
    return changes;
}

/* ---- texts ---- */

static struct table_cell usage_table_amount_cell(const char *unit, double value)
{
    char *text;
    if (strcmp(unit, "ns") == 0) {
        text = xasprintf("%.3f s", value / 1e9);
    } else if (strcmp(unit, "bytes") == 0) {
        struct byte_unit size = byte_unit_for(value, 1024);
        text = xasprintf(size.bytes > 1 ? "%.1f %s" : "%.0f %s", value / size.bytes, size.name);
    } else {
        text = xasprintf("%.0f", value);
    }
    struct table_cell cell = table_cell_text(text);
    free(text);
    return cell;
}

static bool usage_table_is_counter(const struct os_metric_series *s)
{
    return s->meter >= USAGE_CYCLES && s->meter <= USAGE_CPU_MIGRATIONS;
}

static bool usage_table_is_missing(const struct os_metric_series *s)
{
    return s->meter >= USAGE_NO_COUNTER && s->meter < USAGE_NO_COUNTER + USAGE_METERS;
}

/* Returns why a counter is not available, by the errno that is its value; static. */
static const char *usage_table_missing_reason(const struct os_metric_series *s)
{
    int64_t error = s->points[s->count - 1].value;
    return error == ENOENT || error == EOPNOTSUPP || error == ENODEV
               ? "this machine, or virtual machine, has no such counter"
           : error == EACCES || error == EPERM
               ? "not permitted (see perf_event_paranoid in perf_event_open(2))"
           : error == ECANCELED                 ? "POET_PERF=off"
           : error == EMFILE || error == ENFILE ? "too many open files"
                                                : "perf_event_open(2) failed";
}

static struct table_cell usage_table_source_cell(const struct os_metric_series *s,
                                                 const struct usage_changes *changes)
{
    if (usage_table_is_counter(s))
        return table_cell_text(s->thread ? "perf_event_open(), since the server knew the thread"
                                         : "perf_event_open()");
    bool end = s->exact && changes->last_ns == s->points[s->count - 1].at_ns;
    if (end)
        return table_cell_text("getrusage() at exit");
    char *text = xasprintf("/proc, last change at %.3f s", (double)changes->last_ns / 1e9);
    struct table_cell cell = table_cell_text(text);
    free(text);
    return cell;
}

/* ---- rows ---- */

static void add_row(const struct table_view *view, struct result_table *t,
                    const struct os_metric_series *s)
{
    struct usage_changes changes = usage_table_changes_of(s, view);
    struct table_cell *c = changes.count ? table_add_row(t, 0, (struct event_id){0}) : NULL;
    if (!c)
        return;
    struct os_metric_kind meter = os_metrics_meter(view->run, s);
    const char *unit = meter.unit;
    c[PROCESS] = table_cell_program(view, s->process);
    c[THREAD] = table_cell_line(s->thread);
    c[METER] = table_cell_text(meter.name);
    c[SAMPLES] = table_cell_number(changes.count);
    c[SOURCE] = usage_table_source_cell(s, &changes);
    c[UNIT] = table_cell_text(unit);
    c[LAST] = table_cell_number(changes.last);
    if (meter.grows) {
        int64_t total = changes.last > changes.before ? changes.last - changes.before : 0;
        c[TOTAL] = table_cell_number(total);
        c[AMOUNT] = usage_table_amount_cell(unit, (double)total);
    } else {
        c[LEAST] = table_cell_number(changes.least);
        c[MOST] = table_cell_number(changes.most);
        c[MEAN] = table_cell_number((int64_t)(changes.mean + 0.5));
        c[AMOUNT] = usage_table_amount_cell(unit, (double)changes.last);
        c[GREATEST] = usage_table_amount_cell(unit, (double)changes.most);
        c[MEAN_AMOUNT] = usage_table_amount_cell(unit, changes.mean);
    }
    table_row_line(t, s->thread);
}

static void usage_table_add_missing(const struct table_view *view, struct result_table *t,
                                    const struct os_metric_series *s)
{
    struct table_cell *c = table_add_row(t, 0, (struct event_id){0});
    if (!c)
        return;
    c[PROCESS] = table_cell_program(view, s->process);
    c[METER] = table_cell_text(os_metrics_meter(view->run, s).name);
    c[AMOUNT] = table_cell_text("not available");
    c[SOURCE] = table_cell_text(usage_table_missing_reason(s));
}

struct usage_row {
    const struct os_metric_series *series;
};

static int by_place(const void *a, const void *b)
{
    return os_metric_series_compare(((const struct usage_row *)a)->series,
                                    ((const struct usage_row *)b)->series);
}

static void *usage_table_begin(const struct table_view *view, struct error *error)
{
    if (!view->past)
        return xcalloc(1, 1);
    error_set(error, "OS resource usage is recorded over time and is unknown for the causal "
                     "past of an event");
    return NULL;
}

/* Returns whether rows are those of threads: if threads are selected, they are meant, not the
 * programs. */
static bool by_thread(const struct table_request *request)
{
    return strcmp(request->by, "thread") == 0 || (request->line_count && !*request->by);
}

static void usage_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    size_t n = os_metrics_count(view->run), kept = 0;
    struct usage_row *rows = xcalloc(n + 1, sizeof *rows);
    bool threads = by_thread(view->request);
    (void)work;
    t->title = xstrdup("OS resource usage");
    table_add_columns(t, usage_table_columns,
                      sizeof usage_table_columns / sizeof *usage_table_columns);
    for (size_t i = 0; i < n; i++) {
        const struct os_metric_series *s = os_metrics_at(view->run, i);
        if (s->meter >= USAGE_METERS && !usage_table_is_missing(s))
            continue; /* other metrics are in other tables */
        if (s->thread ? threads && table_wants(view, s->thread) : !view->request->line_count)
            rows[kept++].series = s;
    }
    qsort(rows, kept, sizeof *rows, by_place);
    for (size_t i = 0; i < kept; i++)
        if (usage_table_is_missing(rows[i].series))
            usage_table_add_missing(view, t, rows[i].series);
        else
            add_row(view, t, rows[i].series);
    free(rows);
    table_arrange(t, view->request, NULL);
    if (!kept)
        table_add_note(t, "no data: only local processes (Unix socket) are sampled");
}

static const char *const usage_table_groupings[] = {"program", "thread", NULL};
const struct table_preset preset_usage = {.what = "usage",
                                          .by = usage_table_groupings,
                                          .begin = usage_table_begin,
                                          .fill = usage_table_fill,
                                          .free = free};
