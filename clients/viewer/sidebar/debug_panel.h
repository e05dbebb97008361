/* Debugging at an event: `poet debug` in a terminal, and the breakpoints stored for it
 * (clients/connection/breakpoint_file.h). */
#ifndef CLIENTS_VIEWER_SIDEBAR_DEBUG_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_DEBUG_PANEL_H

struct view;

/* Starts at the selected event; the status line shows errors. */
void debug_panel_start(struct view *view);
void debug_panel_toggle_breakpoint(struct view *view); /* sets or removes a breakpoint before it */
void debug_panel_toggle_place(
    struct view *view); /* the same for each arrival of its thread at its call site */

#endif
