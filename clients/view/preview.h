/* How a diagram will look: what `poet export` makes of the same choice, in the background, as a picture or as text.
 *
 * A new choice, Cancel and the end of the dialog stop a command that still runs. */
#ifndef CLIENTS_VIEW_PREVIEW_H
#define CLIENTS_VIEW_PREVIEW_H

#include <gtk/gtk.h>

struct diagram;
struct preview;
struct view;

struct preview *preview_new(struct view *view);
void preview_free(struct preview *preview); /* its widget may have gone already */
GtkWidget *preview_widget(struct preview *preview); /* of whom it is put into */
/* Shows that choice soon, or, NULL, nothing: it is wrong. */
void preview_want(struct preview *preview, const struct diagram *diagram);

#endif
