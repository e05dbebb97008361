/* Rules of its environment that the program broke, as rows of the panel of blocked threads. */
#ifndef CLIENTS_VIEWER_SIDEBAR_VIOLATION_ROWS_H
#define CLIENTS_VIEWER_SIDEBAR_VIOLATION_ROWS_H

#include "clients/viewer/state/request_slot.h"

#include <gtk/gtk.h>

struct view;

/* Zeroed except `view` and `on_change`: never requested. */
struct violation_rows {
    struct view *view;
    void (*on_change)(struct view *view); /* they were received */
    struct table_model model; /* private */
};

/* Requests them, if the run may have any and no request is pending; `again`: not if that was a
 * short time ago. */
void violation_rows_request(struct violation_rows *rows, bool again);
/* Returns the number of rows: of broken rules, by place. */
uint32_t violation_rows_count(const struct violation_rows *rows);
void violation_rows_add(const struct violation_rows *rows, GtkWidget *list);
void violation_rows_clear(struct violation_rows *rows); /* another run, or the end */

#endif
