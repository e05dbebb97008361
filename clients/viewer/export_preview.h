/* How a diagram will look: what `poet export` makes of the same choice, in the background, as a
 * picture or as text.
 *
 * A new choice, Cancel and the end of the dialog stop a command that still runs. */
#ifndef CLIENTS_VIEWER_EXPORT_PREVIEW_H
#define CLIENTS_VIEWER_EXPORT_PREVIEW_H

#include <gtk/gtk.h>

struct diagram_export;
struct export_preview;
struct view;

struct export_preview *export_preview_new(struct view *view);
void export_preview_free(struct export_preview *preview); /* its widget may have gone already */
GtkWidget *export_preview_widget(struct export_preview *preview); /* of whom it is put into */
/* Shows that choice soon, or, NULL, nothing: it is wrong. */
void export_preview_request(struct export_preview *preview, const struct diagram_export *diagram);

#endif
