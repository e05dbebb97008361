/* The table of states: how each thread spent its life. */
#include "memory/memory.h"
#include "server/answer/table/processor.h"
#include "server/answer/table/sweep.h"
#include "server/measure/states.h"

#include <stdio.h>
#include <stdlib.h>

#define BOUND "order: all that no wait accounts for"
#define SPLIT "processor time where it is known, else order: all that no wait accounts for"

static const char *source_of(unsigned state)
{
    return state == STATE_RUNNING  ? SPLIT
           : state == STATE_READY  ? "order; with run delay where it is known"
           : state == STATE_SYSTEM ? "what is left where processor time is known, else none"
                                   : NULL;
}

/* count, least and most of a state. */
static void add_details(struct shown_table *t, unsigned state)
{
    static const char *const names[] = {"count", "least_ns", "most_ns"}, *const titles[] = {"times",
                                                                                            "least",
                                                                                            "most"};
    for (unsigned i = 0; i < 3; i++) {
        char name[40], title[40];
        snprintf(name, sizeof name, "%s_%s", states_word(state), names[i]);
        snprintf(title, sizeof title, "%s %s", states_word(state), titles[i]);
        table_add_column(t, name, title, i ? TABLE_NS : TABLE_COUNT,
                         state == STATE_RUNNING ? BOUND : NULL);
        table_detail(t);
    }
}

static bool has_details(unsigned state)
{
    return state == STATE_READY || state == STATE_RUNNING || state == STATE_BLOCKED;
}

static void add_columns(struct shown_table *t)
{
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    for (unsigned state = 0; state < STATES; state++) {
        char name[40];
        snprintf(name, sizeof name, "%s_ns", states_word(state));
        table_add_column(t, name, states_word(state), TABLE_NS, source_of(state));
    }
    table_add_column(t, "life_ns", "life", TABLE_NS, NULL);
    for (unsigned state = 0; state < STATES; state++)
        if (has_details(state))
            add_details(t, state);
}

/* split: by processor time. */
static void set_sums(struct table_cell *cells, const struct states *s, bool split)
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
        states_sum(&view->lives, piece.course, piece.from_ns, piece.to_ns, &sums);
        states_add(&m->threads[piece.course - view->measured->threads], &sums);
    }
    return is == SWEEP_DONE;
}

static void add_thread(const struct table_view *view, const struct course_of *course,
                       const struct states *sums, struct shown_table *t, struct states *all,
                       uint32_t *unsplit)
{
    struct table_cell *cells =
        sums->life_ns ? table_add_row(t, 0, table_event(view, course->start)) : NULL;
    if (!cells)
        return;
    struct states whole = *sums;
    bool split = processor_split(view, course, &whole);
    cells[0] = cell_line(course->thread);
    set_sums(cells, &whole, split);
    table_row_line(t, course->thread);
    states_add(all, &whole);
    *unsplit += !split;
}

/* unsplit: so many rows whose running is the order's. */
static void add_notes(struct shown_table *t, const struct states *all, uint32_t unsplit)
{
    if (all->unexplained)
        table_add_note(t,
                       "blocked has %.3f ms in %llu waits of which nothing recorded tells who "
                       "ended them",
                       (double)all->unexplained_ns / 1e6, (unsigned long long)all->unexplained);
    if (unsplit == t->row_count)
        table_add_note(t, "running is what no wait accounts for: an upper bound, as the order "
                          "alone does not tell when the system ran others");
    else
        table_add_note(t,
                       "running is processor time, and system what neither that nor a wait "
                       "accounts for: asleep, or waiting for what no event tells of; ready is the "
                       "least that it can be%s",
                       unsplit ? " (without a figure for system, running is what no wait accounts "
                                 "for, an upper bound)"
                               : "");
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
    uint32_t unsplit = 0;
    t->title = memory_copied("states");
    add_columns(t);
    for (uint32_t i = 0; i < m->sweep.thread && i < view->measured->thread_count; i++)
        add_thread(view, &view->measured->threads[i], &m->threads[i], t, &all, &unsplit);
    uint32_t count = t->row_count;
    set_sums(table_make_total(t), &all, unsplit < count);
    add_notes(t, &all, unsplit);
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
