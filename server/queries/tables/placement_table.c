/* Table of placements: which task of a runtime was on which worker thread, from when to when, and
 * on which one before; a change is a migration. */
#include "base/alloc.h"
#include "server/queries/tables/placement_names.h"

#include <stdlib.h>

enum placement_column { ON, CLUSTER, TASK, FROM, TOOK, CAME, COLUMNS };

static const struct column_definition placement_table_columns[COLUMNS] = {
    [ON] = {"worker", "worker thread", .kind = TABLE_TEXT, .source = "placement"},
    [CLUSTER] = {"cluster", "cluster", .kind = TABLE_TEXT, .source = "placement"},
    [TASK] = {"thread", "thread", .kind = TABLE_LINE, .source = "placement"},
    [FROM] = {"from_ns", "from", .kind = TABLE_NS, .source = "placement"},
    [TOOK] = {"duration_ns", "duration", .kind = TABLE_NS, .source = "placement"},
    [CAME] = {"migrated_from", "migrated from", .kind = TABLE_TEXT, .source = "placement"},
};

struct placement_row {
    struct placement_interval is; /* clipped to the range */
    uint32_t task, before; /* before: the previous worker thread, 0: none */
};

struct placement_work {
    struct placement_names places;
    uint32_t next; /* index of the next thread */
    const struct table_view *view;
    struct placement_row *rows;
    size_t count;
};

static void *placement_table_begin(const struct table_view *view, char **problem)
{
    struct placement_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    *problem = placement_names_begin(&w->places, view);
    if (!*problem)
        return w;
    placement_names_free(&w->places);
    free(w);
    return NULL;
}

/* Adds the placements of a task in the range.  One that has not ended lasts to the end of the
 * thread's lifetime. */
static void add_task(struct placement_work *w, const struct thread_timeline *course)
{
    size_t count;
    int64_t from_ns = w->view->from_ns, until_ns = table_until(w->view, course), begin_ns, end_ns;
    const struct placement_interval *items =
        placements_for_task(cpu_states_tasks(w->view->lives.spans), course->thread, &count);
    if (!thread_states_lifetime(&w->view->lives, course, &begin_ns, &end_ns))
        return;
    for (size_t i = 0; i < count; i++) {
        struct placement_row row = {
            .is = items[i], .task = course->thread, .before = i ? items[i - 1].on : 0};
        if (row.is.to_ns == PLACEMENT_OPEN)
            row.is.to_ns = end_ns > row.is.from_ns ? end_ns : row.is.from_ns;
        if (row.is.from_ns >= until_ns || row.is.to_ns <= from_ns)
            continue;
        if (row.is.from_ns < from_ns)
            row.is.from_ns = from_ns;
        if (row.is.to_ns > until_ns)
            row.is.to_ns = until_ns;
        ARRAY_PUSH(w->rows, w->count, row);
    }
}

static bool placement_table_step(void *work, uint64_t *budget)
{
    struct placement_work *w = work;
    for (; w->next < w->view->measured->thread_count; w->next++) {
        const struct thread_timeline *course = &w->view->measured->threads[w->next];
        size_t had = w->count;
        if (!*budget)
            return false;
        if (table_wants(w->view, course->thread) && table_until(w->view, course) > w->view->from_ns)
            add_task(w, course);
        uint64_t cost = w->count - had + 1;
        *budget -= cost < *budget ? cost : *budget;
    }
    return true;
}

static int by_processor(const void *a, const void *b)
{
    const struct placement_row *x = a, *y = b;
    if (x->is.on != y->is.on)
        return x->is.on < y->is.on ? -1 : 1;
    if (x->is.from_ns != y->is.from_ns)
        return x->is.from_ns < y->is.from_ns ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static bool add_row(struct placement_work *w, struct result_table *t,
                    const struct placement_row *row)
{
    struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
    if (!cells)
        return false;
    char *name = placement_names_name(&w->places, row->is.on);
    cells[ON] = table_cell_text(name);
    free(name);
    if (*placement_names_cluster(&w->places, row->is.on))
        cells[CLUSTER] = table_cell_text(placement_names_cluster(&w->places, row->is.on));
    cells[TASK] = table_cell_line(row->task);
    cells[FROM] = table_cell_number(row->is.from_ns);
    cells[TOOK] = table_cell_number(row->is.to_ns - row->is.from_ns);
    if (row->before && row->before != row->is.on) {
        char *before = placement_names_name(&w->places, row->before);
        cells[CAME] = table_cell_text(before);
        free(before);
    }
    table_row_line(t, row->task);
    return true;
}

static void placement_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct placement_work *w = work;
    int64_t all_ns = 0;
    size_t shown = 0;
    t->title = xstrdup("task placement");
    table_add_columns(t, placement_table_columns, COLUMNS);
    t->columns[CLUSTER].detail = !placement_names_has_clusters(&w->places);
    if (w->count)
        qsort(w->rows, w->count, sizeof *w->rows, by_processor);
    for (size_t i = 0; i < w->count; i++)
        all_ns += w->rows[i].is.to_ns - w->rows[i].is.from_ns;
    while (shown < w->count && add_row(w, t, &w->rows[shown]))
        shown++;
    table_make_total(t)[TOOK] = table_cell_number(all_ns);
    if (shown < w->count)
        table_add_note(t, "%zu more rows omitted; narrow the selection (--threads, --from, --to)",
                       w->count - shown);
    placement_names_note(&w->places, t);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct placement_work *w = work;
    placement_names_free(&w->places);
    free(w->rows);
    free(w);
}

static const char *const placement_table_groupings[] = {"worker", NULL};

const struct table_preset preset_placement = {.what = "placement",
                                              .by = placement_table_groupings,
                                              .begin = placement_table_begin,
                                              .step = placement_table_step,
                                              .fill = placement_table_fill,
                                              .free = free_work};
