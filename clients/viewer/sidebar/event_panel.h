/* The panel of the selected event: its details, its relations to all others, and to a second
 * event. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_PANEL_H

#include <stdbool.h>

struct view;

bool event_panel_is_busy(struct view *view); /* whether it is about to be updated */

#endif
