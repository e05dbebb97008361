#include "clients/view/view.h"

#include <stdarg.h>
#include <string.h>

void window_say(struct view *view, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    gtk_label_set_text(GTK_LABEL(view->status), text);
    g_free(text);
}

void window_titles(struct view *view)
{
    const struct shown_run *run = &view->source.book.run;
    char *title = view->has_run ? g_strdup_printf("%s%s", run->name, run->connected ? " — live" : "")
                                : g_strdup("Poet");
    gtk_label_set_text(GTK_LABEL(view->title), title);
    gtk_label_set_text(GTK_LABEL(view->subtitle), view->source.name ? view->source.name : "");
    gtk_window_set_title(GTK_WINDOW(view->window), title);
    g_free(title);
}

void window_empty(struct view *view, const char *text)
{
    if (text)
        gtk_label_set_text(GTK_LABEL(view->empty_text), text);
    gtk_stack_set_visible_child_name(GTK_STACK(view->stack), text ? "empty" : "picture");
    if (!text)
        gtk_widget_grab_focus(view->canvas);
}

static void on_latest(GtkButton *button, gpointer data)
{
    (void)button;
    link_open(data, "latest");
}

static gboolean on_key(GtkEventControllerKey *controller, guint key, guint code,
                       GdkModifierType state, gpointer data)
{
    struct view *view = data;
    (void)controller;
    (void)code;
    if (state & GDK_CONTROL_MASK) {
        switch (key) {
        case GDK_KEY_o:
            file_open(view);
            return TRUE;
        case GDK_KEY_l:
            file_connect(view);
            return TRUE;
        case GDK_KEY_s:
            file_save(view);
            return TRUE;
        case GDK_KEY_q:
        case GDK_KEY_w:
            gtk_window_close(GTK_WINDOW(view->window));
            return TRUE;
        default:
            return FALSE;
        }
    }
    return canvas_key(view, key, state);
}

static void on_follow(GtkToggleButton *button, gpointer data)
{
    struct view *view = data;
    if (!view->moving)
        canvas_follow(view, gtk_toggle_button_get_active(button));
}

static void on_run(GtkDropDown *list, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    (void)spec;
    GtkStringObject *item = gtk_drop_down_get_selected_item(list);
    if (view->moving || !item)
        return;
    char *number = g_strdup(gtk_string_object_get_string(item));
    number[strcspn(number, " ")] = 0;
    link_select(view, number);
    g_free(number);
}

static void on_clicked(GtkButton *button, gpointer data)
{
    void (*action)(struct view *) = (void (*)(struct view *))g_object_get_data(G_OBJECT(button), "do");
    action(data);
}

static GtkWidget *button(struct view *view, const char *label, const char *tip,
                         void (*action)(struct view *))
{
    GtkWidget *b = gtk_button_new_with_mnemonic(label);
    gtk_widget_set_tooltip_text(b, tip);
    g_object_set_data(G_OBJECT(b), "do", (gpointer)action);
    g_signal_connect(b, "clicked", G_CALLBACK(on_clicked), view);
    return b;
}

static GtkWidget *header(struct view *view)
{
    GtkWidget *bar = gtk_header_bar_new(), *titles = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    view->title = gtk_label_new("Poet");
    view->subtitle = gtk_label_new("");
    gtk_widget_add_css_class(view->title, "title");
    gtk_widget_add_css_class(view->subtitle, "subtitle");
    gtk_label_set_ellipsize(GTK_LABEL(view->subtitle), PANGO_ELLIPSIZE_MIDDLE);
    gtk_widget_set_valign(titles, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(titles), view->title);
    gtk_box_append(GTK_BOX(titles), view->subtitle);
    gtk_header_bar_set_title_widget(GTK_HEADER_BAR(bar), titles);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar),
                              button(view, "_Open", "Open a trace file (Ctrl+O)", file_open));
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar),
                              button(view, "_Connect", "Connect to a server (Ctrl+L)", file_connect));
    view->runs = gtk_drop_down_new(NULL, NULL);
    gtk_widget_set_tooltip_text(view->runs, "The runs of this server");
    gtk_widget_set_visible(view->runs, FALSE);
    g_signal_connect(view->runs, "notify::selected", G_CALLBACK(on_run), view);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), view->runs);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), button(view, "_Save diagram",
                                                        "Save the diagram as PDF, SVG or PNG (Ctrl+S)",
                                                        file_save));
    view->follow_button = gtk_toggle_button_new_with_mnemonic("_Follow");
    gtk_widget_set_tooltip_text(view->follow_button, "Keep the newest events in sight (End)");
    g_signal_connect(view->follow_button, "toggled", G_CALLBACK(on_follow), view);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), view->follow_button);
    return bar;
}

