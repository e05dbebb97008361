/* Table of states: how each thread spent its lifetime; a row per thread, or per state of each. */
#include "base/alloc.h"
#include "server/queries/tables/cpu_source.h"
#include "server/queries/tables/lifetime_sweep.h"
#include "server/timing/thread_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_split(unsigned state)
{
    return state == THREAD_STATE_RUNNING || state == THREAD_STATE_RUNNABLE ||
           state == THREAD_STATE_OFF_CPU;
}

/* Adds columns for count, minimum and maximum of a state. */
static void add_details(struct result_table *t, unsigned state, const char *source)
{
    static const char *const names[] = {"count", "min_ns", "max_ns"}, *const titles[] = {
                                                                          "count", "min", "max"};
    for (unsigned i = 0; i < 3; i++) {
        char name[40], title[40];
        snprintf(name, sizeof name, "%s_%s", thread_state_key(state), names[i]);
        snprintf(title, sizeof title, "%s %s", thread_state_name(state), titles[i]);
        table_add_column(t, name, title, i ? TABLE_NS : TABLE_COUNT,
                         state == THREAD_STATE_RUNNING ? source : NULL);
        table_detail(t);
    }
}

static bool has_details(unsigned state)
{
    return state == THREAD_STATE_RUNNABLE || state == THREAD_STATE_RUNNING ||
           state == THREAD_STATE_BLOCKED;
}

/* source: that of the states between waits. */
static void add_columns(struct result_table *t, const char *source)
{
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    for (unsigned state = 0; state < THREAD_STATES; state++) {
        char name[40];
        snprintf(name, sizeof name, "%s_ns", thread_state_key(state));
        table_add_column(t, name, thread_state_name(state), TABLE_NS,
                         is_split(state) ? source : NULL);
    }
    table_add_column(t, "lifetime_ns", "lifetime", TABLE_NS, NULL);
    for (unsigned state = 0; state < THREAD_STATES; state++)
        if (has_details(state))
            add_details(t, state, source);
    table_add_column(t, "start_ns", "start", TABLE_NS, NULL);
    table_detail(t);
    table_add_column(t, "end_ns", "end", TABLE_NS, NULL);
    table_detail(t);
    table_add_column(t, "estimated_ns", "estimated", TABLE_NS, NULL);
    table_detail(t);
    table_add_column(t, "source", "source", TABLE_TEXT, NULL);
    table_detail(t);
}

/* Sets begin and end of the lifetime, limited to what counts of it, and the source. */
static void states_table_set_lifetime(struct table_cell *cells, const struct table_view *view,
                                      const struct thread_timeline *course)
{
    int64_t from, to, until = table_until(view, course);
    cells[3] = table_cell_text(cpu_source_name(view, course));
    if (!thread_states_lifetime(&view->lives, course, &from, &to))
        return;
    cells[0] = table_cell_number(from > view->from_ns ? from : view->from_ns);
    cells[1] = table_cell_number(to < until ? to : until);
}

/* Sets the sums of all states. split: the time between waits is divided by CPU time.  Returns
 * the cell after the last one. */
static struct table_cell *set_sums(struct table_cell *cells, const struct thread_states *s,
                                   bool split)
{
    struct table_cell *cell = cells + 1;
    for (unsigned state = 0; state < THREAD_STATES; state++, cell++)
        if (state != THREAD_STATE_OFF_CPU || split)
            *cell = table_cell_number(s->of[state].total_ns);
    *cell++ = table_cell_number(s->life_ns);
    for (unsigned state = 0; state < THREAD_STATES; state++) {
        const struct state_sum *sum = &s->of[state];
        if (!has_details(state))
            continue;
        *cell++ = table_cell_number((int64_t)sum->count);
        *cell++ = sum->count ? table_cell_number(sum->least_ns) : (struct table_cell){0};
        *cell++ = sum->count ? table_cell_number(sum->most_ns) : (struct table_cell){0};
    }
    return cell;
}

struct states_work {
    const struct table_view *view;
    struct lifetime_sweep sweep;
    struct thread_states *threads; /* by thread index */
    size_t room;
};

