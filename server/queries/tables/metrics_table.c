/* Table of metrics: what target descriptions, or a user-defined file, count and time over the
 * events of a run (config/metric_rules.h).  Option "metrics": the text of such a file. */
#include "config/metric_rules.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/queries/tables/program_metric_rows.h"
#include "server/run/event_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum metric_role { BEGINS = 1, ENDS = 2, COUNTS = 4 };

struct metric_sum {
    uint32_t meter, thread;
    uint64_t count;
    int64_t total, last, least, most;
};

struct metrics_work {
    const struct table_view *view;
    struct arena texts; /* texts of `own` */
    struct target_metric *own; /* metrics of the option */
    size_t own_count;
    const struct target_metric **meters; /* all: those of the option, then those of descriptions */
    size_t count, room;
    uint8_t **roles; /* by metric and type: an enum metric_role */
    uint8_t *met; /* by metric: the roles that occurred, an enum metric_role */
    uint32_t types; /* number of types in `roles` */
    uint64_t position; /* of the next event */
    struct call_contexts *contexts;
    uint64_t taken; /* number of readings of the threads' counters when the request came */
    struct map open; /* metric and thread, object -> 1 + index in begun */
    int64_t *begun;
    size_t begun_count, begun_room;
    struct map at; /* metric, thread -> 1 + index in sums */
    struct metric_sum *sums;
    size_t sum_count, sum_room;
};

static void free_work(void *work)
{
    struct metrics_work *m = work;
    free(m->own);
    arena_free(&m->texts);
    for (size_t i = 0; i < m->count; i++)
        free(m->roles[i]);
    free(m->roles);
    free(m->met);
    free(m->meters);
    map_free(&m->open);
    map_free(&m->at);
    free(m->begun);
    free(m->sums);
    free(m);
}

/* Adds metrics, except those with an existing name: a description precedes the one that it was
 * derived from. */
static void add_meters(struct metrics_work *m, const struct target_metric *meters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool there = false;
        for (size_t k = 0; k < m->count; k++)
            there |= strcmp(m->meters[k]->name, meters[i].name) == 0;
        if (there)
            continue;
        m->meters = array_reserve(m->meters, &m->room, m->count + 1, sizeof *m->meters);
        m->meters[m->count++] = &meters[i];
    }
}

static uint8_t role_of(const struct target_metric *m, const char *type)
{
    return (uint8_t)((target_has_line_type(&m->from, type) ? BEGINS : 0) |
                     (target_has_line_type(&m->to, type) ? ENDS : 0) |
                     (target_has_line_type(&m->count, type) ? COUNTS : 0));
}

/* Sets the roles of all types; new ones can be declared while the run grows. */
static void learn_types(struct metrics_work *m)
{
    uint32_t types = (uint32_t)m->view->run->types.count + 1;
    if (m->types == types)
        return;
    for (size_t i = 0; i < m->count; i++) {
        m->roles[i] = xreallocarray(m->roles[i], types, 1);
        for (uint32_t type = 0; type < types; type++)
            m->roles[i][type] = type ? role_of(m->meters[i], run_type_name(m->view->run, type)) : 0;
    }
    m->types = types;
}

static void *metrics_table_begin(const struct table_view *view, struct error *error)
{
    const char *text = table_option(view->request, "metrics");
    struct metrics_work *m = xcalloc(1, sizeof *m);
    m->view = view;
    m->contexts =
        (struct call_contexts *)(uintptr_t)&view->run->contexts; /* only `wanted` changes */
    m->contexts->wanted |= view->run->programs.connected > 0;
    m->taken = m->contexts->taken;
    if (text && !metric_rules_read(text, "meters", NULL, &m->texts, &m->own, &m->own_count)) {
        error_set(error, "invalid metric definitions");
        free_work(m);
        return NULL;
    }
    add_meters(m, m->own, m->own_count);
    for (size_t i = 0; i < view->run->targets.count; i++)
        add_meters(m, view->run->targets.items[i]->meters,
                   view->run->targets.items[i]->meter_count);
    m->roles = xcalloc(m->count + 1, sizeof *m->roles);
    m->met = xcalloc(m->count + 1, sizeof *m->met);
    m->position = order_first(view->run->order);
    return m;
}

/* ---- events ---- */

static struct metric_sum *sum_of(struct metrics_work *m, uint32_t meter, uint32_t thread)
{
    return MAP_ITEM(&m->at, meter, thread, m->sums, m->sum_count, m->sum_room,
                    (struct metric_sum){
                        .meter = meter, .thread = thread, .least = INT64_MAX, .most = INT64_MIN});
}

static void metrics_table_add_value(struct metric_sum *sum, int64_t value)
{
    sum->count++;
    sum->total += value;
    sum->last = value;
    sum->least = value < sum->least ? value : sum->least;
    sum->most = value > sum->most ? value : sum->most;
}