static GtkWidget *details(struct view *view)
{
    view->details_box = gtk_scrolled_window_new();
    view->details = gtk_label_new("");
    gtk_label_set_selectable(GTK_LABEL(view->details), TRUE);
    gtk_label_set_wrap(GTK_LABEL(view->details), TRUE);
    gtk_label_set_xalign(GTK_LABEL(view->details), 0);
    gtk_label_set_yalign(GTK_LABEL(view->details), 0);
    gtk_widget_set_can_focus(view->details, FALSE);
    g_object_set(view->details, "margin-top", 10, "margin-start", 12, "margin-end", 12, NULL);
    gtk_widget_set_size_request(view->details_box, 240, -1);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(view->details_box), view->details);
    gtk_widget_set_visible(view->details_box, FALSE);
    return view->details_box;
}

static GtkWidget *empty_page(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    view->empty_text = gtk_label_new("");
    gtk_label_set_selectable(GTK_LABEL(view->empty_text), TRUE);
    view->empty_button = gtk_button_new_with_label("Open the latest trace");
    g_signal_connect(view->empty_button, "clicked", G_CALLBACK(on_latest), view);
    gtk_widget_set_halign(view->empty_button, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_vexpand(box, TRUE);
    gtk_box_append(GTK_BOX(box), view->empty_text);
    gtk_box_append(GTK_BOX(box), view->empty_button);
    return box;
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct view *view = data;
    (void)widget;
    link_close(view);
    lettering_forget();
    g_free(view->save_path);
    g_free(view->run_names);
    g_free(view);
}

void window_new(GtkApplication *application, const char *source)
{
    struct view *view = g_new0(struct view, 1);
    view->source.fd = -1;
    view->window = gtk_application_window_new(application);
    gtk_window_set_default_size(GTK_WINDOW(view->window), 1200, 640);
    gtk_window_set_titlebar(GTK_WINDOW(view->window), header(view));
    GtkWidget *all = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *middle = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    view->stack = gtk_stack_new();
    gtk_stack_add_named(GTK_STACK(view->stack), empty_page(view), "empty");
    gtk_stack_add_named(GTK_STACK(view->stack), canvas_new(view), "picture");
    gtk_box_append(GTK_BOX(middle), view->stack);
    gtk_box_append(GTK_BOX(middle), details(view));
    view->status = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(view->status), 0);
    gtk_label_set_ellipsize(GTK_LABEL(view->status), PANGO_ELLIPSIZE_END);
    g_object_set(view->status, "margin-start", 8, "margin-top", 3, "margin-bottom", 3, NULL);
    gtk_box_append(GTK_BOX(all), middle);
    gtk_box_append(GTK_BOX(all), view->status);
    gtk_window_set_child(GTK_WINDOW(view->window), all);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), view);
    gtk_widget_add_controller(view->window, keys);
    g_signal_connect(view->window, "destroy", G_CALLBACK(on_destroy), view);
    window_empty(view, "");
    gtk_window_present(GTK_WINDOW(view->window));
    if (!link_open(view, source))
        window_empty(view, gtk_label_get_text(GTK_LABEL(view->status)));
}
