/* Table of predicted bugs (server/analysis/bug_prediction.h): orders that did not occur, and below
 * each the operations of its threads, with the events that show it.  Options: "kinds", words of
 * finding_kinds separated by commas, or "all"; without it those that bear on correctness by
 * themselves.  Findings keep their numbers in the whole list. */
#include "base/alloc.h"
#include "server/queries/sync_ops.h"
#include "server/cuts/cut_info.h"
#include "server/queries/tables/table_query.h"
#include "server/run/call_sites.h"
#include "server/timing/run_metadata_source.h"

#include <stdlib.h>
#include <string.h>

/* Synchronization that is not traced and may order the destruction of an object after its uses. */
#define PREDICTIONS_UNTRACED                                                                       \
    (UNTRACED_BIT(UNTRACED_ATOMIC) | UNTRACED_BIT(UNTRACED_FUTEX) | UNTRACED_BIT(UNTRACED_RUNTIME))

enum predictions_column {
    NUMBER,
    KIND,
    TIMES,
    THREAD,
    LINE,
    WHERE,
    EVENT,
    THEN_LINE,
    THEN_WHERE,
    THEN_EVENT,
    BEGIN_WHERE,
    BEGIN_EVENT,
    TYPE,
    THEN_TYPE,
    BEGIN_TYPE
};

static const struct column_definition predictions_columns[] = {
    [NUMBER] = {"number", "", .kind = TABLE_COUNT},
    [KIND] = {"kind", "potential bug", .kind = TABLE_TEXT},
    [TIMES] = {"count", "occurrences", .kind = TABLE_COUNT},
    [THREAD] = {"thread", .kind = TABLE_LINE},
    [LINE] = {"object", "first object", .kind = TABLE_LINE},
    [WHERE] = {"location", "first location", .kind = TABLE_PLACE},
    [EVENT] = {"event", "first event", .kind = TABLE_EVENT},
    [THEN_LINE] = {"second_object", .kind = TABLE_LINE},
    [THEN_WHERE] = {"second_location", .kind = TABLE_PLACE},
    [THEN_EVENT] = {"second_event", .kind = TABLE_EVENT},
    [BEGIN_WHERE] = {"request_location", .kind = TABLE_PLACE, .detail = true},
    [BEGIN_EVENT] = {"request_event", .kind = TABLE_EVENT, .detail = true},
    [TYPE] = {"type", "first operation", .kind = TABLE_TEXT, .detail = true},
    [THEN_TYPE] = {"second_type", "second operation", .kind = TABLE_TEXT, .detail = true},
    [BEGIN_TYPE] = {"request_type", "request operation", .kind = TABLE_TEXT, .detail = true},
};

struct predictions_work {
    struct bug_prediction *prediction;
    struct sync_ops *ops;
};

/* ---- job ---- */

static void *predictions_begin(const struct table_view *view, struct error *error)
{
    if (view->from_ns != INT64_MIN || view->to_ns != INT64_MAX || view->past) {
        error_set(error, "prediction needs the whole run; it cannot be restricted to a range");
        return NULL;
    }
    struct predictions_work *w = xcalloc(1, sizeof *w);
    w->prediction = predict_new();
    if (!(untraced_reasons_mechanisms(view->run) & PREDICTIONS_UNTRACED))
        predict_set_order(w->prediction, view->run->order);
    w->ops = sync_ops_new(view->run, w->prediction);
    return w;
}

static bool predictions_step(void *work, uint64_t *budget)
{
    struct predictions_work *w = work;
    return sync_ops_step(w->ops, budget) && predict_step(w->prediction, budget);
}

/* ---- rows ---- */

/* Sets the three cells of an event. */
static void predictions_set_event_cells(const struct table_view *view, uint64_t position,
                                        struct table_cell *cells, enum predictions_column where,
                                        enum predictions_column event, enum predictions_column type)
{
    if (position == NO_POSITION)
        return;
    struct order_event e = order_event(view->run->order, position);
    cells[event] = table_cell_event(table_event(view, position));
    cells[type] = table_cell_text(run_type_name(view->run, e.type));
    if (e.site)
        cells[where] = table_cell_place(table_place(view, call_sites_for_line(view->run, e.site)));
}

static void predictions_add_participant(const struct table_view *view,
                                        const struct finding_participant *part,
                                        struct result_table *t)
{
    struct table_cell *cells = table_add_row(t, 1, table_event(view, part->position));
    if (!cells)
        return;
    cells[THREAD] = table_cell_line(part->thread);
    cells[LINE] = table_cell_line(part->lock);
    cells[THEN_LINE] = table_cell_line(part->then_lock);
    predictions_set_event_cells(view, part->position, cells, WHERE, EVENT, TYPE);
    predictions_set_event_cells(view, part->then, cells, THEN_WHERE, THEN_EVENT, THEN_TYPE);
    predictions_set_event_cells(view, part->begin, cells, BEGIN_WHERE, BEGIN_EVENT, BEGIN_TYPE);
    table_row_line(t, part->thread);
}

