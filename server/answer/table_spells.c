/* The table of spells: each thread's states one after the other, from when, how long, and where in the code they began. */
#include "memory/memory.h"
#include "server/answer/table.h"

struct listing {
    const struct table_view *view;
    struct shown_table *table;
    uint32_t thread;
    int64_t so_far_ns; /* of the thread */
    bool full;
};

static void add_columns(struct shown_table *t)
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
}

static const char *const reasons[UNEXPLAINED_REASONS] = {
    [UNEXPLAINED_UNSEEN] = "unseen", [UNEXPLAINED_LOST] = "lost", [UNEXPLAINED_OPEN] = "open"};

static void add_spell(void *context, const struct spell *spell)
{
    struct listing *l = context;
    int64_t took = spell->to_ns - spell->from_ns;
    struct table_cell *cells =
        l->full ? NULL : table_add_row(l->table, 0, table_event(l->view, spell->position));
    l->full |= !cells;
    l->so_far_ns += took;
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
    table_row_line(l->table, l->thread);
    table_row_line(l->table, spell->about);
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct listing l = {.view = view, .table = t};
    int64_t all = 0;
    (void)work;
    t->title = memory_copied("states one after the other");
    add_columns(t);
    for (uint32_t i = 0; i < view->measured->thread_count; i++) {
        const struct course_of *course = &view->measured->threads[i];
        if (!table_wants(view, course->thread))
            continue;
        l.thread = course->thread;
        l.so_far_ns = 0;
        states_visit(&view->lives, course, view->from_ns, table_until(view, course), add_spell, &l);
        all += l.so_far_ns;
    }
    table_make_total(t)[3] = cell_number(all);
    if (l.full)
        table_add_note(t, "there are more than fit into a table: choose --lines or a range");
    table_arrange(t, view->request, NULL);
}

static const char *const by[] = {"thread", NULL};

const struct preset preset_spells = {.what = "spells", .by = by, .fill = fill};
