/* Saving diagrams, and copying to the clipboard.
 *
 * `poet export` saves a diagram, from a view in a file, so the result is that of the command. */
#ifndef CLIENTS_VIEWER_CLIPBOARD_SAVE_H
#define CLIENTS_VIEWER_CLIPBOARD_SAVE_H

#include <stdbool.h>

struct diagram_export;
struct view;

/* Reports the result in the status line. */
void save_diagram_as(struct view *view, const struct diagram_export *diagram, const char *file);
void save_diagram(struct view *view, const char *file, bool whole);
/* Asks for a file, to which the visible part, or a whole short run, is saved as one web page. */
void save_ask_html(struct view *view);
bool save_is_running(const struct view *view);
void save_cancel(struct view *view);
void save_copy_image(struct view *view);
void save_copy_command(struct view *view);
void save_copy_id(struct view *view); /* "2:17", of the selected event */

#endif
