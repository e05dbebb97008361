#include "clients/viewer/state/toast.h"

#define SHOWN_SECONDS 30

void toast_hide(struct toast *toast)
{
    if (toast->timer)
        g_source_remove(toast->timer);
    toast->timer = 0;
    gtk_revealer_set_reveal_child(GTK_REVEALER(toast->revealer), FALSE);
    gtk_widget_set_visible(toast->revealer, FALSE);
}

static gboolean on_time(gpointer data)
{
    struct toast *toast = data;
    toast->timer = 0;
    toast_hide(toast);
    return G_SOURCE_REMOVE;
}

void toast_show(struct toast *toast, const char *text, const char *button, void (*act)(void *user),
                void *user)
{
    toast_hide(toast);
    toast->act = act;
    toast->user = user;
    gtk_label_set_text(GTK_LABEL(toast->label), text);
    gtk_button_set_label(GTK_BUTTON(toast->button), button);
    gtk_widget_set_visible(toast->revealer, TRUE);
    gtk_revealer_set_reveal_child(GTK_REVEALER(toast->revealer), TRUE);
    toast->timer = g_timeout_add_seconds(SHOWN_SECONDS, on_time, toast);
}

static void on_button(GtkButton *button, gpointer data)
{
    struct toast *toast = data;
    (void)button;
    toast_hide(toast);
    toast->act(toast->user);
}

static void on_close(GtkButton *button, gpointer data)
{
    (void)button;
    toast_hide(data);
}

static GtkWidget *box_of(struct toast *toast)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10),
              *close = gtk_button_new_from_icon_name("window-close-symbolic");
    toast->label = gtk_label_new("");
    toast->button = gtk_button_new_with_label("");
    gtk_label_set_ellipsize(GTK_LABEL(toast->label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(toast->label), 60);
    gtk_button_set_use_underline(GTK_BUTTON(toast->button), TRUE);
    gtk_button_set_has_frame(GTK_BUTTON(close), FALSE);
    gtk_widget_set_tooltip_text(close, "Close");
    gtk_widget_add_css_class(box, "osd");
    gtk_widget_add_css_class(box, "said-over");
    gtk_box_append(GTK_BOX(box), toast->label);
    gtk_box_append(GTK_BOX(box), toast->button);
    gtk_box_append(GTK_BOX(box), close);
    g_signal_connect(toast->button, "clicked", G_CALLBACK(on_button), toast);
    g_signal_connect(close, "clicked", G_CALLBACK(on_close), toast);
    return box;
}

GtkWidget *toast_new(struct toast *toast, GtkWidget *under)
{
    GtkWidget *overlay = gtk_overlay_new();
    toast->revealer = gtk_revealer_new();
    gtk_revealer_set_transition_type(GTK_REVEALER(toast->revealer),
                                     GTK_REVEALER_TRANSITION_TYPE_CROSSFADE);
    gtk_revealer_set_child(GTK_REVEALER(toast->revealer), box_of(toast));
    gtk_widget_set_halign(toast->revealer, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(toast->revealer, GTK_ALIGN_END);
    gtk_widget_set_margin_bottom(toast->revealer, 64);
    gtk_widget_set_visible(toast->revealer, FALSE);
    gtk_overlay_set_child(GTK_OVERLAY(overlay), under);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), toast->revealer);
    return overlay;
}
