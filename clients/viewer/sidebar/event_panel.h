/* The panel of the selected event: what it is, how all others stand to it, and the way to a second
 * one. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_PANEL_H

#include <stdbool.h>

struct view;

bool event_panel_is_busy(struct view *view); /* is it about to say something else? */

#endif
