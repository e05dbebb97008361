/* An editor on a line of a source: that of the settings, of $VISUAL or $EDITOR, or whatever opens
 * such files. */
#ifndef CLIENTS_VIEWER_DIAGRAM_SOURCE_EDITOR_H
#define CLIENTS_VIEWER_DIAGRAM_SOURCE_EDITOR_H

struct view;

/* path: absolute, so that it is no option of the editor's.  The status line says what goes
 * wrong. */
void source_editor_open(struct view *view, const char *path, int line);

#endif