static bool predictions_is_wanted(const struct table_request *request, enum finding_kind kind)
{
    const char *kinds = table_option(request, "kinds"), *word = finding_kinds[kind].name;
    size_t n = strlen(word);
    if (!kinds)
        return finding_kinds[kind].group == FINDINGS_OF_PREDICTION;
    for (const char *at = kinds; (at = strstr(at, word)); at += n)
        if ((at == kinds || at[-1] == ',') && (!at[n] || at[n] == ','))
            return true;
    return strcmp(kinds, "all") == 0;
}

/* Returns whether what is left out of a cut may exclude a finding: a later event, which wakes the
 * waiter or shows that the order was meant; of a cut that lacks earlier events, anything. */
static bool predictions_is_uncertain(const struct run *run, enum finding_kind kind)
{
    const struct cut_info *cut = cut_info_of(run);
    bool later = kind == FINDING_LOST_WAKEUP || kind == FINDING_UNCHECKED_WAIT ||
                 kind == FINDING_SIGNAL_NOT_BROADCAST || kind == FINDING_EARLY_SIGNAL ||
                 kind == FINDING_ATOMICITY || kind == FINDING_ORDER_VIOLATION ||
                 kind == FINDING_NESTED_TASK;
    return cut && (later || !cut->prefix) &&
           !(cut->keeps && strcmp(cut->keeps, finding_kinds[kind].name) == 0);
}

static bool predictions_is_of_lines(const struct table_view *view, const struct finding *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->part_count && !any; i++)
        any = table_wants(view, f->parts[i].thread);
    return any;
}

static void predictions_add_finding(const struct table_view *view, const struct finding *f,
                                    size_t number, struct result_table *t)
{
    struct table_cell *cells = table_add_row(t, 0, table_event(view, f->parts[0].position));
    if (!cells)
        return;
    cells[NUMBER] = table_cell_number((int64_t)number);
    cells[KIND] = table_cell_text(finding_kinds[f->kind].name);
    cells[TIMES] = table_cell_number((int64_t)f->times);
    for (uint32_t i = 0; i < f->part_count; i++)
        table_row_line(t, f->parts[i].thread);
    for (uint32_t i = 0; i < f->part_count; i++)
        predictions_add_participant(view, &f->parts[i], t);
}

static void predictions_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct predictions_work *w = work;
    const struct findings *found = predict_results(w->prediction);
    t->title = xstrdup("potential concurrency bugs");
    table_add_columns(t, predictions_columns,
                      sizeof predictions_columns / sizeof *predictions_columns);
    size_t orders = 0, uncertain = 0;
    for (size_t i = 0; i < found->count; i++)
        if (!predictions_is_of_lines(view, &found->items[i]))
            continue;
        else if (predictions_is_uncertain(view->run, found->items[i].kind))
            uncertain++;
        else if (predictions_is_wanted(view->request, found->items[i].kind))
            predictions_add_finding(view, &found->items[i], i + 1, t);
        else
            orders += !table_option(view->request, "kinds");
    if (orders)
        table_add_note(t,
                       "%zu order%s not enforced, possibly by intent, omitted: poet predict --all",
                       orders, orders == 1 ? "" : "s");
    if (uncertain)
        table_add_note(t,
                       "%zu finding%s omitted, which events may exclude that are left out of this "
                       "cut",
                       uncertain, uncertain == 1 ? "" : "s");
    if (w->ops->cut)
        table_add_note(t, "only the first %llu of %llu events were analyzed (memory limit)",
                       (unsigned long long)(w->ops->next - order_first(view->run->order)),
                       (unsigned long long)(w->ops->end - order_first(view->run->order)));
    if (found->cut)
        table_add_note(t, "there may be more findings: analysis limit reached");
    table_arrange(t, view->request, NULL);
}

static void predictions_free(void *work)
{
    struct predictions_work *w = work;
    predict_free(w->prediction);
    sync_ops_free(w->ops);
    free(w);
}

static const char *const predictions_groupings[] = {"places", NULL};

const struct table_preset preset_predict = {.what = "predict",
                                            .by = predictions_groupings,
                                            .begin = predictions_begin,
                                            .step = predictions_step,
                                            .fill = predictions_fill,
                                            .free = predictions_free};
