/* What GTK 4.8 does by calls that newer versions deprecate: the one place that asks which version
 * compiles it. */
#ifndef CLIENTS_VIEWER_STATE_COMPAT_H
#define CLIENTS_VIEWER_STATE_COMPAT_H

#include <gtk/gtk.h>

struct compat_file {
    GtkWindow *parent;
    const char *title;
    bool saves;
    /* Proposed for the file that is saved; NULL: nothing. */
    const char *name;
    /* What files to open are called, for the reader and as a pattern; NULL: all of them. */
    const char *kind, *pattern;
    /* Offered beside the reader's own folders, where the library can do that; NULL: none. */
    const char *folder;
};

/* Asks for a local file in a dialog over `parent`, which begins in the working directory.  Calls
 * `answer` once with the path, or with NULL if the reader chose none; never if `parent` is
 * destroyed first.  Does nothing while a dialog of `parent` is open. */
void compat_choose_file(const struct compat_file *file,
                        void (*answer)(void *user, const char *path), void *user);

/* Shows a file in the desktop's program for it. */
void compat_show_file(GtkWindow *parent, const char *path);

/* Adds style sheets to a provider that has none. */
void compat_load_css(GtkCssProvider *provider, const char *css);

#endif
