/* The main window: creates all parts, connects them, and handles their notifications. */
#ifndef CLIENTS_VIEWER_VIEWER_WINDOW_H
#define CLIENTS_VIEWER_VIEWER_WINDOW_H

#include <gtk/gtk.h>

/* source: what to open, NULL: the default endpoint; script: a file, or NULL. */
void viewer_window_new(GtkApplication *application, const char *source, const char *script);

#endif
