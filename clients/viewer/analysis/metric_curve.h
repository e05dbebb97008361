/* A curve of a metric over time above a table of the analysis pane; on the diagram's axis if that
 * is placed by time. */
#ifndef CLIENTS_VIEWER_ANALYSIS_METRIC_CURVE_H
#define CLIENTS_VIEWER_ANALYSIS_METRIC_CURVE_H

#include "clients/viewer/state/notifications.h"
#include "wire/time_series.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;
struct metric_curve;

/* name: for assistive technologies; meter: the metric that is drawn until another one is chosen,
 * "": the first. */
struct metric_curve *metric_curve_new(struct view *view, enum series_group group, const char *name,
                                      const char *meter);
GtkWidget *metric_curve_widget(struct metric_curve *box); /* owns it */
/* thread: its line; 0: the whole program, whose name is "" if any will do. */
void metric_curve_choose(struct metric_curve *box, const char *program, uint32_t thread,
                         const char *meter);
void metric_curve_on_notification(struct metric_curve *box, enum notification what);
void metric_curve_clear(struct metric_curve *box); /* another run */
/* whether it is requested, or about to be */
bool metric_curve_is_busy(const struct metric_curve *box);
void metric_curve_print(struct metric_curve *box,
                        FILE *f); /* what is drawn, line by line; for tests */

#endif
