/* What is kept between two uses, in $XDG_CONFIG_HOME/poet/view.conf. */
#include "clients/view/view.h"

#include <math.h>

#define GROUP "view"
#define RECENT_MOST 10

static char *file_name(void)
{
    return g_build_filename(g_get_user_config_dir(), "poet", "view.conf", NULL);
}

static bool flag(GKeyFile *file, const char *key, bool otherwise)
{
    GError *error = NULL;
    gboolean v = g_key_file_get_boolean(file, GROUP, key, &error);
    bool value = error ? otherwise : v;
    g_clear_error(&error);
    return value;
}

static int number(GKeyFile *file, const char *key, int least, int most, int otherwise)
{
    GError *error = NULL;
    int v = g_key_file_get_integer(file, GROUP, key, &error);
    v = error || v < least || v > most ? otherwise : v;
    g_clear_error(&error);
    return v;
}

void settings_load(struct settings *s)
{
    GKeyFile *file = g_key_file_new();
    char *name = file_name();
    g_key_file_load_from_file(file, name, G_KEY_FILE_NONE, NULL); /* none there: as at first */
    *s = (struct settings){.tint = flag(file, "tint", true),
                           .reselect = flag(file, "reselect", true),
                           .panel = flag(file, "panel", true),
                           .map = flag(file, "map", true),
                           .dark_follows = !g_key_file_has_key(file, GROUP, "dark", NULL),
                           .names_px = number(file, "names", 40, 900, 0),
                           .width = number(file, "width", 300, 20000, 1200),
                           .height = number(file, "height", 200, 20000, 720),
                           .editor = g_key_file_get_string(file, GROUP, "editor", NULL),
                           .recent = g_key_file_get_string_list(file, GROUP, "recent", NULL, NULL)};
    s->look.dark = flag(file, "dark", false);
    s->look.grey = flag(file, "grey", false);
    s->look.hairlines = flag(file, "hairlines", false);
    s->look.legend = flag(file, "legend", false);
    s->look.squeeze = flag(file, "squeeze", true);
    s->look.vertical = flag(file, "vertical", false);
    s->look.labels = (enum labels)number(file, "labels", 0, LABELS_ADDRESS, LABELS_ADDRESS);
    s->look.threshold_ns = (int64_t)number(file, "threshold_us", 0, 1000000000, 0) * 1000;
    g_key_file_free(file);
    g_free(name);
}

void settings_save(struct view *view)
{
    const struct settings *s = &view->settings;
    GKeyFile *file = g_key_file_new();
    char *name = file_name(), *directory = g_path_get_dirname(name);
    g_key_file_load_from_file(file, name, G_KEY_FILE_KEEP_COMMENTS, NULL);
    g_key_file_set_boolean(file, GROUP, "tint", s->tint);
    g_key_file_set_boolean(file, GROUP, "reselect", s->reselect);
    g_key_file_set_boolean(file, GROUP, "panel", s->panel);
    g_key_file_set_boolean(file, GROUP, "map", s->map);
    if (!s->dark_follows)
        g_key_file_set_boolean(file, GROUP, "dark", s->look.dark);
    g_key_file_set_boolean(file, GROUP, "grey", s->look.grey);
    g_key_file_set_boolean(file, GROUP, "hairlines", s->look.hairlines);
    g_key_file_set_boolean(file, GROUP, "legend", s->look.legend);
    g_key_file_set_boolean(file, GROUP, "squeeze", s->look.squeeze);
    g_key_file_set_boolean(file, GROUP, "vertical", s->look.vertical);
    g_key_file_set_integer(file, GROUP, "labels", (int)s->look.labels);
    g_key_file_set_integer(file, GROUP, "threshold_us", (int)(s->look.threshold_ns / 1000));
    g_key_file_set_integer(file, GROUP, "names", s->names_px);
    g_key_file_set_integer(file, GROUP, "width", s->width);
    g_key_file_set_integer(file, GROUP, "height", s->height);
    g_key_file_set_string(file, GROUP, "editor", s->editor ? s->editor : "");
    if (s->recent)
        g_key_file_set_string_list(file, GROUP, "recent", (const char *const *)s->recent,
                                   g_strv_length(s->recent));
    g_mkdir_with_parents(directory, 0700);
    g_key_file_save_to_file(file, name, NULL); /* a full disk costs no more than the settings */
    g_key_file_free(file);
    g_free(directory);
    g_free(name);
}

void settings_remember(struct view *view, const char *what)
{
    if (!what || g_strcmp0(what, "latest") == 0)
        return;
    GPtrArray *list = g_ptr_array_new();
    bool is_file = !endpoint_is(what) && !g_str_has_prefix(what, "ssh:");
    char *path = is_file ? g_canonicalize_filename(what, NULL) : g_strdup(what);
    g_ptr_array_add(list, path);
    for (char **r = view->settings.recent; r && *r; r++)
        if (g_strcmp0(*r, path) != 0 && list->len < RECENT_MOST)
            g_ptr_array_add(list, g_strdup(*r));
    g_ptr_array_add(list, NULL);
    g_strfreev(view->settings.recent);
    view->settings.recent = (char **)g_ptr_array_free(list, FALSE);
    actions_recent(view);
}

static void follow_desktop(struct view *view)
{
    gboolean dark = FALSE;
    char *theme = NULL;
    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark, "gtk-theme-name",
                 &theme, NULL);
    if (view->settings.dark_follows)
        view->settings.look.dark = dark || (theme && g_str_has_suffix(theme, "-dark"));
    g_free(theme);
}

