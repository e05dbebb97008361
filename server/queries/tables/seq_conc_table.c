/* Table of sequential and concurrent calls, by the state of their callers
 * (server/timing/seq_conc.h).  A row of depth 0 is a function in a state; below it are its callees,
 * first by case, then single ones.  By thread, or by the place where the calls began, these rows
 * are below a row for it. */
#include "server/queries/tables/entries_table.h"
#include "server/queries/tables/placement_tables.h"
#include "server/timing/seq_conc.h"
#include "base/lower_bound.h"
#include "base/alloc.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

enum seq_conc_column { SCOPE, CASE, CALLS, SAME, THREADS, ELAPSED, PARALLEL };

static const char recorded[] = "call records";
static const struct column_definition seq_conc_table_columns[] = {
    [SCOPE] = {"function", .kind = TABLE_PLACE, .source = recorded},
    [CASE] = {"class", "seq/conc", .kind = TABLE_TEXT, .source = recorded},
    [CALLS] = {"calls", .kind = TABLE_COUNT, .source = recorded},
    [SAME] = {"same_function", "in same function", .kind = TABLE_COUNT, .source = recorded},
    [THREADS] = {"thread_ns", "summed over threads", .kind = TABLE_NS, .source = recorded},
    [ELAPSED] = {"elapsed_ns", .kind = TABLE_NS, .source = recorded},
    [PARALLEL] = {"parallelism", .kind = TABLE_COUNT, .source = recorded},
};

struct seq_conc_work {
    const struct table_view *view;
    struct entry_records entered;
    struct seq_conc cases;
    bool by_thread, by_place;
    struct placement_names places; /* by_place */
    bool *waits;
    bool begun;
    bool unswitched; /* a thread has no context-switch records */
};

static void *seq_conc_table_begin(const struct table_view *view, struct error *error)
{
    struct entry_records entered;
    if (view->from_ns != INT64_MIN || view->to_ns != INT64_MAX || view->request->line_count) {
        error_set(error, "cases need the whole run: callers in a part of it are unknown");
        return NULL;
    }
    if (!entry_records_begin(&entered, view, error))
        return NULL;
    struct seq_conc_work *w = xcalloc(1, sizeof *w);
    const char *by = view->request->by;
    w->view = view;
    w->entered = entered;
    w->by_thread = strcmp(by, "thread") == 0;
    w->by_place = *by && strcmp(by, "function") != 0 && !w->by_thread;
    if (!w->by_place || placement_names_begin(&w->places, view, error))
        return w;
    entry_records_free(&w->entered);
    free(w);
    return NULL;
}

static uint32_t maker_of(const struct seq_conc_work *w, const struct thread_timeline *course)
{
    for (uint32_t i = 0; course && course->maker && i < w->entered.count; i++)
        if (w->entered.threads[i].line == course->maker)
            return i;
    return SEQ_CONC_NO_CALLER;
}

/* The times in which a thread did not run, by the program's clock: blocked by the order, also
 * idle in a pool; and asleep in untraced calls, if the kernel's context switches are known. */
struct seq_conc_gap {
    struct seq_conc_absence *items;
    size_t count, room;
    int64_t start_ns;
    bool switched;
};

static void add_absence(void *context, const struct thread_state_interval *spell)
{
    struct seq_conc_gap *a = context;
    if (spell->state != THREAD_STATE_BLOCKED &&
        !(a->switched && spell->state == THREAD_STATE_OFF_CPU))
        return;
    a->items = array_reserve(a->items, &a->room, a->count + 1, sizeof *a->items);
    a->items[a->count++] =
        (struct seq_conc_absence){a->start_ns + spell->from_ns, a->start_ns + spell->to_ns};
}

static void add_absences(struct seq_conc_work *w, const struct thread_timeline *course)
{
    const struct lifetimes *lives = &w->view->lives;
    struct seq_conc_gap a = {.start_ns = (int64_t)w->entered.run->clock.start_ns,
                             .switched =
                                 course && cpu_states_best(lives->spans, course->thread,
                                                           lives->source) == CPU_SOURCE_SWITCHES};
    w->unswitched |= !a.switched;
    if (course)
        thread_states_visit(lives, course, INT64_MIN, INT64_MAX, add_absence, &a);
    seq_conc_add_absence(&w->cases, a.items, a.count);
}

