/* The source of an event: the lines around its call site, and opening them in an editor. The file
 * is at its build path, or has that name in the viewer's working directory. */
#ifndef CLIENTS_VIEWER_SIDEBAR_CODE_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_CODE_PANEL_H

#include "clients/symbols/symbolizer.h"

#include <glib.h>

struct view;

/* Appends the lines around it, as markup; nothing if the source file is not found. */
void code_panel_append_source(GString *s, const struct symbol_location *site);
/* Opens that of the selected event in the editor; otherwise the status line says why not. */
void code_panel_open_editor(struct view *view);

#endif
