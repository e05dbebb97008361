/* The panel of threads that are blocked at the end of the recording. */
#ifndef CLIENTS_VIEWER_SIDEBAR_BLOCKED_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_BLOCKED_PANEL_H

#include "wire/trace_view.h"

struct view;

/* Returns the event of the longest wait; NULL: none. */
const struct event_info *blocked_panel_oldest(struct view *view);

/* The worst diagnosis of the blocked threads, and their number: in a live run, those that have
 * waited long. */
enum blocked_worst {
    BLOCKED_NONE,
    BLOCKED_SOME,
    BLOCKED_LIKELY_HANG, /* no traced thread can wake them */
    BLOCKED_HANG,
    BLOCKED_DEADLOCK
};
enum blocked_worst blocked_panel_worst(struct view *view, unsigned *count);

#endif
