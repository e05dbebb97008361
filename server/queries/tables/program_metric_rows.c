#include "server/queries/tables/program_metric_rows.h"

#include "base/alloc.h"
#include "server/run/metrics.h"

#include <stdlib.h>
#include <string.h>

/* The values of one metric, in one thread or in all. */
struct metric_row {
    const struct program_metric_name *name;
    uint32_t line; /* thread line; 0: all, or unknown */
    uint32_t threads; /* number of threads that counted in it */
    struct metric_sums sums;
    const struct program_metric_samples *samples; /* of a watched or sampled metric */
};

struct metric_rows {
    struct metric_row *items;
    size_t count, room;
};

static bool is_looked_at(const struct program_metric_name *name)
{
    return name->kind >= METRIC_WATCHED;
}

static struct metric_row *row_of(struct metric_rows *rows, const struct program_metric_name *name,
                                 uint32_t line)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct metric_row *r = &rows->items[i];
        if (r->line == line && r->name->kind == name->kind &&
            strcmp(r->name->name, name->name) == 0 && !is_looked_at(name))
            return r;
    }
    rows->items = array_reserve(rows->items, &rows->room, rows->count + 1, sizeof *rows->items);
    rows->items[rows->count] = (struct metric_row){
        .name = name, .line = line, .sums = {.least = INT64_MAX, .most = INT64_MIN}};
    return &rows->items[rows->count++];
}

static void metric_rows_add_sums(struct metric_row *row, const struct metric_sums *s)
{
    row->threads++;
    row->sums.count += s->count;
    row->sums.sum = (int64_t)((uint64_t)row->sums.sum + (uint64_t)s->sum);
    row->sums.last = s->last;
    if (s->count && s->least < row->sums.least)
        row->sums.least = s->least;
    if (s->count && s->most > row->sums.most)
        row->sums.most = s->most;
    for (unsigned i = 0; i < METRIC_BUCKETS; i++)
        row->sums.buckets[i] += s->buckets[i];
}

/* Collects the rows; declared metrics without a value have one, too. */
static void metric_rows_gather_rows(const struct run *run, const struct table_view *view,
                                    bool by_thread, struct metric_rows *rows)
{
    for (size_t i = 0; i < program_metrics_names(run) && !by_thread; i++)
        if (!is_looked_at(program_metrics_name_at(run, i)))
            row_of(rows, program_metrics_name_at(run, i), 0);
    for (size_t i = 0; i < program_metrics_counted(run); i++) {
        const struct program_metric_sums *s = program_metrics_counted_at(run, i);
        const struct program_metric_name *name =
            program_metrics_name(run, s->session, s->sums.code);
        if (name && name->kind == s->sums.kind && (!view || table_wants(view, s->line)))
            metric_rows_add_sums(row_of(rows, name, by_thread ? s->line : 0), &s->sums);
    }
    for (size_t i = 0; i < program_metrics_sampled(run); i++) {
        const struct program_metric_samples *s = program_metrics_sampled_at(run, i);
        const struct program_metric_name *name = program_metrics_name(run, s->session, s->code);
        if (name)
            row_of(rows, name, 0)->samples = s;
    }
}

/* ---- cells ---- */

struct table_cell metric_rows_amount(const char *unit, double value)
{
    bool small = value && value > -1e3 && value < 1e3; /* (0.000 ms would be a different value) */
    char *text = strcmp(unit, "ns") == 0 ? xasprintf(small ? "%.6f ms" : "%.3f ms", value / 1e6)
                                         : xasprintf("%.6g%s%s", value, *unit ? " " : "", unit);
    struct table_cell cell = table_cell_text(text);
    free(text);
    return cell;
}

static struct table_cell metric_rows_number_cell(double value)
{
    bool whole = value > -9e15 && value < 9e15 && value == (double)(int64_t)value;
    return whole ? table_cell_number((int64_t)value) : table_cell_real(value);
}

