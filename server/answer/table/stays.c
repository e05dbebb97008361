/* The table of stays: which task of a runtime was on which of the threads of the system that run them, from when to when,
 * and on which it was before: where that is another one, it migrated. */
#include "memory/memory.h"
#include "server/answer/table/ran.h"

#include <stdlib.h>

enum column { ON, CLUSTER, TASK, FROM, TOOK, CAME, COLUMNS };

struct row {
    struct stay is; /* cut to the range */
    uint32_t task, before; /* before: carrier, 0 none */
};

struct work {
    struct ran_places places;
    uint32_t next; /* thread */
    const struct table_view *view;
    struct row *rows;
    size_t count;
};

static void *begin(const struct table_view *view, char **problem)
{
    struct work *w = memory_zeroed(1, sizeof *w);
    w->view = view;
    *problem = ran_begin(&w->places, view);
    if (!*problem)
        return w;
    ran_free(&w->places);
    free(w);
    return NULL;
}

/* One that has not ended is told up to where its thread's life is. */
static void add_task(struct work *w, const struct course_of *course)
{
    size_t count;
    int64_t from_ns = w->view->from_ns, until_ns = table_until(w->view, course), begin_ns, end_ns;
    const struct stay *stays = stays_of(spans_tasks(w->view->lives.spans), course->thread, &count);
    if (!states_life(&w->view->lives, course, &begin_ns, &end_ns))
        return;
    for (size_t i = 0; i < count; i++) {
        struct row row = {
            .is = stays[i], .task = course->thread, .before = i ? stays[i - 1].on : 0};
        if (row.is.to_ns == STAY_OPEN)
            row.is.to_ns = end_ns > row.is.from_ns ? end_ns : row.is.from_ns;
        if (row.is.from_ns >= until_ns || row.is.to_ns <= from_ns)
            continue;
        if (row.is.from_ns < from_ns)
            row.is.from_ns = from_ns;
        if (row.is.to_ns > until_ns)
            row.is.to_ns = until_ns;
        PUSH(w->rows, w->count, row);
    }
}

static bool step(void *work, uint64_t *budget)
{
    struct work *w = work;
    for (; w->next < w->view->measured->thread_count; w->next++) {
        const struct course_of *course = &w->view->measured->threads[w->next];
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

static void add_columns(struct shown_table *t, const struct ran_places *places)
{
    table_add_column(t, "processor", "processor", TABLE_TEXT, "stays");
    table_add_column(t, "cluster", "cluster", TABLE_TEXT, "stays");
    if (!ran_has_clusters(places))
        table_detail(t);
    table_add_column(t, "thread", "thread", TABLE_LINE, "stays");
    table_add_column(t, "from_ns", "from", TABLE_NS, "stays");
    table_add_column(t, "took_ns", "took", TABLE_NS, "stays");
    table_add_column(t, "came", "came from", TABLE_TEXT, "stays");
}

static int by_processor(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->is.on != y->is.on)
        return x->is.on < y->is.on ? -1 : 1;
    if (x->is.from_ns != y->is.from_ns)
        return x->is.from_ns < y->is.from_ns ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static bool add_row(struct work *w, struct shown_table *t, const struct row *row)
{
    struct table_cell *cells = table_add_row(t, 0, (struct ref){0});
    if (!cells)
        return false;
    char *name = ran_name(&w->places, row->is.on);
    cells[ON] = cell_text(name);
    free(name);
    if (*ran_cluster(&w->places, row->is.on))
        cells[CLUSTER] = cell_text(ran_cluster(&w->places, row->is.on));
    cells[TASK] = cell_line(row->task);
    cells[FROM] = cell_number(row->is.from_ns);
    cells[TOOK] = cell_number(row->is.to_ns - row->is.from_ns);
    if (row->before && row->before != row->is.on) {
        char *before = ran_name(&w->places, row->before);
        cells[CAME] = cell_text(before);
        free(before);
    }
    table_row_line(t, row->task);
    return true;
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct work *w = work;
    int64_t all_ns = 0;
    size_t told = 0;
    t->title = memory_copied("which task was on which processor, from when to when");
    add_columns(t, &w->places);
    if (w->count)
        qsort(w->rows, w->count, sizeof *w->rows, by_processor);
    for (size_t i = 0; i < w->count; i++)
        all_ns += w->rows[i].is.to_ns - w->rows[i].is.from_ns;
    while (told < w->count && add_row(w, t, &w->rows[told]))
        told++;
    table_make_total(t)[TOOK] = cell_number(all_ns);
    if (told < w->count)
        table_add_note(t, "there are %zu more than fit into a table: choose --lines or a range",
                       w->count - told);
    ran_note(&w->places, t);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct work *w = work;
    ran_free(&w->places);
    free(w->rows);
    free(w);
}

static const char *const by[] = {"processor", NULL};

const struct preset preset_stays = {
    .what = "stays", .by = by, .begin = begin, .step = step, .fill = fill, .free = free_work};