static void metrics_table_apply_event(struct metrics_work *m, uint32_t meter, uint8_t role,
                                      const struct order_event *e, int64_t at_ns)
{
    m->met[meter] |= role;
    if (role & COUNTS)
        metrics_table_add_value(sum_of(m, meter, e->thread), 1);
    if (!(role & (BEGINS | ENDS)))
        return;
    uint64_t key = (uint64_t)meter << 32 | e->thread;
    uint32_t object = !m->meters[meter]->per_line ? 0 : e->about ? e->about : e->line;
    uintptr_t open = (uintptr_t)map_get(&m->open, key, object);
    if (role & ENDS && open && m->begun[open - 1] != INTERVALS_NEVER) {
        metrics_table_add_value(sum_of(m, meter, e->thread), at_ns - m->begun[open - 1]);
        m->begun[open - 1] = INTERVALS_NEVER;
    }
    if (!(role & BEGINS))
        return;
    if (!open) {
        m->begun = array_reserve(m->begun, &m->begun_room, m->begun_count + 1, sizeof *m->begun);
        open = ++m->begun_count;
        map_put(&m->open, key, object, (void *)open);
    }
    m->begun[open - 1] = at_ns;
}

static bool metrics_table_counts_event(const struct table_view *view, const struct order_event *e,
                                       int64_t at_ns)
{
    if (!e->thread || !table_wants(view, e->thread) || at_ns < view->from_ns)
        return false;
    const struct thread_timeline *course =
        view->past ? intervals_for_thread(view->measured, e->thread) : NULL;
    return at_ns < view->to_ns && (!view->past || (course && at_ns <= table_until(view, course)));
}

static bool metrics_table_step(void *work, uint64_t *budget)
{
    struct metrics_work *m = work;
    const struct order *order = m->view->run->order;
    uint64_t end = order_count(order);
    if (m->view->run->programs.connected && m->contexts->taken == m->taken && m->contexts->wanted)
        return false; /* a live run: wait for the newest value */
    learn_types(m);
    if (m->position < order_first(order))
        m->position = order_first(order); /* events were discarded meanwhile */
    for (; m->position < end && *budget; m->position++, --*budget) {
        struct order_event e = order_event(order, m->position);
        int64_t at_ns = 0;
        bool looked = false, wanted = false;
        for (uint32_t i = 0; i < m->count; i++) {
            uint8_t role = e.type < m->types && !(e.line & HIDDEN_LINE) ? m->roles[i][e.type] : 0;
            if (!role)
                continue;
            if (!looked) {
                at_ns = event_times_for_process(m->view->run, &e);
                wanted = metrics_table_counts_event(m->view, &e, at_ns);
                looked = true;
            }
            if (wanted)
                metrics_table_apply_event(m, i, role, &e, at_ns);
        }
    }
    return m->position >= end;
}

/* ---- table ---- */

static const struct column_definition metrics_table_columns[] = {
    [METER_NAME] = {"metric", .kind = TABLE_TEXT},
    [METER_THREAD] = {"thread", .kind = TABLE_LINE},
    [METER_AMOUNT] = {"value", "total", .kind = TABLE_TEXT},
    [METER_TIMES] = {"count", .kind = TABLE_COUNT},
    [METER_EACH] = {"mean_text", .kind = TABLE_TEXT},
    [METER_GREATEST] = {"max_text", .kind = TABLE_TEXT},
    [METER_UNIT] = {"unit", .kind = TABLE_TEXT, .detail = true},
    [METER_TOTAL] = {"total", .kind = TABLE_COUNT, .detail = true},
    [METER_LAST] = {"last", .kind = TABLE_COUNT, .detail = true},
    [METER_LEAST] = {"min", .kind = TABLE_COUNT, .detail = true},
    [METER_MOST] = {"max", .kind = TABLE_COUNT, .detail = true},
    [METER_MEAN] = {"mean", .kind = TABLE_COUNT, .detail = true},
    [METER_KIND] = {"kind", .kind = TABLE_TEXT, .detail = true},
    [METER_GOOD] = {"better", "better when", .kind = TABLE_TEXT, .detail = true},
};

static void set_good(struct table_cell *c, const struct target_metric *m)
{
    if (m->good)
        c[METER_GOOD] = table_cell_text(m->good == GOOD_HIGH ? "high" : "low");
}

static void add_sum(struct result_table *t, const struct target_metric *m,
                    const struct metric_sum *s, bool threads)
{
    struct table_cell *c = table_add_row(t, 0, (struct event_id){0});
    if (!c)
        return;
    bool timed = m->from.count != 0;
    c[METER_NAME] = table_cell_text(m->name);
    set_good(c, m);
    c[METER_THREAD] = threads ? table_cell_line(s->thread) : (struct table_cell){0};
    c[METER_AMOUNT] = metric_rows_amount(m->unit, (double)s->total);
    c[METER_TIMES] = table_cell_number((int64_t)s->count);
    c[METER_TOTAL] = table_cell_number(s->total);
    c[METER_UNIT] = table_cell_text(m->unit);
    if (timed && s->count) {
        c[METER_LAST] = table_cell_number(s->last);
        c[METER_LEAST] = table_cell_number(s->least);
        c[METER_MOST] = table_cell_number(s->most);
        c[METER_MEAN] = table_cell_number((int64_t)((double)s->total / (double)s->count + 0.5));
        c[METER_EACH] = metric_rows_amount(m->unit, (double)s->total / (double)s->count);
        c[METER_GREATEST] = metric_rows_amount(m->unit, (double)s->most);
    }
    if (threads)
        table_row_line(t, s->thread);
}

