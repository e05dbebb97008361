/* Table of state intervals: the states of each thread in order, with begin, duration, and the call
 * site where each began. */
#include "base/alloc.h"
#include "server/queries/tables/cpu_source.h"
#include "server/queries/tables/placement_names.h"
#include "server/queries/tables/lifetime_sweep.h"

#include <stdlib.h>

enum spells_column {
    THREAD,
    STATE,
    FROM,
    DURATION,
    ELAPSED,
    LOCATION,
    OBJECT,
    UNATTRIBUTED,
    WORKER,
    ACCURACY
};

static const struct column_definition spells_table_columns[] = {
    [THREAD] = {"thread", "thread", .kind = TABLE_LINE},
    [STATE] = {"state", "state", .kind = TABLE_TEXT},
    [FROM] = {"from_ns", "from", .kind = TABLE_NS},
    [DURATION] = {"duration_ns", "duration", .kind = TABLE_NS},
    [ELAPSED] = {"elapsed_ns", "elapsed", .kind = TABLE_NS},
    [LOCATION] = {"location", "start location", .kind = TABLE_PLACE},
    [OBJECT] = {"object", "blocked on", .kind = TABLE_LINE},
    [UNATTRIBUTED] = {"unattributed", "cause unknown", .kind = TABLE_TEXT, .detail = true},
    [WORKER] = {"worker", "ran on", .kind = TABLE_TEXT, .source = "placement"},
    [ACCURACY] = {"accuracy", "accuracy", .kind = TABLE_TEXT, .detail = true},
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
    [UNATTRIBUTED_OPEN] = "open"};

static void spells_table_add_interval(void *context, const struct thread_state_interval *spell)
{
    struct interval_listing *l = context;
    int64_t took = spell->to_ns - spell->from_ns;
    bool ran = spell->state == THREAD_STATE_RUNNING || spell->state == THREAD_STATE_CREATED;
    struct table_cell where = spell->place ? table_cell_place(table_place(l->view, spell->place))
                              : l->where.is
                                  ? l->where /* a thread that did not run is still where it was */
                                  : table_site_cell(l->view, l->thread, spell->position);
    l->where = ran ? (struct table_cell){0} : where;
    struct table_cell *cells =
        l->full ? NULL : table_add_row(&l->table, 0, table_event(l->view, spell->position));
    l->full |= !cells;
    l->so_far_ns += took;
    l->all_ns += took;
    if (!cells)
        return;
    cells[THREAD] = table_cell_line(l->thread);
    cells[STATE] = table_cell_text(thread_state_name(spell->state));
    cells[FROM] = table_cell_number(spell->from_ns);
    cells[DURATION] = table_cell_number(took);
    cells[ELAPSED] = table_cell_number(l->so_far_ns);
    cells[LOCATION] = where;
    cells[OBJECT] = table_cell_line(spell->about);
    if (spell->unexplained < UNATTRIBUTED_REASONS && spells_table_reasons[spell->unexplained])
        cells[UNATTRIBUTED] = table_cell_text(spells_table_reasons[spell->unexplained]);
    cells[ACCURACY] = table_cell_text(thread_state_accuracy(spell->accuracy));
    char *on = placement_names_text(l->view->lives.spans, l->thread, spell->on);
    if (on)
        cells[WORKER] = table_cell_text(on);
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
    table_add_columns(&l->table, spells_table_columns,
                      sizeof spells_table_columns / sizeof *spells_table_columns);
    l->table.columns[WORKER].detail = !placements_carriers(cpu_states_tasks(view->lives.spans));
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
    table_make_total(&l->table)[DURATION] = table_cell_number(l->all_ns);
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

const struct table_preset preset_spells = {.what = "intervals",
                                           .by = spells_table_groupings,
                                           .begin = spells_table_begin,
                                           .step = spells_table_step,
                                           .fill = spells_table_fill,
                                           .free = spells_table_free};
