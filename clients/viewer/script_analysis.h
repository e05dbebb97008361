/* Script commands for the analysis pane and for overlays of the diagram. */
#ifndef CLIENTS_VIEWER_SCRIPT_ANALYSIS_H
#define CLIENTS_VIEWER_SCRIPT_ANALYSIS_H

#include <stdbool.h>

struct view;

/* Performs a command (listed in viewer_script.c) with its argument, or "". Returns false if it is
 * not one of these. */
bool script_analysis_perform(struct view *view, const char *what, const char *given);

#endif
