/* The table of cases: which functions were called sequentially, which concurrently, by callers that had been called so
 * (server/measure/cases.h).  A row of depth 0 is a function in a state, under it what it called, by case, and under
 * that whom. */
#include "server/answer/table/entered.h"
#include "server/measure/cases.h"
#include "memory/memory.h"
#include "wire/region.h"

#include <stdlib.h>

enum column { SCOPE, CASE, CALLS, THREADS, ELAPSED, PARALLEL };

struct work {
    const struct table_view *view;
    struct entered entered;
    struct cases cases;
    bool *waits;
    bool begun;
    bool unswitched; /* of a thread the kernel did not say when it was switched */
};

static void *begin(const struct table_view *view, char **problem)
{
    struct entered entered;
    if (view->from_ns != INT64_MIN || view->to_ns != INT64_MAX || view->request->line_count) {
        *problem = memory_copied("cases are those of the whole run: of a part of it nobody knows "
                                 "who called what");
        return NULL;
    }
    if (!entered_begin(&entered, view, problem))
        return NULL;
    struct work *w = memory_zeroed(1, sizeof *w);
    w->view = view;
    w->entered = entered;
    return w;
}

static uint32_t maker_of(const struct work *w, const struct course_of *course)
{
    for (uint32_t i = 0; course && course->maker && i < w->entered.count; i++)
        if (w->entered.threads[i].line == course->maker)
            return i;
    return CASES_NOBODY;
}

/* When a thread did not run, by the program's clock: blocked, as far as the order tells, idle in
 * a pool, too; and asleep in calls that are no events, where the kernel said when it was
 * switched. */
struct absence {
    struct case_away *items;
    size_t count, room;
    int64_t start_ns;
    bool switched;
};

static void add_absence(void *context, const struct spell *spell)
{
    struct absence *a = context;
    if (spell->state != STATE_BLOCKED && !(a->switched && spell->state == STATE_SYSTEM))
        return;
    a->items = grow(a->items, &a->room, a->count + 1, sizeof *a->items);
    a->items[a->count++] =
        (struct case_away){a->start_ns + spell->from_ns, a->start_ns + spell->to_ns};
}

static void add_absences(struct work *w, const struct course_of *course)
{
    const struct lives *lives = &w->view->lives;
    struct absence a = {.start_ns = (int64_t)w->entered.run->start_ns,
                        .switched = course && spans_best(lives->spans, course->thread,
                                                         lives->source) == SPANS_SWITCHES};
    w->unswitched |= !a.switched;
    if (course)
        states_visit(lives, course, INT64_MIN, INT64_MAX, add_absence, &a);
    cases_away(&w->cases, a.items, a.count);
}

static void look(struct work *w)
{
    struct entered *e = &w->entered;
    entered_look(e, w->view);
    w->waits = memory_zeroed(e->scopes.count + 2, sizeof *w->waits);
    for (size_t i = 0; i < e->scopes.count; i++)
        w->waits[i + 1] =
            e->scopes.items[i].is == SCOPE_WAITED || e->scopes.items[i].is == SCOPE_OTHER;
    w->cases = (struct cases){.scopes = (uint32_t)e->scopes.count + 1, .waits = w->waits};
    for (uint32_t i = 0; i < e->count; i++) {
        const struct entered_thread *t = &e->threads[i];
        const struct course_of *course = intervals_of(w->view->measured, t->line);
        int64_t made_ns = course && course->made_ns != INTERVALS_NEVER
                              ? course->made_ns + (int64_t)e->run->start_ns
                              : INT64_MAX;
        cases_add(&w->cases, t->entries, t->scope_of, t->context_count, maker_of(w, course),
                  made_ns);
        add_absences(w, course);
    }
    w->begun = true;
}

static bool step(void *work, uint64_t *budget)
{
    struct work *w = work;
    if (!w->begun && !entered_is_there(&w->entered))
        return false;
    if (!w->begun)
        look(w);
    return cases_go_on(&w->cases, budget);
}

/* ---- rows ---- */

static void add_columns(struct shown_table *t)
{
    static const char source[] = "calls, as they began and ended";
    table_add_column(t, "scope", "scope", TABLE_PLACE, source);
    table_add_column(t, "case", "case", TABLE_TEXT, source);
    table_add_column(t, "calls", "calls", TABLE_COUNT, source);
    table_add_column(t, "thread_ns", "threads", TABLE_NS, source);
    table_add_column(t, "elapsed_ns", "elapsed", TABLE_NS, source);
    table_add_column(t, "parallel", "parallel", TABLE_COUNT, source);
    for (uint32_t i = 0; i < t->column_count; i++)
        t->columns[i].exact = true;
}

static void add_row(const struct work *w, uint8_t depth, const struct case_sums *s,
                    struct shown_table *t)
{
    static const char *const states[] = {"S", "C"}, *const cases[] = {"S-S", "S-C", "C-S", "C-C"};
    struct table_cell *cells = table_add_row(t, depth, (struct ref){0});
    if (!cells)
        return;
    cells[SCOPE] = s->to ? scopes_cell(&w->entered.scopes, w->entered.run, s->to)
                         : cell_text("(what it called)");
    cells[CASE] = cell_text(s->from ? cases[s->is] : states[s->is & 1]);
    cells[CALLS] = cell_number((int64_t)s->calls);
    cells[THREADS] = cell_number(s->thread_ns);
    cells[ELAPSED] = cell_number(s->elapsed_ns);
    if (s->elapsed_ns)
        cells[PARALLEL] = cell_real((double)s->thread_ns / (double)s->elapsed_ns);
}

/* By caller, then case; what is of all comes before what is of one. */
static int by_caller(const void *a, const void *b)
{
    const struct case_sums *x = *(struct case_sums *const *)a, *y = *(struct case_sums *const *)b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->is != y->is)
        return x->is < y->is ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Those that a function called when it was in a state. */
static void add_called(const struct work *w, struct case_sums **sorted, size_t count,
                       const struct case_sums *caller, struct shown_table *t)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sorted[middle]->from < caller->to)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < count && sorted[i]->from == caller->to; i++) {
        const struct case_sums *s = sorted[i];
        if (s->is >> 1 == caller->is)
            add_row(w, s->to ? 2 : 1, s, t);
    }
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct work *w = work;
    const struct cases *c = &w->cases;
    struct case_sums **sorted = memory_zeroed(c->count + 1, sizeof(void *));
    for (size_t i = 0; i < c->count; i++)
        sorted[i] = &c->items[i];
    if (c->count)
        qsort(sorted, c->count, sizeof(void *), by_caller);
    t->title = memory_copied("calls, sequential and concurrent");
    add_columns(t);
    for (size_t i = 0; i < c->count && !sorted[i]->from; i++) {
        add_row(w, 0, sorted[i], t);
        add_called(w, sorted, c->count, sorted[i], t);
    }
    entered_notes(&w->entered, t);
    if (w->unswitched)
        table_add_note(t,
                       "the kernel did not say of all threads when they were switched: one that "
                       "sleeps in a call that is no event counts as running, so fewer calls may be "
                       "concurrent");
    table_arrange(t, view->request, "thread_ns");
    free(sorted);
}

static void free_work(void *work)
{
    struct work *w = work;
    cases_free(&w->cases);
    entered_free(&w->entered);
    free(w->waits);
    free(w);
}

static const char *const by[] = {"function", NULL};

const struct preset preset_cases = {
    .what = "cases", .by = by, .begin = begin, .step = step, .fill = fill, .free = free_work};
