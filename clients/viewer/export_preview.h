/* Preview of a saved diagram: `poet export` runs in the background with the same settings, and the
 * result is shown as an image or as text.
 *
 * New settings, Cancel and the end of the dialog stop a running command. */
#ifndef CLIENTS_VIEWER_EXPORT_PREVIEW_H
#define CLIENTS_VIEWER_EXPORT_PREVIEW_H

#include <gtk/gtk.h>

struct diagram_export;
struct export_preview;
struct view;

struct export_preview *export_preview_new(struct view *view);
void export_preview_free(struct export_preview *preview); /* its widget may already be destroyed */
/* owned by the container it is added to */
GtkWidget *export_preview_widget(struct export_preview *preview);
/* Shows a preview of the diagram soon; NULL: shows nothing, since the settings are invalid. */
void export_preview_request(struct export_preview *preview, const struct diagram_export *diagram);

#endif
