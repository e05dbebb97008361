/* The page that is shown while there is no diagram. */
#include "clients/viewer/viewer_window.h"

#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/server_link.h"

struct welcome_page {
    GtkWidget *title, *text, *open;
};

static const struct viewer_addon welcome_page_addon = {"welcome_page", sizeof(struct welcome_page)};

static struct welcome_page *welcome_page_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &welcome_page_addon);
}
static void on_recent_row(GtkButton *row, gpointer data)
{
    struct view *view = data;
    server_link_open(&view->server_link, g_object_get_data(G_OBJECT(row), "what"));
}

/* What one can begin with. */
static const struct {
    const char *label, *action;
} welcome_page_buttons[] = {{"Open trace…", "win.open"},
                            {"Run program…", "win.run"},
                            {"Connect…", "win.connect"},
                            {"Latest run", "win.latest"}};

static GtkWidget *welcome_page_new_buttons(struct welcome_page *page)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    gtk_widget_set_halign(row, GTK_ALIGN_CENTER);
    for (size_t i = 0; i < G_N_ELEMENTS(welcome_page_buttons); i++) {
        GtkWidget *button = gtk_button_new_with_label(welcome_page_buttons[i].label);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(button), welcome_page_buttons[i].action);
        gtk_box_append(GTK_BOX(row), button);
        page->open = i ? page->open : button;
    }
    return row;
}

GtkWidget *welcome_page_new(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 14);
    struct welcome_page *page = viewer_addons_add(&view->addons, &welcome_page_addon);
    page->title = gtk_label_new("No trace");
    page->text = gtk_label_new("");
    gtk_widget_add_css_class(page->title, "title-1");
    gtk_label_set_selectable(GTK_LABEL(page->text), TRUE);
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_halign(box, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(box), page->title);
    gtk_box_append(GTK_BOX(box), page->text);
    gtk_box_append(GTK_BOX(box), welcome_page_new_buttons(page));
    for (char **r = view->viewer_settings.recent; r && *r && r - view->viewer_settings.recent < 5;
         r++) {
        GtkWidget *recent = gtk_button_new_with_label(*r);
        gtk_button_set_has_frame(GTK_BUTTON(recent), FALSE);
        g_object_set_data_full(G_OBJECT(recent), "what", g_strdup(*r), g_free);
        g_signal_connect(recent, "clicked", G_CALLBACK(on_recent_row), view);
        gtk_box_append(GTK_BOX(box), recent);
    }
    return box;
}

void welcome_page_show(struct view *view, const char *title, const char *text)
{
    struct welcome_page *page = welcome_page_find(view);
    gtk_label_set_text(GTK_LABEL(page->title), title);
    gtk_label_set_text(GTK_LABEL(page->text), text);
    gtk_stack_set_visible_child_name(GTK_STACK(view->stack), "empty");
    gtk_widget_grab_focus(page->open); /* otherwise a cursor blinks in the text */
}

void welcome_page_leave(struct view *view)
{
    gtk_stack_set_visible_child_name(GTK_STACK(view->stack), "picture");
    gtk_widget_grab_focus(view->canvas);
}
