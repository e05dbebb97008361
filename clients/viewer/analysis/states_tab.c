/* The tab Thread States: time per state; as bands if the diagram is by time or zoomed out; beside
 * it the states of one thread. */
#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/analysis/tab_list.h"
#include "clients/viewer/analysis/overview_states.h"
#include "clients/viewer/analysis/state_details.h"
#include "clients/viewer/diagram/viewer.h"

/* Returns the bands that are shown in place of the table; NULL: none. */
static GtkWidget *states_tab_replacement_widget(struct view *view)
{
    return overview_states_are_shown(view) ? overview_states_widget(view)
           : band_rows_are_shown(view)     ? band_rows_widget(view)
                                           : NULL;
}

static void states_tab_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    uint32_t thread = result_table_find_column(t, "thread");
    const struct table_cell *cell = row < 0 ? NULL : &result_table_cells(t, (uint32_t)row)[thread];
    if (cell && thread < t->column_count && cell->is == CELL_LINE)
        state_details_show(view, cell->line);
}

static void states_tab_on_notification(struct view *view, enum notification what)
{
    band_rows_on_notification(view, what);
    overview_states_on_notification(view, what);
    state_details_follow_selection(view);
}

static void states_tab_on_table(struct view *view, const struct result_table *t)
{
    (void)t;
    state_details_refresh(view);
}

static void states_tab_clear(struct view *view)
{
    band_rows_clear(view);
    state_details_show(view, 0);
}

static const struct tab_aside states_tab_details = {.share = 0.68,
                                                    .widget = state_details_widget,
                                                    .is_busy = state_details_are_busy,
                                                    .print = state_details_print};

const struct tab page_states = {
    .name = "states",
    .title = "Thread States",
    .preset = "states",
    .row_kind = "",
    .empty_text = "No threads yet.",
    .tooltip = "Time per thread state: runnable, running, blocked; a row leads to the states of "
               "its thread",
    .replacement = states_tab_replacement_widget,
    .selected = states_tab_on_row_selected,
    .aside = &states_tab_details,
    .on_notification = states_tab_on_notification,
    .on_table = states_tab_on_table,
    .clear = states_tab_clear,
};