/* Returns the sum over all threads. */
static struct metric_sum metrics_table_total_of(const struct metrics_work *m, uint32_t meter)
{
    struct metric_sum all = {.meter = meter, .least = INT64_MAX, .most = INT64_MIN};
    for (size_t i = 0; i < m->sum_count; i++) {
        const struct metric_sum *s = &m->sums[i];
        if (s->meter != meter)
            continue;
        all.count += s->count;
        all.total += s->total;
        all.last = s->last;
        all.least = s->least < all.least ? s->least : all.least;
        all.most = s->most > all.most ? s->most : all.most;
    }
    return all;
}

static bool total_of(void *context, const char *name, double *value)
{
    struct metrics_work *m = context;
    double of;
    unsigned wrong;
    for (uint32_t i = 0; i < m->count; i++) {
        if (strcmp(m->meters[i]->name, name) != 0)
            continue;
        if (m->meters[i]->own)
            return metric_rows_value(m->view->run, name, value);
        if (m->meters[i]->formula)
            return formula_value(m->meters[i]->formula, total_of, m, value, &wrong) == FORMULA_GOOD;
        of = (double)metrics_table_total_of(m, i).total;
        *value = of;
        return true;
    }
    return false;
}

static void add_formula(struct metrics_work *m, struct result_table *t,
                        const struct target_metric *meter)
{
    double value;
    unsigned wrong;
    bool known = formula_value(meter->formula, total_of, m, &value, &wrong) == FORMULA_GOOD;
    struct table_cell *c = table_add_row(t, 0, (struct event_id){0});
    if (!c)
        return;
    c[METER_NAME] = table_cell_text(meter->name);
    set_good(c, meter);
    c[METER_UNIT] = table_cell_text(meter->unit);
    if (known) {
        c[METER_AMOUNT] = metric_rows_amount(meter->unit, value);
        c[METER_TOTAL] = table_cell_real(value);
    }
}

/* Returns the names as a list, such as "acquire, wait"; the caller frees it. */
static char *metrics_table_describe_names(const struct target_names *names)
{
    char *all = xstrdup("");
    for (size_t i = 0; i < names->count; i++) {
        char *more = xasprintf("%s%s%s", all, i ? ", " : "", names->items[i]);
        free(all);
        all = more;
    }
    return all;
}

/* Adds a note if a metric of the option matched nothing: its total of 0 could also be a measured
 * one. */
static void note_unmatched(const struct metrics_work *m, uint32_t meter, struct result_table *t)
{
    const struct target_metric *of = m->meters[meter];
    uint8_t met = m->met[meter];
    const struct target_names *none = of->count.count ? &of->count
                                      : met & BEGINS  ? &of->to
                                                      : &of->from;
    char *names = metrics_table_describe_names(none);
    if (!of->count.count && (met & (BEGINS | ENDS)) == (BEGINS | ENDS))
        table_add_note(t,
                       "%s: no match: no thread performed an end event (%s) after a start event%s",
                       of->name, names, of->per_line ? " on the same line" : "");
    else
        table_add_note(t, "%s: no match: no event of type %s", of->name, names);
    free(names);
}

static void metrics_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct metrics_work *m = work;
    bool threads = strcmp(view->request->by, "thread") == 0;
    t->title = xstrdup("metrics");
    table_add_columns(t, metrics_table_columns,
                      sizeof metrics_table_columns / sizeof *metrics_table_columns);
    metric_rows_columns(view->run, t);
    metric_rows_fill(view, threads, t);
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->meters[i]->formula)
            add_formula(m, t, m->meters[i]);
        if (m->meters[i]->formula || m->meters[i]->own)
            continue;
        struct metric_sum all = metrics_table_total_of(m, i);
        bool asked = m->meters[i] >= m->own && m->meters[i] < m->own + m->own_count;
        if (!all.count && asked)
            note_unmatched(m, i, t);
        if (!threads)
            add_sum(t, m->meters[i], &all, false);
        for (size_t k = 0; threads && k < m->sum_count; k++)
            if (m->sums[k].meter == i)
                add_sum(t, m->meters[i], &m->sums[k], true);
    }
    if (!m->count && !metric_rows_any(view->run))
        table_add_note(t, "no metrics: neither the program nor a description of the run defines "
                          "any; use -m FILE");
    table_arrange(t, view->request, NULL);
}

static const char *const metrics_table_groupings[] = {"metric", "thread", NULL};
const struct table_preset preset_metrics = {.what = "metrics",
                                            .by = metrics_table_groupings,
                                            .begin = metrics_table_begin,
                                            .step = metrics_table_step,
                                            .fill = metrics_table_fill,
                                            .free = free_work};
