#include "clients/view/share.h"

#include "clients/view/dialog.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/view.h"
#include "clients/view/save.h"

#define WHOLE_MOST 20000u /* events of a run that a page holds (WEBPAGE_EVENTS) */

static void on_response(GtkNativeDialog *dialog, int response, gpointer data)
{
    struct view *view = data;
    GFile *chosen = response == GTK_RESPONSE_ACCEPT
                        ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog))
                        : NULL;
    char *file = chosen ? g_file_get_path(chosen) : NULL;
    if (file && !g_str_has_suffix(file, ".html")) {
        char *longer = g_strconcat(file, ".html", NULL);
        g_free(file);
        file = longer;
    }
    if (file)
        save_export(view, file, the_book(view)->run.events <= WHOLE_MOST);
    g_free(file);
    g_clear_object(&chosen);
    g_object_unref(dialog);
}

void share_page(struct view *view)
{
    if (!view->stage.scene || !view->link.has_run) {
        status_say(&view->status, "There is nothing to share yet");
        return;
    }
    char *name = g_strdup_printf("%s.html", the_book(view)->run.name);
    GtkFileChooser *dialog = dialog_chooser(GTK_WINDOW(view->window), "Share as a web page",
                                            GTK_FILE_CHOOSER_ACTION_SAVE, name);
    g_signal_connect(dialog, "response", G_CALLBACK(on_response), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
    g_free(name);
}
