#include "clients/view/open.h"

#include "clients/source/around.h"
#include "clients/view/dialog.h"
#include "clients/view/parts/link.h"
#include "clients/view/picture/view.h"
#include "wire/endpoint.h"

#include <limits.h>

static void on_open(GtkNativeDialog *dialog, int response, gpointer data)
{
    struct view *view = data;
    if (response == GTK_RESPONSE_ACCEPT) {
        GFile *file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        char *path = g_file_get_path(file);
        if (path)
            link_open(&view->link, path);
        g_free(path);
        g_object_unref(file);
    }
    g_object_unref(dialog);
}

/* Where the traces are that nobody has named. */
static void add_state(GtkFileChooser *dialog)
{
    char path[PATH_MAX];
    around_state(path, sizeof path);
    GFile *folder = g_file_new_for_path(path);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        gtk_file_chooser_add_shortcut_folder(dialog, folder, NULL);
    g_object_unref(folder);
}

void open_file(struct view *view)
{
    GtkFileChooser *dialog = dialog_chooser(GTK_WINDOW(view->window), "Open a trace",
                                            GTK_FILE_CHOOSER_ACTION_OPEN, NULL);
    GtkFileFilter *filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, "Poet traces (*.poet)");
    gtk_file_filter_add_pattern(filter, "*.poet");
    gtk_file_chooser_add_filter(dialog, filter);
    g_object_unref(filter);
    add_state(dialog);
    g_signal_connect(dialog, "response", G_CALLBACK(on_open), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static char *connect_to(struct view *view, const char *what)
{
    if (*what && !endpoint_is(what) && !g_str_has_prefix(what, "ssh:"))
        return g_strdup_printf("%s: write unix:PATH, poet://HOST:PORT or ssh:HOST[:FILE]", what);
    link_open(&view->link, *what ? what : NULL);
    return NULL;
}

void open_connect_dialog(struct view *view)
{
    char endpoint[400] = "";
    struct error error;
    endpoint_default(endpoint, sizeof endpoint, &error);
    dialog_ask(view,
               &(struct dialog_question){
                   .title = "Connect to a server",
                   .words = "unix:PATH, poet://HOST:PORT, or ssh:HOST[:FILE] for another machine; "
                            "empty for the default server",
                   .placeholder = endpoint,
                   .button = "_Connect"},
               connect_to);
}
