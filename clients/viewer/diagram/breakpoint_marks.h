/* Breakpoints for the debugger (clients/connection/breakpoint_file.h): a red disc at each event in
 * the picture before which one stops. */
#ifndef CLIENTS_VIEWER_DIAGRAM_BREAKPOINT_MARKS_H
#define CLIENTS_VIEWER_DIAGRAM_BREAKPOINT_MARKS_H

#include "clients/viewer/state/notifications.h"
#include "wire/event_types.h"

#include <stdint.h>

struct view;

struct breakpoint_marks {
    struct breakpoint_spec *items;
    uint32_t count;
    struct event_id *events; /* those in the picture, by line and number */
    uint32_t event_count;
};

/* The file of the run, as long as it is here, new memory of GLib's; or NULL. */
char *breakpoint_marks_trace_file(struct view *view);
void breakpoint_marks_read(struct view *view); /* another run, or other breakpoints */
void breakpoint_marks_on_notification(struct view *view, enum notification news);
void breakpoint_marks_free(struct view *view);

#endif