static void *states_table_begin(const struct table_view *view, char **problem)
{
    struct states_work *m = xcalloc(1, sizeof *m);
    (void)problem;
    m->view = view;
    return m;
}

static bool states_table_step(void *work, uint64_t *budget)
{
    struct states_work *m = work;
    const struct table_view *view = m->view;
    struct lifetime_piece piece;
    enum lifetime_sweep_result is;
    m->threads = array_reserve_zeroed(m->threads, &m->room, view->measured->thread_count,
                                      sizeof *m->threads);
    while ((is = lifetime_sweep_next(&m->sweep, view, budget, &piece)) == LIFETIME_SWEEP_PIECE) {
        struct thread_states sums;
        if (!table_lives(view, piece.course->thread))
            continue;
        thread_states_sum(&view->lives, piece.course, piece.from_ns, piece.to_ns, &sums);
        thread_states_add(&m->threads[piece.course - view->measured->threads], &sums);
    }
    return is == LIFETIME_SWEEP_DONE;
}

static const struct thread_timeline *course_at(const struct table_view *view, uint32_t i)
{
    return &view->measured->threads[i];
}

static struct cpu_source_counts count_sources(const struct states_work *m,
                                              const struct table_view *view, uint32_t count)
{
    struct cpu_source_counts sources = {0};
    for (uint32_t i = 0; i < count; i++)
        if (m->threads[i].life_ns)
            cpu_source_row(&sources, view, course_at(view, i));
    return sources;
}

static void add_thread(const struct table_view *view, const struct thread_timeline *course,
                       const struct thread_states *sums, struct result_table *t)
{
    struct table_cell *cells = table_add_row(t, 0, table_event(view, course->start));
    if (!cells)
        return;
    cells[0] = table_cell_line(course->thread);
    cells = set_sums(cells, sums, cpu_source_known(view, course));
    states_table_set_lifetime(cells, view, course);
    cells[2] = table_cell_number(sums->estimated_ns);
    table_row_line(t, course->thread);
}

static void add_notes(struct result_table *t, const struct table_view *view,
                      const struct thread_states *all, const struct cpu_source_counts *sources)
{
    if (all->unexplained)
        table_add_note(t, "%.3f ms of blocked time (%llu wait%s) is unattributed",
                       (double)all->unexplained_ns / 1e6, (unsigned long long)all->unexplained,
                       all->unexplained == 1 ? "" : "s");
    cpu_source_note(t, view, sources);
}

/* ---- a row per state ---- */

enum state_column { THREAD, STATE, TOTAL, SHARE, COUNT, MIN, MAX };

static bool is_by_state(const struct table_view *view)
{
    return strcmp(view->request->by, "state") == 0;
}

/* source: that of the states between waits. */
static void add_state_columns(struct result_table *t, const char *source)
{
    const struct column_definition columns[] = {
        [THREAD] = {"thread", "thread", .kind = TABLE_LINE},
        [STATE] = {"state", "state", .kind = TABLE_TEXT},
        [TOTAL] = {"total_ns", "total", .kind = TABLE_NS, .source = source},
        [SHARE] = {"share", "% of lifetime", .kind = TABLE_SHARE, .source = source},
        [COUNT] = {"count", "count", .kind = TABLE_COUNT, .source = source},
        [MIN] = {"min_ns", "min", .kind = TABLE_NS, .source = source},
        [MAX] = {"max_ns", "max", .kind = TABLE_NS, .source = source}};
    table_add_columns(t, columns, sizeof columns / sizeof *columns);
}

/* Adds a row for each state that the thread was in. */
static void add_states(const struct table_view *view, const struct thread_timeline *course,
                       const struct thread_states *sums, struct result_table *t)
{
    for (unsigned state = 0; state < THREAD_STATES; state++) {
        const struct state_sum *sum = &sums->of[state];
        struct table_cell *cells =
            sum->total_ns ? table_add_row(t, 0, table_event(view, course->start)) : NULL;
        if (!cells)
            continue;
        cells[THREAD] = table_cell_line(course->thread);
        cells[STATE] = table_cell_text(thread_state_name(state));
        cells[TOTAL] = table_cell_number(sum->total_ns);
        cells[SHARE] = table_cell_real((double)sum->total_ns / (double)sums->life_ns);
        if (sum->count) {
            cells[COUNT] = table_cell_number((int64_t)sum->count);
            cells[MIN] = table_cell_number(sum->least_ns);
            cells[MAX] = table_cell_number(sum->most_ns);
        }
        table_row_line(t, course->thread);
    }
}

