/* The tab Metrics: metrics that descriptions and users define. */
#include "clients/viewer/analysis/metric_page.h"
#include "clients/viewer/analysis/tab_list.h"

static GtkWidget *metrics_tab_curve_widget(struct view *view)
{
    return metric_page_curve_above(view, METRIC_PAGE_METRICS);
}

static void metrics_tab_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    metric_page_select(view, METRIC_PAGE_METRICS, t, row);
}

static void metrics_tab_on_notification(struct view *view, enum notification what)
{
    metric_page_on_notification(view, METRIC_PAGE_METRICS, what);
}
static void metrics_tab_clear_curve(struct view *view)
{
    metric_page_clear(view, METRIC_PAGE_METRICS);
}

const struct tab page_meters = {
    .name = "meters",
    .title = "Metrics",
    .preset = "metrics",
    .row_kind = "",
    .empty_text =
        "No metrics; define them with poet.h or in a target description (docs/config.md).",
    .tooltip = "User-defined metrics of the run",
    .header = metrics_tab_curve_widget,
    .selected = metrics_tab_on_row_selected,
    .on_notification = metrics_tab_on_notification,
    .clear = metrics_tab_clear_curve,
};
