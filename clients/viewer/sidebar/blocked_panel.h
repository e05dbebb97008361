/* The panel of who waits at the end of what was recorded. */
#ifndef CLIENTS_VIEWER_SIDEBAR_BLOCKED_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_BLOCKED_PANEL_H

#include "wire/trace_view.h"

struct view;

/* The event that waits longest; NULL: none. */
const struct event_info *blocked_panel_oldest(struct view *view);

/* The worst that is known of those who wait, and how many they are: in a live run, those who wait
 * long. */
enum blocked_worst {
    BLOCKED_NONE,
    BLOCKED_SOME,
    BLOCKED_LIKELY_HANG, /* a hang, as far as is seen */
    BLOCKED_HANG,
    BLOCKED_DEADLOCK
};
enum blocked_worst blocked_panel_worst(struct view *view, unsigned *count);

#endif
