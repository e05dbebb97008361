/* The table of states: how each thread spent its life. */
#include "memory/memory.h"
#include "server/answer/table/processor.h"
#include "server/answer/table/sweep.h"
#include "server/measure/states.h"

#include <stdio.h>
#include <stdlib.h>

/* What a table says its numbers come from. */
struct origin {
    struct processor_said said;
    bool ended; /* all is of what threads said at their ends */
};

static bool is_split(unsigned state)
{
    return state == STATE_RUNNING || state == STATE_READY || state == STATE_SYSTEM;
}

/* count, least and most of a state. */
static void add_details(struct shown_table *t, unsigned state, const char *source)
{
    static const char *const names[] = {"count", "least_ns", "most_ns"}, *const titles[] = {"times",
                                                                                            "least",
                                                                                            "most"};
    for (unsigned i = 0; i < 3; i++) {
        char name[40], title[40];
        snprintf(name, sizeof name, "%s_%s", states_word(state), names[i]);
        snprintf(title, sizeof title, "%s %s", states_word(state), titles[i]);
        table_add_column(t, name, title, i ? TABLE_NS : TABLE_COUNT,
                         state == STATE_RUNNING ? source : NULL);
        table_detail(t);
    }
}

static bool has_details(unsigned state)
{
    return state == STATE_READY || state == STATE_RUNNING || state == STATE_BLOCKED;
}

/* source: of what lies between waits. */
static void add_columns(struct shown_table *t, const char *source)
{
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    for (unsigned state = 0; state < STATES; state++) {
        char name[40];
        snprintf(name, sizeof name, "%s_ns", states_word(state));
        table_add_column(t, name, states_word(state), TABLE_NS, is_split(state) ? source : NULL);
    }
    table_add_column(t, "life_ns", "life", TABLE_NS, NULL);
    for (unsigned state = 0; state < STATES; state++)
        if (has_details(state))
            add_details(t, state, source);
    table_add_column(t, "begin_ns", "begins", TABLE_NS, NULL);
    table_detail(t);
    table_add_column(t, "end_ns", "ends", TABLE_NS, NULL);
    table_detail(t);
}

/* From when to when it lived, of what counts of it. */
static void set_life(struct table_cell *cells, const struct table_view *view,
                     const struct course_of *course)
{
    int64_t from, to, until = table_until(view, course);
    if (!states_life(&view->lives, course, &from, &to))
        return;
    cells[0] = cell_number(from > view->from_ns ? from : view->from_ns);
    cells[1] = cell_number(to < until ? to : until);
}

/* split: by processor time.  Returns the cell behind them. */
static struct table_cell *set_sums(struct table_cell *cells, const struct states *s, bool split)
{
    struct table_cell *cell = cells + 1;
    for (unsigned state = 0; state < STATES; state++, cell++)
        if (state != STATE_SYSTEM || split)
            *cell = cell_number(s->of[state].total_ns);
    *cell++ = cell_number(s->life_ns);
    for (unsigned state = 0; state < STATES; state++) {
        const struct state_sum *sum = &s->of[state];
        if (!has_details(state))
            continue;
        *cell++ = cell_number((int64_t)sum->count);
        *cell++ = sum->count ? cell_number(sum->least_ns) : (struct table_cell){0};
        *cell++ = sum->count ? cell_number(sum->most_ns) : (struct table_cell){0};
    }
    return cell;
}

struct summing {
    const struct table_view *view;
    struct sweep sweep;
    struct states *threads; /* by index of those that are measured */
    size_t room;
};

static void *begin(const struct table_view *view, char **problem)
{
    struct summing *m = memory_zeroed(1, sizeof *m);
    (void)problem;
    m->view = view;
    return m;
}

static bool step(void *work, uint64_t *budget)
{
    struct summing *m = work;
    const struct table_view *view = m->view;
    struct sweep_piece piece;
    enum sweep_is is;
    m->threads =
        grow_zeroed(m->threads, &m->room, view->measured->thread_count, sizeof *m->threads);
    while ((is = sweep_next(&m->sweep, view, budget, &piece)) == SWEEP_PIECE) {
        struct states sums;
        if (!table_lives(view, piece.course->thread))
            continue;
        states_sum(&view->lives, piece.course, piece.from_ns, piece.to_ns, &sums);
        states_add(&m->threads[piece.course - view->measured->threads], &sums);
    }
    return is == SWEEP_DONE;
}

