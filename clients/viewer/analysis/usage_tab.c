/* The tab Resources, with CPU time, memory and I/O of processes and threads. */
#include "clients/viewer/analysis/metric_page.h"
#include "clients/viewer/analysis/tab_list.h"

static GtkWidget *usage_tab_curve_widget(struct view *view)
{
    return metric_page_curve_above(view, METRIC_PAGE_USAGE);
}

static void usage_tab_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    metric_page_select(view, METRIC_PAGE_USAGE, t, row);
}

static void usage_tab_on_notification(struct view *view, enum notification what)
{
    metric_page_on_notification(view, METRIC_PAGE_USAGE, what);
}
static void usage_tab_clear_curve(struct view *view) { metric_page_clear(view, METRIC_PAGE_USAGE); }

const struct tab page_resources = {
    .name = "resources",
    .title = "Resources",
    .preset = "usage",
    .row_kind = "thread",
    .empty_text = "No data: only local processes (Unix socket) are sampled.",
    .tooltip = "OS resource usage: CPU time, memory, I/O",
    .header = usage_tab_curve_widget,
    .selected = usage_tab_on_row_selected,
    .on_notification = usage_tab_on_notification,
    .clear = usage_tab_clear_curve,
};
