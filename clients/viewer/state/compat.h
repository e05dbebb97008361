/* Compatibility with GTK 4.8 in place of calls that newer versions deprecate: the only file that
 * depends on the GTK version. */
#ifndef CLIENTS_VIEWER_STATE_COMPAT_H
#define CLIENTS_VIEWER_STATE_COMPAT_H

#include <gtk/gtk.h>

struct compat_file {
    GtkWindow *parent;
    const char *title;
    bool saves;
    /* proposed name of the file to save; NULL: none */
    const char *name;
    /* name and pattern of the files to open; NULL: all */
    const char *kind, *pattern;
    /* offered besides the user's own directories, if the library supports that; NULL: none */
    const char *folder;
};

/* Asks for a local file in a dialog over `parent`, which begins in the working directory. Calls
 * `answer` once with the path, or with NULL if the user chose none; never if `parent` is destroyed
 * first. Does nothing while a dialog of `parent` is open. */
void compat_choose_file(const struct compat_file *file,
                        void (*answer)(void *user, const char *path), void *user);

/* Opens a file in the desktop's program for it. */
void compat_show_file(GtkWindow *parent, const char *path);

/* Adds style sheets to a provider that has none. */
void compat_load_css(GtkCssProvider *provider, const char *css);

#endif