/* Returns an upper bound of a percentile: the end of its bucket. */
static int64_t metric_rows_percentile(const struct metric_sums *s, unsigned percent)
{
    uint64_t seen = 0, all = 0;
    for (unsigned i = 0; i < METRIC_BUCKETS; i++)
        all += s->buckets[i];
    for (unsigned i = 0; i < METRIC_BUCKETS; i++) {
        seen += s->buckets[i];
        if (all && (double)seen * 100 >= (double)all * percent)
            return metric_bucket_end(i) < s->most ? metric_bucket_end(i) : s->most;
    }
    return s->most;
}

static void fill_distribution(struct table_cell *c, const char *unit, const struct metric_sums *s)
{
    static const unsigned percents[] = {50, 90, 99};
    for (unsigned i = 0; i < 3; i++) {
        int64_t most = metric_rows_percentile(s, percents[i]);
        c[METER_P50_AMOUNT + i] = metric_rows_amount(unit, (double)most);
        c[METER_P50 + i] = table_cell_number(most);
    }
}

static void fill_values(struct table_cell *c, const struct metric_row *row)
{
    const struct metric_sums *s = &row->sums;
    double mean = (double)s->sum / (double)s->count;
    c[METER_LEAST] = table_cell_number(s->least);
    c[METER_MOST] = table_cell_number(s->most);
    c[METER_MEAN] = metric_rows_number_cell(mean);
    c[METER_EACH] = metric_rows_amount(row->name->unit, mean);
    c[METER_GREATEST] = metric_rows_amount(row->name->unit, (double)s->most);
    if (row->threads == 1)
        c[METER_LAST] = table_cell_number(s->last);
}

static void fill_counted(struct table_cell *c, const struct metric_row *row)
{
    const struct metric_sums *s = &row->sums;
    const char *unit = row->name->unit;
    bool gauge = row->name->kind == METRIC_GAUGE;
    c[METER_TIMES] = table_cell_number((int64_t)s->count);
    if (!gauge) {
        c[METER_TOTAL] = table_cell_number(s->sum);
        c[METER_AMOUNT] = metric_rows_amount(unit, (double)s->sum);
    } else if (s->count && row->threads == 1) {
        c[METER_AMOUNT] = metric_rows_amount(unit, (double)s->last);
    }
    if (s->count && row->name->kind != METRIC_COUNT)
        fill_values(c, row);
    if (s->count && row->name->kind == METRIC_DISTRIBUTION)
        fill_distribution(c, unit, s);
}

static void fill_samples(struct table_cell *c, const struct metric_row *row)
{
    const struct program_metric_samples *s = row->samples;
    const char *unit = row->name->unit;
    double scale = row->name->kind == METRIC_SAMPLED ? METRIC_SAMPLED_SCALE : 1;
    double ns = (double)(s->last_ns - s->first_ns);
    c[METER_TIMES] = table_cell_number((int64_t)s->count);
    c[METER_LAST] = metric_rows_number_cell((double)s->last / scale);
    c[METER_LEAST] = metric_rows_number_cell((double)s->least / scale);
    c[METER_MOST] = metric_rows_number_cell((double)s->most / scale);
    c[METER_AMOUNT] = metric_rows_amount(unit, (double)s->last / scale);
    c[METER_GREATEST] = metric_rows_amount(unit, (double)s->most / scale);
    if (ns <= 0)
        return;
    c[METER_MEAN] = metric_rows_number_cell(s->total / ns / scale);
    c[METER_EACH] = metric_rows_amount(unit, s->total / ns / scale);
}

static void add_row(struct result_table *t, const struct metric_row *row)
{
    static const char *const kinds[METRIC_KINDS] = {"",          "counter", "gauge",
                                                    "histogram", "watched", "sampled"};
    struct table_cell *c = table_add_row(t, 0, (struct event_id){0});
    if (!c)
        return;
    c[METER_NAME] = table_cell_text(row->name->name);
    c[METER_THREAD] = table_cell_line(row->line);
    c[METER_UNIT] = table_cell_text(row->name->unit);
    c[METER_KIND] = table_cell_text(kinds[row->name->kind]);
    if (row->samples)
        fill_samples(c, row);
    else
        fill_counted(c, row);
    if (row->line)
        table_row_line(t, row->line);
}