/* Adds a note about threads that were killed: their last event is not their end. */
static void note_cut(struct result_table *t, const struct table_view *view)
{
    const struct intervals *all = view->measured;
    int64_t ended = view->run->clock.ended_ns, begin, end;
    uint32_t cut = 0;
    for (uint32_t i = 0; i < all->thread_count && !view->apart; i++) {
        const struct thread_timeline *c = &all->threads[i];
        cut += c->start_ns != INTERVALS_NEVER && c->end == NO_POSITION &&
               table_wants(view, c->thread) && table_lives(view, c->thread) &&
               (!thread_states_lifetime(&view->lives, c, &begin, &end) || end < ended) &&
               c->start_ns < ended;
    }
    if (cut && view->to_ns == INT64_MAX && !view->past)
        table_add_note(t,
                       "%u thread%s still alive when the program%s died at %.3f s: activity after "
                       "the last record of each is unknown",
                       cut, cut == 1 ? " was" : "s were",
                       view->run->processes.count == 1 ? "" : "s", (double)ended / 1e9);
}

/* Adds one row for all omitted threads, for the option "others". */
static void add_others(struct result_table *t, uint32_t others)
{
    char *words = xasprintf("%u other%s", others, others == 1 ? "" : "s");
    uint32_t shown = t->row_count;
    struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
    if (cells)
        cells[0] = table_cell_text(words);
    for (uint32_t k = 1; cells && k <= THREAD_STATES + 1; k++) {
        if (t->total[k].is != CELL_NUMBER)
            continue;
        cells[k] = t->total[k];
        for (uint32_t i = 0; i < shown; i++)
            cells[k].number -= result_table_cells(t, i)[k].number;
    }
    free(words);
}

static void add_rows(const struct table_view *view, const struct thread_timeline *course,
                     const struct thread_states *sums, struct result_table *t)
{
    if (!sums->life_ns)
        return;
    if (is_by_state(view))
        add_states(view, course, sums, t);
    else
        add_thread(view, course, sums, t);
}

static void states_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct states_work *m = work;
    struct thread_states all = {0};
    uint32_t threads = view->measured->thread_count;
    threads = m->sweep.thread < threads ? m->sweep.thread : threads;
    struct cpu_source_counts sources = count_sources(m, view, threads);
    const char *source = cpu_source_text(&sources);
    t->title = xstrdup("states");
    is_by_state(view) ? add_state_columns(t, source) : add_columns(t, source);
    for (uint32_t i = 0; i < threads; i++) {
        add_rows(view, course_at(view, i), &m->threads[i], t);
        thread_states_add(&all, &m->threads[i]);
    }
    uint32_t count = t->row_count;
    if (is_by_state(view))
        table_make_total(t)[TOTAL] = table_cell_number(all.life_ns);
    else
        set_sums(table_make_total(t), &all, cpu_source_any(&sources))[2] =
            table_cell_number(all.estimated_ns);
    add_notes(t, view, &all, &sources);
    note_cut(t, view);
    table_arrange(t, view->request, NULL);
    if (t->row_count < count && !is_by_state(view) && table_option(view->request, "others"))
        add_others(t, count - t->row_count);
}

static void free_work(void *work)
{
    free(((struct states_work *)work)->threads);
    free(work);
}

static const char *const states_table_groupings[] = {"thread", "state", NULL};

const struct table_preset preset_states = {.what = "states",
                                           .by = states_table_groupings,
                                           .begin = states_table_begin,
                                           .step = states_table_step,
                                           .fill = states_table_fill,
                                           .free = free_work};
