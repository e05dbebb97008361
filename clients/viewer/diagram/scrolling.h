/* Scrolling, and following the run as it grows. */
#ifndef CLIENTS_VIEWER_DIAGRAM_SCROLLING_H
#define CLIENTS_VIEWER_DIAGRAM_SCROLLING_H

#include "clients/viewer/state/notifications.h"

#include <glib.h>
#include <stdbool.h>

struct view;

struct scrolling {
    guint reselect; /* timer: the selected event is no longer visible */
};

void scroll_pan(struct view *view, double x_px, double y_px);
void scroll_page(struct view *view, int pages);
void scroll_start(struct view *view); /* to the begin */
void scroll_follow(struct view *view, bool follow);
void scroll_to(struct view *view, double left_pt); /* to the nearest possible left edge */
void scroll_stop(struct view *view); /* cancels pending scrolling */
/* Cancels it when an earlier view state is restored. */
void scroll_on_restored(struct view *view, enum notification what);

#endif
