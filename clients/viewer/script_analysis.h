/* What a script does with the drawer, and with what is drawn over the picture. */
#ifndef CLIENTS_VIEWER_SCRIPT_ANALYSIS_H
#define CLIENTS_VIEWER_SCRIPT_ANALYSIS_H

#include <stdbool.h>

struct view;

/* One command (viewer_script.c says which there are), and what it is given, or "".  False: it is
 * none of these. */
bool script_analysis_perform(struct view *view, const char *what, const char *given);

#endif
