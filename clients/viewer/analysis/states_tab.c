/* The tab Thread States: time per state; as bands if the diagram is by time or zoomed out. */
#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/analysis/tab_list.h"
#include "clients/viewer/analysis/overview_states.h"
#include "clients/viewer/diagram/viewer.h"

/* Returns the bands that are shown in place of the table; NULL: none. */
static GtkWidget *states_tab_replacement_widget(struct view *view)
{
    return overview_states_are_shown(view) ? overview_states_widget(view)
           : band_rows_are_shown(view)     ? band_rows_widget(view)
                                           : NULL;
}

static void states_tab_on_notification(struct view *view, enum notification what)
{
    band_rows_on_notification(view, what);
    overview_states_on_notification(view, what);
}

const struct tab page_states = {
    .name = "states",
    .title = "Thread States",
    .preset = "states",
    .row_kind = "",
    .empty_text = "No threads yet.",
    .tooltip = "Time per thread state: runnable, running, blocked",
    .replacement = states_tab_replacement_widget,
    .on_notification = states_tab_on_notification,
    .clear = band_rows_clear,
};
