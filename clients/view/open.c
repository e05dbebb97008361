#include "clients/view/open.h"

#include "clients/view/dialog.h"
#include "clients/view/parts/link.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/view.h"
#include "wire/endpoint.h"

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

void open_dialog(struct view *view)
{
    GtkFileChooser *dialog = dialog_chooser(GTK_WINDOW(view->window), "Open a trace",
                                            GTK_FILE_CHOOSER_ACTION_OPEN, NULL);
    GtkFileFilter *filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, "Poet traces (*.poet)");
    gtk_file_filter_add_pattern(filter, "*.poet");
    gtk_file_chooser_add_filter(dialog, filter);
    g_object_unref(filter);
    g_signal_connect(dialog, "response", G_CALLBACK(on_open), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void connect_to(struct view *view, const char *what)
{
    if (*what && !endpoint_is(what) && !g_str_has_prefix(what, "ssh:"))
        status_say(&view->status, "%s: write unix:PATH, tcp:HOST:PORT or ssh:HOST[:FILE]", what);
    else
        link_open(&view->link, *what ? what : NULL);
}

void open_connect_dialog(struct view *view)
{
    char endpoint[400] = "";
    struct error error;
    endpoint_default(endpoint, sizeof endpoint, &error);
    dialog_ask(view, "Connect to a server",
               "unix:PATH, tcp:HOST:PORT, or ssh:HOST[:FILE] for another machine;\n"
               "empty for the default server",
               endpoint, connect_to);
}
