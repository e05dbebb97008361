/* The source of an event: the lines around the call that made it, and an editor on them.  Its file
 * is where the program was built, or of that name in the directory that the viewer was started
 * in. */
#ifndef CLIENTS_VIEWER_SIDEBAR_CODE_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_CODE_PANEL_H

#include "clients/symbols/symbolizer.h"

#include <glib.h>

struct view;

/* Appends the lines around it, as markup; nothing where its source is not here. */
void code_panel_append_source(GString *s, const struct symbol_location *site);
/* The selected event's, in the editor; else the status line says why not. */
void code_panel_open_editor(struct view *view);

#endif
