/* The table of spells: each thread's states one after the other, from when, how long, and where in the code they began. */
#include "memory/memory.h"
#include "server/answer/table/processor.h"
#include "server/answer/table/ran.h"
#include "server/answer/table/sweep.h"

#include <stdlib.h>

struct listing {
    struct sweep sweep;
    const struct table_view *view;
    struct shown_table table;
    uint32_t thread;
    int64_t so_far_ns, all_ns; /* of the thread, of all */
    bool full;
    struct processor_said said;
};

static void add_columns(struct shown_table *t, const struct table_view *view)
{
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    table_add_column(t, "state", "state", TABLE_TEXT, NULL);
    table_add_column(t, "from_ns", "from", TABLE_NS, NULL);
    table_add_column(t, "took_ns", "took", TABLE_NS, NULL);
    table_add_column(t, "so_far_ns", "so far", TABLE_NS, NULL);
    table_add_column(t, "where", "where it began", TABLE_PLACE, NULL);
    table_add_column(t, "for", "waits for", TABLE_LINE, NULL);
    table_add_column(t, "unexplained", "why is not known", TABLE_TEXT, NULL);
    table_detail(t);
    table_add_column(t, "processor", "on", TABLE_TEXT, "stays");
    if (!stays_carriers(spans_tasks(view->lives.spans)))
        table_detail(t);
}

static const char *const reasons[UNEXPLAINED_REASONS] = {
    [UNEXPLAINED_UNSEEN] = "unseen", [UNEXPLAINED_LOST] = "lost", [UNEXPLAINED_OPEN] = "open"};

static void add_spell(void *context, const struct spell *spell)
{
    struct listing *l = context;
    int64_t took = spell->to_ns - spell->from_ns;
    struct table_cell *cells =
        l->full ? NULL : table_add_row(&l->table, 0, table_event(l->view, spell->position));
    l->full |= !cells;
    l->so_far_ns += took;
    l->all_ns += took;
    if (!cells)
        return;
    cells[0] = cell_line(l->thread);
    cells[1] = cell_text(states_word(spell->state));
    cells[2] = cell_number(spell->from_ns);
    cells[3] = cell_number(took);
    cells[4] = cell_number(l->so_far_ns);
    if (spell->place)
        cells[5] = cell_place(table_place(l->view, spell->place));
    cells[6] = cell_line(spell->about);
    if (spell->unexplained < UNEXPLAINED_REASONS && reasons[spell->unexplained])
        cells[7] = cell_text(reasons[spell->unexplained]);
    char *on = ran_said(l->view->lives.spans, l->thread, spell->on);
    if (on)
        cells[8] = cell_text(on);
    free(on);
    table_row_line(&l->table, l->thread);
    table_row_line(&l->table, spell->about);
}

static void *begin(const struct table_view *view, char **problem)
{
    struct listing *l = memory_zeroed(1, sizeof *l);
    (void)problem;
    l->view = view;
    l->table.title = memory_copied("states one after the other");
    add_columns(&l->table, view);
    return l;
}

#define COST 16u /* of a row, in intervals that are only looked at */

static bool step(void *work, uint64_t *budget)
{
    struct listing *l = work;
    const struct table_view *view = l->view;
    struct sweep_piece piece;
    enum sweep_is is;
    uint64_t left = *budget / COST + 1;
    while ((is = sweep_next(&l->sweep, view, &left, &piece)) == SWEEP_PIECE) {
        if (!table_lives(view, piece.course->thread))
            continue;
        l->thread = piece.course->thread;
        l->so_far_ns = piece.first ? 0 : l->so_far_ns;
        if (piece.first)
            processor_row(&l->said, view, piece.course);
        states_visit(&view->lives, piece.course, piece.from_ns, piece.to_ns, add_spell, l);
    }
    return is == SWEEP_DONE;
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct listing *l = work;
    table_make_total(&l->table)[3] = cell_number(l->all_ns);
    if (l->full)
        table_add_note(&l->table,
                       "there are more than fit into a table: choose --lines or a range");
    processor_note(&l->table, view, &l->said, false);
    table_becomes(t, &l->table);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct listing *l = work;
    shown_table_free(&l->table);
    free(l);
}

static const char *const by[] = {"thread", NULL};

const struct preset preset_spells = {
    .what = "spells", .by = by, .begin = begin, .step = step, .fill = fill, .free = free_work};
