/* The tab Memory: heap memory that was allocated and not freed. */
#include "clients/viewer/analysis/metric_page.h"
#include "clients/viewer/analysis/tab_list.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"

static GtkWidget *memory_tab_curve_widget(struct view *view)
{
    return metric_page_curve_above(view, METRIC_PAGE_MEMORY);
}

static void memory_tab_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    metric_page_select(view, METRIC_PAGE_MEMORY, t, row);
    struct event_id before = row < 0 ? (struct event_id){0} : t->rows[row].event;
    if (before.line) /* its thread's last event before the allocation */
        go_to_event(view, before, NO_POSITION);
}

static void memory_tab_on_notification(struct view *view, enum notification what)
{
    metric_page_on_notification(view, METRIC_PAGE_MEMORY, what);
}
static void memory_tab_clear_curve(struct view *view)
{
    metric_page_clear(view, METRIC_PAGE_MEMORY);
}

const struct tab page_memory = {
    .name = "memory",
    .title = "Memory",
    .preset = "memory",
    .row_kind = "",
    .empty_text = "No heap data: start with poet record -m memory.",
    .no_rows_text = "All blocks were freed.",
    .tooltip =
        "Heap memory that was not freed, by allocation site and thread; a row leads to the event "
        "before its first block",
    .header = memory_tab_curve_widget,
    .selected = memory_tab_on_row_selected,
    .on_notification = memory_tab_on_notification,
    .clear = memory_tab_clear_curve,
};
