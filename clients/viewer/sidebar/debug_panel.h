/* The debugger at an event: `poet debug` in a terminal, and the breakpoints that are kept for it
 * (clients/connection/breakpoint_file.h). */
#ifndef CLIENTS_VIEWER_SIDEBAR_DEBUG_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_DEBUG_PANEL_H

struct view;

/* Of the selected event; what goes wrong the status line says. */
void debug_panel_start(struct view *view);
void debug_panel_toggle_breakpoint(struct view *view); /* before it, or no more */
void debug_panel_toggle_place(
    struct view *view); /* each time its thread comes to its place, or no more */

#endif