/* The times at which barriers released a thread, by the program's clock. */
static void seq_conc_table_add_releases(struct seq_conc_work *w,
                                        const struct thread_timeline *course)
{
    size_t count = course ? course->gathering_count : 0;
    int64_t *at_ns = xcalloc(count + 1, sizeof *at_ns);
    for (size_t i = 0; i < count; i++)
        at_ns[i] = (int64_t)w->entered.run->clock.start_ns + course->gatherings[i].at_ns;
    seq_conc_add_releases(&w->cases, at_ns, count);
}

/* Where a thread ran, by the program's clock. */
struct seq_conc_where {
    struct seq_conc_place *items;
    size_t count, room;
    const struct seq_conc_work *work;
    uint32_t line;
    struct cpu_state_walk walk;
};

static void seq_conc_table_add_place(void *context, enum cpu_state is, int64_t from_ns,
                                     int64_t to_ns)
{
    struct seq_conc_where *at = context;
    int64_t start_ns = (int64_t)at->work->entered.run->clock.start_ns;
    if (is != CPU_STATE_RUNNING || from_ns >= to_ns)
        return;
    at->items = array_reserve(at->items, &at->room, at->count + 1, sizeof *at->items);
    at->items[at->count++] =
        (struct seq_conc_place){start_ns + from_ns, start_ns + to_ns,
                                placement_names_place(&at->work->places, at->line, at->walk.on)};
}

/* Adds the thread, or the places, by which the sums of its calls are divided. */
static void seq_conc_table_divide(struct seq_conc_work *w, uint32_t thread,
                                  const struct thread_timeline *course)
{
    struct seq_conc_where at = {.work = w, .line = w->entered.threads[thread].line};
    int64_t from_ns, to_ns;
    if (w->by_thread) {
        at.items = xcalloc(1, sizeof *at.items);
        at.items[at.count++] = (struct seq_conc_place){INT64_MIN, INT64_MAX, thread + 1};
    }
    if (w->by_place && course && thread_states_lifetime(&w->view->lives, course, &from_ns, &to_ns))
        cpu_states_visit(w->view->lives.spans, course, &at.walk, from_ns, to_ns,
                         seq_conc_table_add_place, &at);
    seq_conc_add_places(&w->cases, at.items, at.count);
}

static void seq_conc_table_read_entries(struct seq_conc_work *w)
{
    struct entry_records *e = &w->entered;
    entry_records_read(e, w->view);
    w->waits = xcalloc(e->scopes.count + 2, sizeof *w->waits);
    for (size_t i = 0; i < e->scopes.count; i++)
        w->waits[i + 1] =
            e->scopes.items[i].is == SCOPE_WAITED || e->scopes.items[i].is == SCOPE_OTHER;
    w->cases = (struct seq_conc){.scopes = (uint32_t)e->scopes.count + 1, .waits = w->waits};
    for (uint32_t i = 0; i < e->count; i++) {
        const struct entry_records_thread *t = &e->threads[i];
        const struct thread_timeline *course = intervals_for_thread(w->view->measured, t->line);
        int64_t made_ns = course && course->made_ns != INTERVALS_NEVER
                              ? course->made_ns + (int64_t)e->run->clock.start_ns
                              : INT64_MAX;
        seq_conc_add(&w->cases, t->entries, t->scope_of, t->context_count, maker_of(w, course),
                     made_ns);
        add_absences(w, course);
        seq_conc_table_add_releases(w, course);
        seq_conc_table_divide(w, i, course);
    }
    w->begun = true;
}

static bool seq_conc_table_step(void *work, uint64_t *budget)
{
    struct seq_conc_work *w = work;
    if (!w->begun && !entry_records_are_ready(&w->entered))
        return false;
    if (!w->begun)
        seq_conc_table_read_entries(w);
    return seq_conc_step(&w->cases, budget);
}

/* ---- rows ---- */

static void add_row(const struct seq_conc_work *w, uint8_t depth, const struct seq_conc_sums *s,
                    struct result_table *t)
{
    static const char *const states[] = {"S", "C"}, *const cases[] = {"S-S", "S-C", "C-S", "C-C"};
    struct table_cell *cells = table_add_row(t, depth, (struct event_id){0});
    if (!cells)
        return;
    cells[SCOPE] = s->to ? scope_numbers_cell(&w->entered.scopes, w->entered.run, s->to)
                         : table_cell_text("(what it called)");
    cells[CASE] = table_cell_text(s->from ? cases[s->is] : states[s->is & 1]);
    cells[CALLS] = table_cell_number((int64_t)s->calls);
    cells[SAME] = table_cell_number((int64_t)s->same);
    cells[THREADS] = table_cell_number(s->thread_ns);
    cells[ELAPSED] = table_cell_number(s->elapsed_ns);
    if (s->elapsed_ns)
        cells[PARALLEL] = table_cell_real((double)s->thread_ns / (double)s->elapsed_ns);
}

