/* Breakpoint marks (clients/connection/breakpoint_file.h): a red disc at each event in the diagram
 * before which the debugger stops. */
#ifndef CLIENTS_VIEWER_DIAGRAM_BREAKPOINT_MARKS_H
#define CLIENTS_VIEWER_DIAGRAM_BREAKPOINT_MARKS_H

#include "clients/viewer/state/notifications.h"
#include "wire/event_types.h"

#include <stdint.h>

struct view;

struct breakpoint_marks {
    struct breakpoint_spec *items;
    uint32_t count;
    struct event_id *events; /* those in the diagram, by line and number */
    uint32_t event_count;
};

/* Returns the trace file of the run, if it is on this host, allocated by GLib; or NULL. */
char *breakpoint_marks_trace_file(struct view *view);
void breakpoint_marks_read(struct view *view); /* another run, or changed breakpoints */
void breakpoint_marks_on_notification(struct view *view, enum notification what);
void breakpoint_marks_free(struct view *view);

#endif