static const struct course_of *course_at(const struct table_view *view, uint32_t i)
{
    return &view->measured->threads[i];
}

/* Have all that anything is known of said at their ends how long they ran? */
static struct origin origin_of(const struct summing *m, const struct table_view *view,
                               uint32_t count)
{
    struct origin origin = {.ended = true};
    for (uint32_t i = 0; i < count; i++) {
        struct states whole = m->threads[i];
        if (!whole.life_ns)
            continue;
        processor_row(&origin.said, view, course_at(view, i));
        origin.ended &= !processor_known(view, course_at(view, i)) ||
                        processor_split(view, course_at(view, i), &whole);
    }
    return origin;
}

static void add_thread(const struct table_view *view, const struct course_of *course,
                       const struct states *sums, bool ended, struct shown_table *t,
                       struct states *all)
{
    struct table_cell *cells =
        sums->life_ns ? table_add_row(t, 0, table_event(view, course->start)) : NULL;
    if (!cells)
        return;
    struct states whole = *sums;
    if (ended)
        processor_split(view, course, &whole);
    cells[0] = cell_line(course->thread);
    set_life(set_sums(cells, &whole, processor_known(view, course)), view, course);
    table_row_line(t, course->thread);
    states_add(all, &whole);
}

static void add_notes(struct shown_table *t, const struct table_view *view,
                      const struct states *all, const struct origin *origin)
{
    if (all->unexplained)
        table_add_note(t,
                       "blocked has %.3f ms in %llu waits of which nothing recorded tells who "
                       "ended them",
                       (double)all->unexplained_ns / 1e6, (unsigned long long)all->unexplained);
    processor_note(t, view, &origin->said, origin->ended);
}

/* Of those that were killed the last event is no end. */
static void note_cut(struct shown_table *t, const struct table_view *view)
{
    const struct intervals *all = view->measured;
    int64_t ended = view->run->ended_ns, begin, end;
    uint32_t cut = 0;
    for (uint32_t i = 0; i < all->thread_count && !view->apart; i++) {
        const struct course_of *c = &all->threads[i];
        cut += c->start_ns != INTERVALS_NEVER && c->end == NO_POSITION &&
               table_wants(view, c->thread) && table_lives(view, c->thread) &&
               (!states_life(&view->lives, c, &begin, &end) || end < ended) && c->start_ns < ended;
    }
    if (cut && view->to_ns == INT64_MAX && !view->past)
        table_add_note(t,
                       "%u thread%s had not ended when the program%s gone, %.3f s after the run "
                       "began: what came after the last that is recorded of it is not known",
                       cut, cut == 1 ? "" : "s", view->run->process_count == 1 ? " was" : "s were",
                       (double)ended / 1e9);
}

/* Option "others": those that are cut off, in one row. */
static void add_others(struct shown_table *t, uint32_t others)
{
    char *words = memory_printed("%u other%s", others, others == 1 ? "" : "s");
    uint32_t shown = t->row_count;
    struct table_cell *cells = table_add_row(t, 0, (struct ref){0});
    if (cells)
        cells[0] = cell_text(words);
    for (uint32_t k = 1; cells && k <= STATES + 1; k++) {
        if (t->total[k].is != CELL_NUMBER)
            continue;
        cells[k] = t->total[k];
        for (uint32_t i = 0; i < shown; i++)
            cells[k].number -= table_cells(t, i)[k].number;
    }
    free(words);
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct summing *m = work;
    struct states all = {0};
    uint32_t threads = view->measured->thread_count;
    threads = m->sweep.thread < threads ? m->sweep.thread : threads;
    struct origin origin = origin_of(m, view, threads);
    t->title = memory_copied("states");
    add_columns(t, processor_source(view, &origin.said, origin.ended));
    for (uint32_t i = 0; i < threads; i++)
        add_thread(view, course_at(view, i), &m->threads[i], origin.ended, t, &all);
    uint32_t count = t->row_count;
    set_sums(table_make_total(t), &all, origin.said.known > 0);
    add_notes(t, view, &all, &origin);
    note_cut(t, view);
    table_arrange(t, view->request, NULL);
    if (t->row_count < count && table_option(view->request, "others"))
        add_others(t, count - t->row_count);
}

static void free_work(void *work)
{
    free(((struct summing *)work)->threads);
    free(work);
}

static const char *const by[] = {"thread", NULL};

const struct preset preset_states = {
    .what = "states", .by = by, .begin = begin, .step = step, .fill = fill, .free = free_work};
