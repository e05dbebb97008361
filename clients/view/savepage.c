#include "clients/view/savepage.h"

#include "clients/view/dialog.h"
#include "clients/view/drawer/drawer.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/view.h"

bool savepage_can(struct view *view)
{
    return view->settings.drawer && drawer_has_focus(view) && page_has_rows(drawer_page(view));
}

static bool is_picture(const char *file)
{
    return g_str_has_suffix(file, ".pdf") || g_str_has_suffix(file, ".svg") ||
           g_str_has_suffix(file, ".png");
}

void savepage_to(struct view *view, const char *file)
{
    char *named = is_picture(file) ? g_strdup(file) : g_strdup_printf("%s.pdf", file);
    const char *why = page_has_rows(drawer_page(view)) ? page_save(drawer_page(view), named)
                                                       : "there is nothing on the page";
    if (why)
        status_trouble(&view->status, NULL, "%s: %s", named, why);
    else
        status_say(&view->status, "Saved %s", named);
    g_free(named);
}

static void on_response(GtkNativeDialog *dialog, int response, gpointer view)
{
    if (response == GTK_RESPONSE_ACCEPT) {
        GFile *chosen = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        char *file = g_file_get_path(chosen);
        if (file)
            savepage_to(view, file);
        g_free(file);
        g_object_unref(chosen);
    }
    g_object_unref(dialog);
}

void savepage_ask(struct view *view)
{
    char *name =
        g_strdup_printf("%s-%s.pdf", the_book(view)->run.name, page_of(drawer_page(view))->name);
    GtkFileChooser *dialog =
        dialog_chooser(GTK_WINDOW(view->window), "Save the page as .pdf, .svg or .png",
                       GTK_FILE_CHOOSER_ACTION_SAVE, name);
    g_signal_connect(dialog, "response", G_CALLBACK(on_response), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
    g_free(name);
}
