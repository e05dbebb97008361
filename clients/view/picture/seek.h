/* Rows by their names: an entry above the picture, which goes to them. */
#ifndef CLIENTS_VIEW_PICTURE_SEEK_H
#define CLIENTS_VIEW_PICTURE_SEEK_H

#include <gtk/gtk.h>

struct view;

GtkWidget *seek_new(struct view *view); /* hidden until it is opened */
void seek_open(struct view *view);
void seek_text(struct view *view, const char *text); /* as if it were typed */
bool seek_hit(const struct view *view, uint32_t line); /* is its row called as it is searched? */

#endif
