#include "clients/view/dialog.h"

#include "clients/view/picture/view.h"

GtkFileChooser *dialog_chooser(GtkWindow *parent, const char *title, GtkFileChooserAction action,
                               const char *name)
{
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
        title, parent, action, action == GTK_FILE_CHOOSER_ACTION_SAVE ? "_Save" : "_Open",
        "_Cancel");
    char *directory = g_get_current_dir();
    GFile *here = g_file_new_for_path(directory);
    gtk_file_chooser_set_current_folder(GTK_FILE_CHOOSER(dialog), here, NULL);
    if (name)
        gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
    g_object_unref(here);
    g_free(directory);
    return GTK_FILE_CHOOSER(dialog);
}

static gboolean on_escape(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                          gpointer window)
{
    (void)keys;
    (void)code;
    (void)state;
    if (key != GDK_KEY_Escape)
        return FALSE;
    gtk_window_destroy(GTK_WINDOW(window));
    return TRUE;
}

void dialog_closes_on_escape(GtkWidget *window)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_escape), window);
    gtk_widget_add_controller(window, keys);
}

/* ---- one line of text ---- */

struct question {
    struct view *view;
    void (*answer)(struct view *view, const char *text);
};

static void on_entered(GtkEntry *entry, gpointer data)
{
    struct question *q = data;
    GtkWidget *window = GTK_WIDGET(gtk_widget_get_root(GTK_WIDGET(entry)));
    char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry))));
    q->answer(q->view, text);
    g_free(text);
    gtk_window_destroy(GTK_WINDOW(window));
}

void dialog_ask(struct view *view, const char *title, const char *words, const char *placeholder,
                void (*answer)(struct view *view, const char *text))
{
    GtkWidget *window = gtk_window_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8),
              *label = gtk_label_new(words), *entry = gtk_entry_new();
    struct question *q = g_new(struct question, 1);
    *q = (struct question){view, answer};
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), placeholder);
    gtk_window_set_title(GTK_WINDOW(window), title);
    gtk_window_set_transient_for(GTK_WINDOW(window), GTK_WINDOW(view->window));
    gtk_window_set_modal(GTK_WINDOW(window), TRUE);
    gtk_widget_set_size_request(entry, 420, -1);
    g_object_set(box, "margin-top", 14, "margin-bottom", 14, "margin-start", 14, "margin-end", 14,
                 NULL);
    gtk_box_append(GTK_BOX(box), label);
    gtk_box_append(GTK_BOX(box), entry);
    gtk_window_set_child(GTK_WINDOW(window), box);
    g_object_set_data_full(G_OBJECT(entry), "question", q, g_free);
    g_signal_connect(entry, "activate", G_CALLBACK(on_entered), q);
    dialog_closes_on_escape(window);
    gtk_window_present(GTK_WINDOW(window));
}
