/* Tables of states: how each thread spent its lifetime, with a row per thread, or per state of
 * each; and the state intervals of each thread in order, with begin, duration, and where each
 * began: the call site of an event, or the function in which a task left its worker thread. */
#include "base/alloc.h"
#include "server/queries/tables/cpu_source.h"
#include "server/queries/tables/lifetime_sweep.h"
#include "server/queries/tables/placement_tables.h"
#include "server/run/activity_store.h"
#include "server/timing/thread_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- table of states ---- */

static bool states_table_is_split(unsigned state)
{
    return state == THREAD_STATE_RUNNING || state == THREAD_STATE_RUNNABLE ||
           state == THREAD_STATE_OFF_CPU;
}

/* Adds columns for count, minimum and maximum of a state. */
static void states_table_add_details(struct result_table *t, unsigned state, const char *source)
{
    static const char *const names[] = {"count", "min_ns", "max_ns"}, *const titles[] = {
                                                                          "count", "min", "max"};
    for (unsigned i = 0; i < 3; i++) {
        char name[40], title[40];
        snprintf(name, sizeof name, "%s_%s", thread_state_words[state].key, names[i]);
        snprintf(title, sizeof title, "%s %s", thread_state_name(state), titles[i]);
        table_add_column(t, name, title, i ? TABLE_NS : TABLE_COUNT,
                         state == THREAD_STATE_RUNNING ? source : NULL);
        table_detail(t);
    }
}

static bool states_table_has_details(unsigned state)
{
    return state == THREAD_STATE_RUNNABLE || state == THREAD_STATE_RUNNING ||
           state == THREAD_STATE_BLOCKED;
}

