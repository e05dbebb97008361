#include "clients/viewer/state/status_line.h"

#include <stdarg.h>

/* ---- status line ---- */

#define BEHIND_NS 1000000000u /* shorter delays of the order are not shown */

/* Shows the last text, and the delay of the order if it is long. */
static void status_line_show_text(struct status_line *status)
{
    const char *sentence = status->text ? status->text : "";
    char *text = status->behind_ns < BEHIND_NS
                     ? g_strdup(sentence)
                     : g_strdup_printf("%s%sordered up to %.1f s ago", sentence,
                                       *sentence ? " — " : "", (double)status->behind_ns / 1e9);
    gtk_label_set_text(GTK_LABEL(status->label), text);
    gtk_widget_set_tooltip_text(status->label, *text ? text : NULL);
    g_free(text);
}

void status_line_show(struct status_line *status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_free(status->text);
    status->text = g_strdup_vprintf(format, ap);
    va_end(ap);
    status_line_show_text(status);
}

void status_while(struct status_line *status, bool so, const char *text)
{
    bool shown = g_strcmp0(status->text, text) == 0;
    if (so && !shown)
        status_line_show(status, "%s", text);
    else if (!so && shown)
        status_line_show(status, "%s", "");
}

const char *status_line_text(const struct status_line *status)
{
    return gtk_label_get_text(GTK_LABEL(status->label));
}

void status_line_show_lag(struct status_line *status, uint64_t ns)
{
    uint64_t before = status->behind_ns;
    status->behind_ns = ns;
    if (before >= BEHIND_NS || ns >= BEHIND_NS)
        status_line_show_text(status);
}

void status_line_free(struct status_line *status)
{
    g_clear_pointer(&status->text, g_free);
    g_clear_pointer(&status->what, g_free);
}

/* ---- progress ---- */

/* Shows the elapsed time once a second: an animation would redraw the window at every frame. */
static gboolean progress_on_second(gpointer data)
{
    struct status_line *status = data;
    gint64 seconds = (g_get_monotonic_time() - status->since_us) / G_USEC_PER_SEC;
    char *text =
        seconds ? g_strdup_printf("%s, %d s", status->what, (int)seconds) : g_strdup(status->what);
    gtk_label_set_text(GTK_LABEL(status->doing), text);
    g_free(text);
    return G_SOURCE_CONTINUE;
}

static void progress_begin_counting(struct status_line *status, const char *what)
{
    status->what = g_strdup(what);
    status->since_us = g_get_monotonic_time();
    status->ticking = g_timeout_add_seconds(1, progress_on_second, status);
    progress_on_second(status);
}

static void progress_end_counting(struct status_line *status)
{
    g_clear_handle_id(&status->ticking, g_source_remove);
    g_clear_pointer(&status->what, g_free);
}

void status_line_show_progress(struct status_line *status, const char *what, double share)
{
    progress_end_counting(status);
    gtk_widget_set_visible(status->busy, what != NULL);
    gtk_widget_set_visible(status->progress, share >= 0);
    gtk_widget_set_visible(status->doing, share < 0);
    if (what && share >= 0) {
        gtk_progress_bar_set_text(GTK_PROGRESS_BAR(status->progress), what);
        gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(status->progress), share);
    } else if (what) {
        progress_begin_counting(status, what);
    }
}

static void progress_on_cancel(GtkButton *button, gpointer data)
{
    struct status_line *status = data;
    (void)button;
    status->cancel(status->user);
    status_line_show_progress(status, NULL, 0);
    status_line_show(status, "Cancelled");
}

GtkWidget *status_line_line_new(struct status_line *status, GtkWidget *beside)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10),
              *cancel = gtk_button_new_with_label("Cancel");
    status->label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(status->label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(status->label), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(status->label, TRUE);
    status->progress = gtk_progress_bar_new();
    gtk_progress_bar_set_show_text(GTK_PROGRESS_BAR(status->progress), TRUE);
    gtk_progress_bar_set_ellipsize(GTK_PROGRESS_BAR(status->progress), PANGO_ELLIPSIZE_MIDDLE);
    gtk_widget_set_size_request(status->progress, 220, -1);
    gtk_widget_set_valign(status->progress, GTK_ALIGN_CENTER);
    g_signal_connect(cancel, "clicked", G_CALLBACK(progress_on_cancel), status);
    status->doing = gtk_label_new("");
    gtk_label_set_ellipsize(GTK_LABEL(status->doing), PANGO_ELLIPSIZE_MIDDLE);
    gtk_label_set_width_chars(GTK_LABEL(status->doing), 28);
    gtk_label_set_xalign(GTK_LABEL(status->doing), 1);
    status->busy = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_box_append(GTK_BOX(status->busy), status->doing);
    gtk_box_append(GTK_BOX(status->busy), status->progress);
    gtk_box_append(GTK_BOX(status->busy), cancel);
    gtk_widget_set_visible(status->busy, FALSE);
    gtk_box_append(GTK_BOX(row), status->label);
    gtk_box_append(GTK_BOX(row), beside);
    gtk_box_append(GTK_BOX(row), status->busy);
    g_object_set(row, "margin-start", 8, "margin-end", 8, "margin-top", 3, "margin-bottom", 3,
                 NULL);
    return row;
}

/* ---- banner ---- */

