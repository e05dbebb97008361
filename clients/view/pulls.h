/* What a script does with the drawer, and with what is drawn over the picture. */
#ifndef CLIENTS_VIEW_PULLS_H
#define CLIENTS_VIEW_PULLS_H

#include <stdbool.h>

struct view;

/* One command (script.c says which there are), and what it is given, or "".  False: it is none of
 * these. */
bool script_analysis_perform(struct view *view, const char *what, const char *given);

#endif
