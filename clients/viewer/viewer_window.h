/* The window: makes all parts, ties them together, and does what follows from their news. */
#ifndef CLIENTS_VIEWER_VIEWER_WINDOW_H
#define CLIENTS_VIEWER_VIEWER_WINDOW_H

#include <gtk/gtk.h>

/* source: what is opened, NULL the default endpoint; script: a file, or NULL. */
void viewer_window_new(GtkApplication *application, const char *source, const char *script);

#endif
