/* Source code: the lines around the call site of an event, and opening a line in an editor. The
 * file of a call site is at its build path, or has that name in the viewer's working directory. */
#ifndef CLIENTS_VIEWER_DIAGRAM_SOURCE_CODE_H
#define CLIENTS_VIEWER_DIAGRAM_SOURCE_CODE_H

#include "clients/symbols/symbolizer.h"

#include <glib.h>

struct view;

/* Appends the lines around a call site, as markup; nothing if the source file is not found. */
void source_code_append_lines(GString *s, const struct symbol_location *site);
/* Opens a source line in the editor: that of the settings, of $VISUAL or $EDITOR, or the desktop's
 * default. path: absolute, so that it cannot be an option of the editor. Errors are shown in the
 * status line. */
void source_code_open(struct view *view, const char *path, int line);
/* Opens the call site of the selected event; otherwise the status line says why not. */
void source_code_open_selected(struct view *view);

#endif
