/* Tabs of metrics: Concurrency, Metrics, Resources, and Memory (memory_tab.c). The curve of the
 * selected row is above the table. */
#ifndef CLIENTS_VIEWER_ANALYSIS_METRIC_PAGE_H
#define CLIENTS_VIEWER_ANALYSIS_METRIC_PAGE_H

#include "clients/viewer/analysis/tab.h"

/* The tabs; each has a curve of its own. */
enum metric_page {
    METRIC_PAGE_MEMORY,
    METRIC_PAGE_USAGE,
    METRIC_PAGE_METRICS,
    METRIC_PAGE_LEVELS,
    METRIC_PAGES
};

GtkWidget *metric_page_curve_above(struct view *view, enum metric_page page);
/* Selects the curve by the row's program, thread and metric. */
void metric_page_select(struct view *view, enum metric_page page, const struct result_table *table,
                        int row);
void metric_page_on_notification(struct view *view, enum metric_page page, enum notification what);
void metric_page_clear(struct view *view, enum metric_page page);
/* whether the tab's curve is requested */
bool metric_page_is_busy(struct view *view, const char *page);
void metric_page_print(struct view *view, const char *page, FILE *f); /* for tests */

#endif