/* ---- table ---- */

static bool any_distribution(const struct run *run)
{
    bool any = false;
    for (size_t i = 0; i < program_metrics_names(run) && !any; i++)
        any = program_metrics_name_at(run, i)->kind == METRIC_DISTRIBUTION;
    return any;
}

bool metric_rows_any(const struct run *run) { return program_metrics_names(run) != 0; }

void metric_rows_columns(const struct run *run, struct result_table *t)
{
    if (!any_distribution(run))
        return;
    static const char *const names[] = {"p50", "p90", "p99"};
    for (unsigned i = 0; i < 3; i++) {
        char *amount = xasprintf("%s_text", names[i]), *title = xasprintf("%s \u2264", names[i]);
        table_add_column(t, amount, title, TABLE_TEXT, NULL);
        free(title);
        free(amount);
    }
    for (unsigned i = 0; i < 3; i++) {
        table_add_column(t, names[i], names[i], TABLE_COUNT, NULL);
        table_detail(t);
    }
}

static bool has_range(const struct table_view *view)
{
    return view->past || view->from_ns != INT64_MIN || view->to_ns != INT64_MAX;
}

static void add_notes(const struct run *run, const struct metric_rows *rows, struct result_table *t)
{
    bool looked = false, several = false, counted = false, nothing = false;
    for (size_t i = 0; i < rows->count; i++) {
        looked |= rows->items[i].samples != NULL;
        counted |= rows->items[i].sums.count != 0;
        nothing |= !rows->items[i].samples && !rows->items[i].sums.count;
        several |= rows->items[i].name->kind == METRIC_GAUGE && rows->items[i].threads > 1;
    }
    if (any_distribution(run))
        table_add_note(t, "p50, p90, p99 are upper bounds of power-of-two histogram buckets; the "
                          "true value is at least half");
    if (looked)
        table_add_note(t, "the count of a watched or sampled metric is that of value changes seen; "
                          "changes between two samples are not seen");
    if (nothing && !counted)
        table_add_note(t, "the program's own metrics are 0: they count only while metrics are "
                          "measured (poet record -m metrics, POET_MEASURE=metrics)");
    if (several)
        table_add_note(t,
                       "several threads set one gauge; --by thread shows the last value of each");
}

void metric_rows_fill(const struct table_view *view, bool by_thread, struct result_table *t)
{
    struct metric_rows rows = {0};
    if (has_range(view)) {
        if (metric_rows_any(view->run))
            table_add_note(
                t, "metrics that threads count themselves are sums since thread start; they "
                   "are not available for a part of the run");
        return;
    }
    metric_rows_gather_rows(view->run, view, by_thread, &rows);
    for (size_t i = 0; i < rows.count; i++)
        add_row(t, &rows.items[i]);
    add_notes(view->run, &rows, t);
    free(rows.items);
}

/* ---- values for formulas ---- */

static bool value_of(const struct metric_row *row, double *value)
{
    double scale = row->name->kind == METRIC_SAMPLED ? METRIC_SAMPLED_SCALE : 1;
    if (row->samples)
        *value = (double)row->samples->last / scale;
    else if (row->name->kind == METRIC_GAUGE)
        *value = (double)row->sums.last;
    else
        *value = (double)row->sums.sum;
    return row->samples || row->name->kind != METRIC_GAUGE || row->threads == 1;
}

bool metric_rows_value(const struct run *run, const char *name, double *value)
{
    struct metric_rows rows = {0};
    bool known = false;
    metric_rows_gather_rows(run, NULL, false, &rows);
    for (size_t i = 0; i < rows.count && !known; i++)
        known = strcmp(rows.items[i].name->name, name) == 0 && value_of(&rows.items[i], value);
    free(rows.items);
    return known;
}