/* Returns a button that closes a message. */
static GtkWidget *message_close_button_new(void)
{
    GtkWidget *close = gtk_button_new_from_icon_name("window-close-symbolic");
    gtk_button_set_has_frame(GTK_BUTTON(close), FALSE);
    gtk_widget_set_tooltip_text(close, "Close");
    return close;
}

static void banner_show(struct status_line *status, const char *button, const char *text,
                        bool offers)
{
    status->offers = offers;
    gtk_label_set_text(GTK_LABEL(status->banner_text), text);
    gtk_widget_set_tooltip_text(status->banner_text, text);
    gtk_widget_set_visible(status->banner_button, button != NULL);
    if (button)
        gtk_button_set_label(GTK_BUTTON(status->banner_button), button);
    gtk_widget_set_visible(status->banner, TRUE);
}

void status_line_show_problem(struct status_line *status, const char *button, const char *format,
                              ...)
{
    va_list ap;
    va_start(ap, format);
    char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    banner_show(status, button, text, false);
    status_line_show(status, "%s", text);
    g_free(text);
}

void status_line_offer(struct status_line *status, const char *button, const char *text)
{
    banner_show(status, button, text, true);
}

void status_line_hide_banner(struct status_line *status)
{
    gtk_widget_set_visible(status->banner, FALSE);
}

static void banner_on_button(GtkButton *button, gpointer data)
{
    struct status_line *status = data;
    (void)button;
    status_line_hide_banner(status);
    if (status->offers)
        status->accept(status->user);
    else
        status->again(status->user);
}

static void banner_on_close(GtkButton *button, gpointer data)
{
    (void)button;
    status_line_hide_banner(data);
}

GtkWidget *status_line_new_banner(struct status_line *status)
{
    GtkWidget *close = message_close_button_new();
    status->banner = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10);
    status->banner_text = gtk_label_new("");
    status->banner_button = gtk_button_new_with_label("");
    gtk_button_set_use_underline(GTK_BUTTON(status->banner_button), TRUE);
    gtk_label_set_xalign(GTK_LABEL(status->banner_text), 0);
    gtk_label_set_ellipsize(GTK_LABEL(status->banner_text), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(status->banner_text, TRUE);
    g_object_set(status->banner, "margin-top", 4, "margin-bottom", 4, "margin-start", 10,
                 "margin-end", 6, NULL);
    gtk_box_append(GTK_BOX(status->banner), status->banner_text);
    gtk_box_append(GTK_BOX(status->banner), status->banner_button);
    gtk_box_append(GTK_BOX(status->banner), close);
    g_signal_connect(status->banner_button, "clicked", G_CALLBACK(banner_on_button), status);
    g_signal_connect(close, "clicked", G_CALLBACK(banner_on_close), status);
    gtk_widget_set_visible(status->banner, FALSE);
    return status->banner;
}

/* ---- toast ---- */

#define TOAST_SECONDS 30

void toast_hide(struct toast *toast)
{
    g_clear_handle_id(&toast->timer, g_source_remove);
    gtk_revealer_set_reveal_child(GTK_REVEALER(toast->revealer), FALSE);
    gtk_widget_set_visible(toast->revealer, FALSE);
}

static gboolean toast_on_time(gpointer data)
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
    toast->timer = g_timeout_add_seconds(TOAST_SECONDS, toast_on_time, toast);
}

static void toast_on_button(GtkButton *button, gpointer data)
{
    struct toast *toast = data;
    (void)button;
    toast_hide(toast);
    toast->act(toast->user);
}

static void toast_on_close(GtkButton *button, gpointer data)
{
    (void)button;
    toast_hide(data);
}

static GtkWidget *toast_new_box(struct toast *toast)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10),
              *close = message_close_button_new();
    toast->label = gtk_label_new("");
    toast->button = gtk_button_new_with_label("");
    gtk_label_set_ellipsize(GTK_LABEL(toast->label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(toast->label), 60);
    gtk_button_set_use_underline(GTK_BUTTON(toast->button), TRUE);
    gtk_widget_add_css_class(box, "osd");
    gtk_widget_add_css_class(box, "said-over");
    gtk_box_append(GTK_BOX(box), toast->label);
    gtk_box_append(GTK_BOX(box), toast->button);
    gtk_box_append(GTK_BOX(box), close);
    g_signal_connect(toast->button, "clicked", G_CALLBACK(toast_on_button), toast);
    g_signal_connect(close, "clicked", G_CALLBACK(toast_on_close), toast);
    return box;
}

GtkWidget *toast_new(struct toast *toast, GtkWidget *under)
{
    GtkWidget *overlay = gtk_overlay_new();
    toast->revealer = gtk_revealer_new();
    gtk_revealer_set_transition_type(GTK_REVEALER(toast->revealer),
                                     GTK_REVEALER_TRANSITION_TYPE_CROSSFADE);
    gtk_revealer_set_child(GTK_REVEALER(toast->revealer), toast_new_box(toast));
    gtk_widget_set_halign(toast->revealer, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(toast->revealer, GTK_ALIGN_END);
    gtk_widget_set_margin_bottom(toast->revealer, 64);
    gtk_widget_set_visible(toast->revealer, FALSE);
    gtk_overlay_set_child(GTK_OVERLAY(overlay), under);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), toast->revealer);
    return overlay;
}
