#include "clients/viewer/dialogs.h"

#include "clients/viewer/diagram/viewer.h"

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

void dialog_close_on_escape(GtkWidget *window)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_escape), window);
    gtk_widget_add_controller(window, keys);
}

GtkWidget *dialog_new(struct view *view, const char *title)
{
    GtkWidget *window = gtk_window_new();
    gtk_window_set_title(GTK_WINDOW(window), title);
    gtk_window_set_titlebar(GTK_WINDOW(window), gtk_header_bar_new());
    gtk_window_set_transient_for(GTK_WINDOW(window), GTK_WINDOW(view->window));
    dialog_close_on_escape(window);
    return window;
}

GtkWidget *dialog_scrolled(GtkWidget *content)
{
    GtkWidget *scrolled = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scrolled), TRUE);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scrolled), TRUE);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), content);
    gtk_widget_set_vexpand(scrolled, TRUE);
    return scrolled;
}

/* ---- one line of text ---- */

struct dialog_state {
    struct view *view;
    char *(*answer)(struct view *view, const char *text);
    GtkWidget *window, *entry, *wrong;
};

static void on_entered(GtkWidget *widget, gpointer data)
{
    struct dialog_state *a = data;
    (void)widget;
    char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(a->entry))));
    char *wrong = a->answer(a->view, text);
    g_free(text);
    if (!wrong) {
        gtk_window_destroy(GTK_WINDOW(a->window));
        return;
    }
    gtk_label_set_text(GTK_LABEL(a->wrong), wrong);
    gtk_widget_set_visible(a->wrong, TRUE);
    gtk_widget_add_css_class(a->entry, "error");
    gtk_widget_grab_focus(a->entry);
    g_free(wrong);
}

static void on_edited(GtkEditable *entry, gpointer data)
{
    struct dialog_state *a = data;
    (void)entry;
    gtk_widget_set_visible(a->wrong, FALSE);
    gtk_widget_remove_css_class(a->entry, "error");
}

static GtkWidget *dialog_buttons_new(struct dialog_state *a, const char *does)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8),
              *cancel = gtk_button_new_with_mnemonic("_Cancel"),
              *good = gtk_button_new_with_mnemonic(does);
    gtk_widget_add_css_class(good, "suggested-action");
    gtk_widget_set_halign(box, GTK_ALIGN_END);
    gtk_box_append(GTK_BOX(box), cancel);
    gtk_box_append(GTK_BOX(box), good);
    g_signal_connect_swapped(cancel, "clicked", G_CALLBACK(gtk_window_destroy), a->window);
    g_signal_connect(good, "clicked", G_CALLBACK(on_entered), a);
    return box;
}

static GtkWidget *dialog_message_new(const char *words)
{
    GtkWidget *label = gtk_label_new(words);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    return label;
}

void dialog_prompt(struct view *view, const struct dialog_question *question,
                   char *(*answer)(struct view *view, const char *text))
{
    struct dialog_state *a = g_new0(struct dialog_state, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8);
    *a = (struct dialog_state){view, answer, dialog_new(view, question->title), gtk_entry_new(),
                               dialog_message_new("")};
    gtk_entry_set_placeholder_text(GTK_ENTRY(a->entry), question->placeholder);
    if (question->text)
        gtk_editable_set_text(GTK_EDITABLE(a->entry), question->text);
    gtk_window_set_modal(GTK_WINDOW(a->window), TRUE);
    gtk_widget_set_size_request(a->entry, 420, -1);
    gtk_widget_add_css_class(a->wrong, "error");
    gtk_widget_set_visible(a->wrong, FALSE);
    g_object_set(box, "margin-top", 14, "margin-bottom", 14, "margin-start", 14, "margin-end", 14,
                 NULL);
    gtk_box_append(GTK_BOX(box), dialog_message_new(question->words));
    gtk_box_append(GTK_BOX(box), a->entry);
    gtk_box_append(GTK_BOX(box), a->wrong);
    gtk_box_append(GTK_BOX(box), dialog_buttons_new(a, question->button));
    gtk_window_set_child(GTK_WINDOW(a->window), box);
    g_object_set_data_full(G_OBJECT(a->window), "asking", a, g_free);
    g_signal_connect(a->entry, "activate", G_CALLBACK(on_entered), a);
    g_signal_connect(a->entry, "changed", G_CALLBACK(on_edited), a);
    gtk_window_present(GTK_WINDOW(a->window));
    gtk_widget_grab_focus(a->entry);
    gtk_editable_select_region(GTK_EDITABLE(a->entry), 0, -1);
}
