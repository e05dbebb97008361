/* What the pages of figures have in common: the curve of the selected row stands above the
 * table. */
#ifndef CLIENTS_VIEWER_ANALYSIS_METRIC_PAGE_H
#define CLIENTS_VIEWER_ANALYSIS_METRIC_PAGE_H

#include "clients/viewer/analysis/metric_curve.h"
#include "clients/viewer/analysis/tab.h"

/* Which of them; each has a curve of its own. */
enum metric_page { METRIC_PAGE_MEMORY, METRIC_PAGE_USAGE, METRIC_PAGE_METRICS, METRIC_PAGES };

GtkWidget *metric_page_curve_above(struct view *view, enum metric_page page);
/* By the row's program, thread and meter. */
void metric_page_select(struct view *view, enum metric_page page, const struct result_table *table,
                        int row);
void metric_page_on_notification(struct view *view, enum metric_page page, enum notification news);
void metric_page_clear(struct view *view, enum metric_page page);
bool metric_page_is_busy(struct view *view, const char *page); /* is the page's curve asked for? */
void metric_page_print(struct view *view, const char *page, FILE *f); /* for tests */

#endif
