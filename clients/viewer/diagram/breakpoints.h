/* Breakpoints of the debugger (clients/connection/breakpoint_file.h): a red disc at each event in
 * the diagram before which it stops, setting and removing them, and starting `poet debug` in a
 * terminal. */
#ifndef CLIENTS_VIEWER_DIAGRAM_BREAKPOINTS_H
#define CLIENTS_VIEWER_DIAGRAM_BREAKPOINTS_H

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
char *breakpoints_trace_file(struct view *view);
/* Reads them again: another run, or they have changed. */
void breakpoints_read(struct view *view);
void breakpoints_on_notification(struct view *view, enum notification what);
void breakpoints_free(struct view *view);

/* Sets or removes a breakpoint before the selected event; the status line shows errors. */
void breakpoints_toggle_event(struct view *view);
/* Sets or removes one before each arrival of its thread at its call site. */
void breakpoints_toggle_place(struct view *view);
/* Starts the debugger at the selected event; the status line shows errors. */
void breakpoints_start_debugger(struct view *view);

#endif