/* Sorts by place, by caller, then by case; the sum over all callees comes before the single
 * ones. */
static int by_caller(const void *a, const void *b)
{
    const struct seq_conc_sums *x = *(struct seq_conc_sums *const *)a,
                               *y = *(struct seq_conc_sums *const *)b;
    if (x->in != y->in)
        return x->in < y->in ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->is != y->is)
        return x->is < y->is ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Adds the callees of a function in one state. */
static void add_called(const struct seq_conc_work *w, struct seq_conc_sums **sorted, size_t count,
                       const struct seq_conc_sums *caller, uint8_t depth, struct result_table *t)
{
    size_t low = LOWER_BOUND(i, 0, count, sorted[i]->from < caller->to);
    for (size_t i = low; i < count && sorted[i]->from == caller->to; i++) {
        const struct seq_conc_sums *s = sorted[i];
        if (s->is >> 1 == caller->is)
            add_row(w, depth + (s->to ? 1 : 0), s, t);
    }
}

/* Adds a row for the thread or the place of the next rows. */
static void seq_conc_table_add_head(const struct seq_conc_work *w, uint32_t in,
                                    struct result_table *t)
{
    struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
    if (!cells)
        return;
    char *name = w->by_thread ? NULL : placement_names_name(&w->places, in);
    uint32_t line = w->by_thread && in ? w->entered.threads[in - 1].line : 0;
    cells[SCOPE] = name ? table_cell_text(name) : table_cell_line(line);
    table_row_line(t, line);
    free(name);
}

/* Adds the rows of one place, or of all calls. */
static void seq_conc_table_add_rows(const struct seq_conc_work *w, struct seq_conc_sums **sorted,
                                    size_t count, struct result_table *t)
{
    uint8_t depth = w->by_thread || w->by_place;
    if (depth)
        seq_conc_table_add_head(w, sorted[0]->in, t);
    for (size_t i = 0; i < count && !sorted[i]->from; i++) {
        add_row(w, depth, sorted[i], t);
        add_called(w, sorted, count, sorted[i], depth + 1, t);
    }
}

static void seq_conc_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct seq_conc_work *w = work;
    const struct seq_conc *c = &w->cases;
    struct seq_conc_sums **sorted = xcalloc(c->count + 1, sizeof(void *));
    for (size_t i = 0; i < c->count; i++)
        sorted[i] = &c->items[i];
    if (c->count)
        qsort(sorted, c->count, sizeof(void *), by_caller);
    t->title = xstrdup("sequential and concurrent calls");
    table_add_columns(t, seq_conc_table_columns,
                      sizeof seq_conc_table_columns / sizeof *seq_conc_table_columns);
    for (uint32_t i = 0; i < t->column_count; i++)
        t->columns[i].exact = true;
    for (size_t i = 0, end; i < c->count; i = end) {
        for (end = i + 1; end < c->count && sorted[end]->in == sorted[i]->in;)
            end++;
        seq_conc_table_add_rows(w, sorted + i, end - i, t);
    }
    if (w->by_place) {
        table_add_note(t, "calls are in the %s where they began", placement_names_kind(&w->places));
        placement_names_note(&w->places, t);
    }
    entry_records_notes(&w->entered, t);
    if (w->unswitched)
        table_add_note(t, "no context-switch records for some threads: a thread that sleeps in an "
                          "untraced call counts as running, so fewer calls may be concurrent");
    table_arrange(t, view->request, "thread_ns");
    free(sorted);
}

static void free_work(void *work)
{
    struct seq_conc_work *w = work;
    seq_conc_free(&w->cases);
    entry_records_free(&w->entered);
    if (w->by_place)
        placement_names_free(&w->places);
    free(w->waits);
    free(w);
}

static const char *const seq_conc_table_groupings[] = {"function", "thread", "processor",
                                                       "cluster",  "cpu",    NULL};

const struct table_preset preset_seq_conc = {.what = "seq_conc",
                                             .by = seq_conc_table_groupings,
                                             .begin = seq_conc_table_begin,
                                             .step = seq_conc_table_step,
                                             .fill = seq_conc_table_fill,
                                             .free = free_work};