/* source: that of the states between waits. */
static void states_table_add_columns(struct result_table *t, const char *source)
{
    table_add_column(t, "thread", NULL, TABLE_LINE, NULL);
    for (unsigned state = 0; state < THREAD_STATES; state++)
        table_add_column(t, thread_state_words[state].column, thread_state_name(state), TABLE_NS,
                         states_table_is_split(state) ? source : NULL);
    table_add_column(t, "lifetime_ns", NULL, TABLE_NS, NULL);
    for (unsigned state = 0; state < THREAD_STATES; state++)
        if (states_table_has_details(state))
            states_table_add_details(t, state, source);
    table_add_column(t, "start_ns", NULL, TABLE_NS, NULL);
    table_detail(t);
    table_add_column(t, "end_ns", NULL, TABLE_NS, NULL);
    table_detail(t);
    table_add_column(t, "estimated_ns", NULL, TABLE_NS, NULL);
    table_detail(t);
    table_add_column(t, "source", NULL, TABLE_TEXT, NULL);
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
static struct table_cell *states_table_set_sums(struct table_cell *cells,
                                                const struct thread_states *s, bool split)
{
    struct table_cell *cell = cells + 1;
    for (unsigned state = 0; state < THREAD_STATES; state++, cell++)
        if (state != THREAD_STATE_OFF_CPU || split)
            *cell = table_cell_number(s->of[state].total_ns);
    *cell++ = table_cell_number(s->life_ns);
    for (unsigned state = 0; state < THREAD_STATES; state++) {
        const struct state_sum *sum = &s->of[state];
        if (!states_table_has_details(state))
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

static void *states_table_begin(const struct table_view *view, struct error *error)
{
    struct states_work *m = xcalloc(1, sizeof *m);
    (void)error;
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

static const struct thread_timeline *states_table_course_at(const struct table_view *view,
                                                            uint32_t i)
{
    return &view->measured->threads[i];
}

static struct cpu_source_counts states_table_count_sources(const struct states_work *m,
                                                           const struct table_view *view,
                                                           uint32_t count)
{
    struct cpu_source_counts sources = {0};
    for (uint32_t i = 0; i < count; i++)
        if (m->threads[i].life_ns)
            cpu_source_row(&sources, view, states_table_course_at(view, i));
    return sources;
}

static void states_table_add_thread(const struct table_view *view,
                                    const struct thread_timeline *course,
                                    const struct thread_states *sums, struct result_table *t)
{
    struct table_cell *cells = table_add_row(t, 0, table_event(view, course->start));
    if (!cells)
        return;
    cells[0] = table_cell_line(course->thread);
    cells = states_table_set_sums(cells, sums, cpu_source_known(view, course));
    states_table_set_lifetime(cells, view, course);
    cells[2] = table_cell_number(sums->estimated_ns);
    table_row_line(t, course->thread);
}

static void states_table_add_notes(struct result_table *t, const struct table_view *view,
                                   const struct thread_states *all,
                                   const struct cpu_source_counts *sources)
{
    if (all->unexplained)
        table_add_note(t, "%.3f ms of blocked time (%llu wait%s) is unattributed",
                       (double)all->unexplained_ns / 1e6, (unsigned long long)all->unexplained,
                       all->unexplained == 1 ? "" : "s");
    cpu_source_note(t, view, sources);
}

/* ---- a row per state ---- */

enum state_column { THREAD, STATE, TOTAL, SHARE, COUNT, MIN, MAX };

static bool states_table_is_by_state(const struct table_view *view)
{
    return strcmp(view->request->by, "state") == 0;
}

/* source: that of the states between waits. */
static void states_table_add_state_columns(struct result_table *t, const char *source)
{
    const struct column_definition columns[] = {
        [THREAD] = {"thread", .kind = TABLE_LINE},
        [STATE] = {"state", .kind = TABLE_TEXT},
        [TOTAL] = {"total_ns", .kind = TABLE_NS, .source = source},
        [SHARE] = {"share", "% of lifetime", .kind = TABLE_SHARE, .source = source},
        [COUNT] = {"count", .kind = TABLE_COUNT, .source = source},
        [MIN] = {"min_ns", .kind = TABLE_NS, .source = source},
        [MAX] = {"max_ns", .kind = TABLE_NS, .source = source}};
    table_add_columns(t, columns, sizeof columns / sizeof *columns);
}

/* Adds a row for each state that the thread was in. */
static void states_table_add_states(const struct table_view *view,
                                    const struct thread_timeline *course,
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
static void states_table_note_cut(struct result_table *t, const struct table_view *view)
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
static void states_table_add_others(struct result_table *t, uint32_t others)
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

static void states_table_add_rows(const struct table_view *view,
                                  const struct thread_timeline *course,
                                  const struct thread_states *sums, struct result_table *t)
{
    if (!sums->life_ns)
        return;
    if (states_table_is_by_state(view))
        states_table_add_states(view, course, sums, t);
    else
        states_table_add_thread(view, course, sums, t);
}

static void states_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct states_work *m = work;
    struct thread_states all = {0};
    uint32_t threads = view->measured->thread_count;
    threads = m->sweep.thread < threads ? m->sweep.thread : threads;
    struct cpu_source_counts sources = states_table_count_sources(m, view, threads);
    const char *source = cpu_source_text(&sources);
    t->title = xstrdup("states");
    states_table_is_by_state(view) ? states_table_add_state_columns(t, source)
                                   : states_table_add_columns(t, source);
    for (uint32_t i = 0; i < threads; i++) {
        states_table_add_rows(view, states_table_course_at(view, i), &m->threads[i], t);
        thread_states_add(&all, &m->threads[i]);
    }
    uint32_t count = t->row_count;
    if (states_table_is_by_state(view))
        table_make_total(t)[TOTAL] = table_cell_number(all.life_ns);
    else
        states_table_set_sums(table_make_total(t), &all, cpu_source_any(&sources))[2] =
            table_cell_number(all.estimated_ns);
    states_table_add_notes(t, view, &all, &sources);
    states_table_note_cut(t, view);
    table_arrange(t, view->request, NULL);
    if (t->row_count < count && !states_table_is_by_state(view) &&
        table_option(view->request, "others"))
        states_table_add_others(t, count - t->row_count);
}

static void states_table_free(void *work)
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
                                           .free = states_table_free};

/* ---- table of state intervals ---- */

enum spells_column {
    SPELL_THREAD,
    SPELL_STATE,
    SPELL_FROM,
    SPELL_DURATION,
    SPELL_ELAPSED,
    SPELL_LOCATION,
    SPELL_OBJECT,
    SPELL_UNATTRIBUTED,
    SPELL_WORKER,
    SPELL_ACCURACY
};

static const struct column_definition spells_table_columns[] = {
    [SPELL_THREAD] = {"thread", .kind = TABLE_LINE},
    [SPELL_STATE] = {"state", .kind = TABLE_TEXT},
    [SPELL_FROM] = {"from_ns", .kind = TABLE_NS},
    [SPELL_DURATION] = {"duration_ns", .kind = TABLE_NS},
    [SPELL_ELAPSED] = {"elapsed_ns", .kind = TABLE_NS},
    [SPELL_LOCATION] = {"location", "start location", .kind = TABLE_PLACE},
    [SPELL_OBJECT] = {"object", "blocked on", .kind = TABLE_LINE},
    [SPELL_UNATTRIBUTED] = {"unattributed", "cause unknown", .kind = TABLE_TEXT, .detail = true},
    [SPELL_WORKER] = {"worker", "ran on", .kind = TABLE_TEXT, .source = "placement"},
    [SPELL_ACCURACY] = {"accuracy", .kind = TABLE_TEXT, .detail = true},
};

struct interval_listing {
    struct lifetime_sweep sweep;
    const struct table_view *view;
    struct result_table table;
    uint32_t thread;
    struct table_cell where; /* of the thread since the last interval; null: it ran, or unknown */
    int64_t so_far_ns, all_ns; /* sum of the durations so far: of the current thread, of all */
    bool full;
    struct cpu_source_counts sources;
};

static const char *const spells_table_reasons[UNATTRIBUTED_REASONS] = {
    [UNATTRIBUTED_UNTRACED] = "untraced",
    [UNATTRIBUTED_LOST] = "lost",
    [UNATTRIBUTED_OPEN] = "open",
    [UNATTRIBUTED_DELETED] = "deleted"};

/* Returns where an interval begins.  A switch of a task is not an event: its function is known if
 * its calls are measured. */
static struct table_cell spells_table_where(const struct interval_listing *l,
                                            const struct thread_state_interval *spell)
{
    const struct run *run = l->view->run;
    uint32_t path =
        spell->switched && spell->left ? activity_path_of(run, l->thread, spell->left - 1) : 0;
    if (spell->switched && (!path || path == ACTIVITY_NO_PATH))
        return (struct table_cell){0};
    if (spell->switched) {
        const struct activity_path *in = activity_path(run, path);
        return table_cell_place((struct table_place){in->process, in->function});
    }
    return spell->place  ? table_cell_place(table_place(l->view, spell->place))
           : l->where.is ? l->where /* a thread that did not run is still where it was */
                         : table_site_cell(l->view, l->thread, spell->position);
}

static void spells_table_add_interval(void *context, const struct thread_state_interval *spell)
{
    struct interval_listing *l = context;
    int64_t took = spell->to_ns - spell->from_ns;
    bool ran = spell->state == THREAD_STATE_RUNNING || spell->state == THREAD_STATE_CREATED;
    struct table_cell where = spells_table_where(l, spell);
    l->where = ran ? (struct table_cell){0} : where;
    struct table_cell *cells =
        l->full ? NULL : table_add_row(&l->table, 0, table_event(l->view, spell->position));
    l->full |= !cells;
    l->so_far_ns += took;
    l->all_ns += took;
    if (!cells)
        return;
    cells[SPELL_THREAD] = table_cell_line(l->thread);
    cells[SPELL_STATE] = table_cell_text(thread_state_name(spell->state));
    cells[SPELL_FROM] = table_cell_number(spell->from_ns);
    cells[SPELL_DURATION] = table_cell_number(took);
    cells[SPELL_ELAPSED] = table_cell_number(l->so_far_ns);
    cells[SPELL_LOCATION] = where;
    cells[SPELL_OBJECT] = table_cell_line(spell->about);
    if (spell->unexplained < UNATTRIBUTED_REASONS && spells_table_reasons[spell->unexplained])
        cells[SPELL_UNATTRIBUTED] = table_cell_text(spells_table_reasons[spell->unexplained]);
    cells[SPELL_ACCURACY] = table_cell_text(thread_state_accuracy(spell->accuracy));
    char *on = placement_names_text(l->view->lives.spans, l->thread, spell->on);
    if (on)
        cells[SPELL_WORKER] = table_cell_text(on);
    free(on);
    table_row_line(&l->table, l->thread);
    table_row_line(&l->table, spell->about);
}

static void *spells_table_begin(const struct table_view *view, struct error *error)
{
    struct interval_listing *l = xcalloc(1, sizeof *l);
    (void)error;
    l->view = view;
    l->table.title = xstrdup("state intervals");
    table_add_columns(&l->table, spells_table_columns,
                      sizeof spells_table_columns / sizeof *spells_table_columns);
    l->table.columns[SPELL_WORKER].detail =
        !placements_carriers(cpu_states_tasks(view->lives.spans));
    return l;
}

#define SPELL_COST 16u /* cost of a row, in intervals */

static bool spells_table_step(void *work, uint64_t *budget)
{
    struct interval_listing *l = work;
    const struct table_view *view = l->view;
    struct lifetime_piece piece;
    enum lifetime_sweep_result is;
    uint64_t left = *budget / SPELL_COST + 1;
    while ((is = lifetime_sweep_next(&l->sweep, view, &left, &piece)) == LIFETIME_SWEEP_PIECE) {
        if (!table_lives(view, piece.course->thread))
            continue;
        l->thread = piece.course->thread;
        if (piece.first) {
            l->so_far_ns = 0;
            l->where = (struct table_cell){0};
            cpu_source_row(&l->sources, view, piece.course);
        }
        thread_states_visit(&view->lives, piece.course, piece.from_ns, piece.to_ns,
                            spells_table_add_interval, l);
    }
    return is == LIFETIME_SWEEP_DONE;
}

static void spells_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct interval_listing *l = work;
    table_make_total(&l->table)[SPELL_DURATION] = table_cell_number(l->all_ns);
    if (l->full)
        table_add_note(&l->table, "too many rows; narrow the selection (--threads, --from, --to)");
    cpu_source_note(&l->table, view, &l->sources);
    table_move(t, &l->table);
    table_arrange(t, view->request, NULL);
}

static void spells_table_free(void *work)
{
    struct interval_listing *l = work;
    result_table_free(&l->table);
    free(l);
}

static const char *const spells_table_groupings[] = {"thread", NULL};

const struct table_preset preset_intervals = {.what = "intervals",
                                              .by = spells_table_groupings,
                                              .begin = spells_table_begin,
                                              .step = spells_table_step,
                                              .fill = spells_table_fill,
                                              .free = spells_table_free};