void settings_apply(struct view *view)
{
    struct settings *s = &view->settings;
    follow_desktop(view);
    if (!s->dark_follows)
        g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", s->look.dark, NULL);
    gtk_widget_set_visible(view->panel, s->panel);
    gtk_widget_set_visible(view->map, s->map);
    view->moving = true;
    gtk_range_set_value(GTK_RANGE(view->time_scale), view->place.column_ns ? log10((double)view->place.column_ns) : 0);
    char text[64] = "by order";
    if (view->place.column_ns) {
        scene_duration((int64_t)view->place.column_ns, text, 40);
        g_strlcat(text, " a column", sizeof text);
    }
    gtk_label_set_text(GTK_LABEL(view->time_label), text);
    view->moving = false;
    legend_show(view);
    stage_stale(view);
    gtk_widget_queue_draw(view->map);
    actions_update(view);
}

/* ---- the dialog ---- */

struct option {
    struct view *view;
    bool *on;
};

static gboolean on_switch(GtkSwitch *widget, gboolean on, gpointer data)
{
    struct option *o = data;
    (void)widget;
    *o->on = on;
    if (o->on == &o->view->settings.look.dark)
        o->view->settings.dark_follows = false;
    stage_rebuild(o->view);
    settings_apply(o->view);
    return FALSE;
}

static void add_row(GtkWidget *grid, int row, const char *text, GtkWidget *widget)
{
    GtkWidget *label = gtk_label_new_with_mnemonic(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), widget);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_widget_set_halign(widget, GTK_ALIGN_END);
    gtk_grid_attach(GTK_GRID(grid), label, 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

static void add_switch(struct view *view, GtkWidget *grid, int row, const char *text, bool *on)
{
    GtkWidget *widget = gtk_switch_new();
    struct option *o = g_new(struct option, 1);
    *o = (struct option){view, on};
    gtk_switch_set_active(GTK_SWITCH(widget), *on);
    g_signal_connect_data(widget, "state-set", G_CALLBACK(on_switch), o, (GClosureNotify)(void (*)(void))g_free, 0);
    add_row(grid, row, text, widget);
}

static void on_labels(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    (void)spec;
    view->settings.look.labels = (enum labels)gtk_drop_down_get_selected(GTK_DROP_DOWN(object));
    if (!view->link.has_run)
        return;
    label_again(the_book(view), view->link.sites, &view->link.known, view->settings.look.labels);
    stage_rebuild(view);
    panels_tell(view, NEWS_PICTURE);
}

static void on_editor(GtkEditable *entry, gpointer data)
{
    struct view *view = data;
    g_free(view->settings.editor);
    view->settings.editor = g_strdup(gtk_editable_get_text(entry));
}

static void on_threshold(GtkSpinButton *spin, gpointer data)
{
    struct view *view = data;
    view->settings.look.threshold_ns = (int64_t)(gtk_spin_button_get_value(spin) * 1000000);
    stage_rebuild(view);
}

void settings_dialog(struct view *view)
{
    static const char *const labels[] = {"Name", "Name and number", "Name and address", NULL};
    struct settings *s = &view->settings;
    GtkWidget *window = gtk_window_new(), *grid = gtk_grid_new(), *choice = gtk_drop_down_new_from_strings(labels),
              *editor = gtk_entry_new(), *threshold = gtk_spin_button_new_with_range(0, 1000000, 1);
    gtk_window_set_title(GTK_WINDOW(window), "Settings");
    gtk_window_set_transient_for(GTK_WINDOW(window), GTK_WINDOW(view->window));
    gtk_window_set_modal(GTK_WINDOW(window), TRUE);
    g_object_set(grid, "row-spacing", 10, "column-spacing", 24, "margin-top", 16, "margin-bottom", 16,
                 "margin-start", 16, "margin-end", 16, NULL);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(choice), (guint)s->look.labels);
    g_signal_connect(choice, "notify::selected", G_CALLBACK(on_labels), view);
    gtk_editable_set_text(GTK_EDITABLE(editor), s->editor ? s->editor : "");
    gtk_entry_set_placeholder_text(GTK_ENTRY(editor), "$VISUAL");
    g_signal_connect(editor, "changed", G_CALLBACK(on_editor), view);
    gtk_spin_button_set_digits(GTK_SPIN_BUTTON(threshold), 3);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(threshold), (double)s->look.threshold_ns / 1e6);
    g_signal_connect(threshold, "value-changed", G_CALLBACK(on_threshold), view);
    add_row(grid, 0, "_Labels", choice);
    add_switch(view, grid, 1, "_Dark", &s->look.dark);
    add_switch(view, grid, 2, "Without _colour", &s->look.grey);
    add_switch(view, grid, 3, "_Tint every fourth row", &s->tint);
    add_switch(view, grid, 4, "_Hairlines where nothing is in a line", &s->look.hairlines);
    add_switch(view, grid, 5, "_Squeeze long empty times", &s->look.squeeze);
    add_switch(view, grid, 6, "Se_lect another event when one is scrolled away", &s->reselect);
    add_row(grid, 7, "Highlight what is _blocked longer than (ms, 0: nothing)", threshold);
    add_row(grid, 8, "_Editor", editor);
    gtk_window_set_child(GTK_WINDOW(window), grid);
    window_closes_on_escape(window);
    gtk_window_present(GTK_WINDOW(window));
}
