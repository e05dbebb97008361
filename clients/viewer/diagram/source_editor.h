/* Opening a source line in an editor: that of the settings, of $VISUAL or $EDITOR, or the desktop's
 * default. */
#ifndef CLIENTS_VIEWER_DIAGRAM_SOURCE_EDITOR_H
#define CLIENTS_VIEWER_DIAGRAM_SOURCE_EDITOR_H

struct view;

/* path: absolute, so that it cannot be an option of the editor. Errors are shown in the status
 * line. */
void source_editor_open(struct view *view, const char *path, int line);

#endif
