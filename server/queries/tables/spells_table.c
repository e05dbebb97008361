/* Table of state intervals: the states of each thread in order, with begin, duration, and the call
 * site where each began. */
#include "base/alloc.h"
#include "server/queries/tables/cpu_source.h"
#include "server/queries/tables/placement_names.h"
#include "server/queries/tables/lifetime_sweep.h"

#include <stdlib.h>

struct interval_listing {
    struct lifetime_sweep sweep;
    const struct table_view *view;
    struct result_table table;
    uint32_t thread;
    int64_t so_far_ns, all_ns; /* sum of the durations so far: of the current thread, of all */
    bool full;
    struct cpu_source_counts sources;
};

static void spells_table_add_columns(struct result_table *t, const struct table_view *view)
{
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    table_add_column(t, "state", "state", TABLE_TEXT, NULL);
    table_add_column(t, "from_ns", "from", TABLE_NS, NULL);
    table_add_column(t, "duration_ns", "duration", TABLE_NS, NULL);
    table_add_column(t, "elapsed_ns", "elapsed", TABLE_NS, NULL);
    table_add_column(t, "location", "start location", TABLE_PLACE, NULL);
    table_add_column(t, "object", "blocked on", TABLE_LINE, NULL);
    table_add_column(t, "unattributed", "cause unknown", TABLE_TEXT, NULL);
    table_detail(t);
    table_add_column(t, "worker", "ran on", TABLE_TEXT, "placement");
    if (!placements_carriers(cpu_states_tasks(view->lives.spans)))
        table_detail(t);
}

static const char *const spells_table_reasons[UNATTRIBUTED_REASONS] = {
    [UNATTRIBUTED_UNTRACED] = "untraced",
    [UNATTRIBUTED_LOST] = "lost",
    [UNATTRIBUTED_OPEN] = "open"};

static void spells_table_add_interval(void *context, const struct thread_state_interval *spell)
{
    struct interval_listing *l = context;
    int64_t took = spell->to_ns - spell->from_ns;
    struct table_cell *cells =
        l->full ? NULL : table_add_row(&l->table, 0, table_event(l->view, spell->position));
    l->full |= !cells;
    l->so_far_ns += took;
    l->all_ns += took;
    if (!cells)
        return;
    cells[0] = table_cell_line(l->thread);
    cells[1] = table_cell_text(thread_state_name(spell->state));
    cells[2] = table_cell_number(spell->from_ns);
    cells[3] = table_cell_number(took);
    cells[4] = table_cell_number(l->so_far_ns);
    if (spell->place)
        cells[5] = table_cell_place(table_place(l->view, spell->place));
    cells[6] = table_cell_line(spell->about);
    if (spell->unexplained < UNATTRIBUTED_REASONS && spells_table_reasons[spell->unexplained])
        cells[7] = table_cell_text(spells_table_reasons[spell->unexplained]);
    char *on = placement_names_text(l->view->lives.spans, l->thread, spell->on);
    if (on)
        cells[8] = table_cell_text(on);
    free(on);
    table_row_line(&l->table, l->thread);
    table_row_line(&l->table, spell->about);
}

static void *spells_table_begin(const struct table_view *view, char **problem)
{
    struct interval_listing *l = xcalloc(1, sizeof *l);
    (void)problem;
    l->view = view;
    l->table.title = xstrdup("state intervals");
    spells_table_add_columns(&l->table, view);
    return l;
}

#define COST 16u /* cost of a row, in intervals */

static bool spells_table_step(void *work, uint64_t *budget)
{
    struct interval_listing *l = work;
    const struct table_view *view = l->view;
    struct lifetime_piece piece;
    enum lifetime_sweep_result is;
    uint64_t left = *budget / COST + 1;
    while ((is = lifetime_sweep_next(&l->sweep, view, &left, &piece)) == LIFETIME_SWEEP_PIECE) {
        if (!table_lives(view, piece.course->thread))
            continue;
        l->thread = piece.course->thread;
        l->so_far_ns = piece.first ? 0 : l->so_far_ns;
        if (piece.first)
            cpu_source_row(&l->sources, view, piece.course);
        thread_states_visit(&view->lives, piece.course, piece.from_ns, piece.to_ns,
                            spells_table_add_interval, l);
    }
    return is == LIFETIME_SWEEP_DONE;
}

static void spells_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct interval_listing *l = work;
    table_make_total(&l->table)[3] = table_cell_number(l->all_ns);
    if (l->full)
        table_add_note(&l->table, "too many rows; narrow the selection (--threads, --from, --to)");
    cpu_source_note(&l->table, view, &l->sources, false);
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

const struct table_preset preset_spells = {.what = "intervals",
                                           .by = spells_table_groupings,
                                           .begin = spells_table_begin,
                                           .step = spells_table_step,
                                           .fill = spells_table_fill,
                                           .free = spells_table_free};
