#include "clients/viewer/state/viewer_settings.h"

#include <gio/gio.h>

#define GROUP "view"
#define RECENT_MOST 10

static char *file_name(void)
{
    return g_build_filename(g_get_user_config_dir(), "poet", "view.conf", NULL);
}

static bool settings_read_flag(GKeyFile *file, const char *key, bool otherwise)
{
    GError *error = NULL;
    gboolean v = g_key_file_get_boolean(file, GROUP, key, &error);
    bool value = error ? otherwise : v;
    g_clear_error(&error);
    return value;
}

static int settings_read_number(GKeyFile *file, const char *key, int least, int most, int otherwise)
{
    GError *error = NULL;
    int v = g_key_file_get_integer(file, GROUP, key, &error);
    v = error || v < least || v > most ? otherwise : v;
    g_clear_error(&error);
    return v;
}

void viewer_settings_load(struct viewer_settings *s)
{
    GKeyFile *file = g_key_file_new();
    char *name = file_name();
    g_key_file_load_from_file(file, name, G_KEY_FILE_NONE, NULL); /* no file: defaults */
    *s = (struct viewer_settings){
        .tint = settings_read_flag(file, "tint", true),
        .reselect = settings_read_flag(file, "reselect", true),
        .busy_rows = settings_read_flag(file, "busy_rows", false),
        .panel = settings_read_flag(file, "panel", true),
        .map = settings_read_flag(file, "map", true),
        .drawer = settings_read_flag(file, "drawer", false),
        .path = settings_read_flag(file, "critical_path", false),
        .overview_path = settings_read_flag(file, "critical_path_of_overview", true),
        .tints = settings_read_flag(file, "tint_waits", false),
        .drawer_px = settings_read_number(file, "drawer_height", 60, 4000, 220),
        .drawer_page = g_key_file_get_string(file, GROUP, "drawer_page", NULL),
        .dark_follows = !g_key_file_has_key(file, GROUP, "dark", NULL),
        .names_px = settings_read_number(file, "names", 40, 900, 0),
        .width_px = settings_read_number(file, "width", 300, 20000, 1200),
        .height_px = settings_read_number(file, "height", 200, 20000, 720),
        .maximized = settings_read_flag(file, "maximized", false),
        .editor = g_key_file_get_string(file, GROUP, "editor", NULL),
        .recent = g_key_file_get_string_list(file, GROUP, "recent", NULL, NULL)};
    s->look.dark = settings_read_flag(file, "dark", false);
    s->look.grey = settings_read_flag(file, "grayscale", false);
    s->look.hairlines = settings_read_flag(file, "hairlines", false);
    s->look.legend = settings_read_flag(file, "legend", true);
    s->look.squeeze = settings_read_flag(file, "squeeze", true);
    s->look.vertical = settings_read_flag(file, "vertical", false);
    s->look.no_order = !settings_read_flag(file, "order_arrows", true);
    s->look.labels =
        (enum labels)settings_read_number(file, "labels", 0, LABELS_ADDRESS, LABELS_NAME);
    s->look.threshold_ns =
        (int64_t)settings_read_number(file, "threshold_us", 0, 1000000000, 0) * 1000;
    g_key_file_free(file);
    g_free(name);
}

void viewer_settings_save(const struct viewer_settings *s)
{
    GKeyFile *file = g_key_file_new();
    char *name = file_name(), *directory = g_path_get_dirname(name);
    g_key_file_load_from_file(file, name, G_KEY_FILE_KEEP_COMMENTS, NULL);
    g_key_file_set_boolean(file, GROUP, "tint", s->tint);
    g_key_file_set_boolean(file, GROUP, "reselect", s->reselect);
    g_key_file_set_boolean(file, GROUP, "busy_rows", s->busy_rows);
    g_key_file_set_boolean(file, GROUP, "panel", s->panel);
    g_key_file_set_boolean(file, GROUP, "map", s->map);
    g_key_file_set_boolean(file, GROUP, "drawer", s->drawer);
    g_key_file_set_boolean(file, GROUP, "critical_path", s->path);
    g_key_file_set_boolean(file, GROUP, "critical_path_of_overview", s->overview_path);
    g_key_file_set_boolean(file, GROUP, "tint_waits", s->tints);
    g_key_file_set_integer(file, GROUP, "drawer_height", s->drawer_px);
    if (s->drawer_page)
        g_key_file_set_string(file, GROUP, "drawer_page", s->drawer_page);
    if (!s->dark_follows)
        g_key_file_set_boolean(file, GROUP, "dark", s->look.dark);
    g_key_file_set_boolean(file, GROUP, "grayscale", s->look.grey);
    g_key_file_set_boolean(file, GROUP, "hairlines", s->look.hairlines);
    g_key_file_set_boolean(file, GROUP, "legend", s->look.legend);
    g_key_file_set_boolean(file, GROUP, "squeeze", s->look.squeeze);
    g_key_file_set_boolean(file, GROUP, "vertical", s->look.vertical);
    g_key_file_set_boolean(file, GROUP, "order_arrows", !s->look.no_order);
    g_key_file_set_integer(file, GROUP, "labels", (int)s->look.labels);
    g_key_file_set_integer(file, GROUP, "threshold_us", (int)(s->look.threshold_ns / 1000));
    g_key_file_set_integer(file, GROUP, "names", s->names_px);
    g_key_file_set_integer(file, GROUP, "width", s->width_px);
    g_key_file_set_integer(file, GROUP, "height", s->height_px);
    g_key_file_set_boolean(file, GROUP, "maximized", s->maximized);
    g_key_file_set_string(file, GROUP, "editor", s->editor ? s->editor : "");
    if (s->recent)
        g_key_file_set_string_list(file, GROUP, "recent", (const char *const *)s->recent,
                                   g_strv_length(s->recent));
    g_mkdir_with_parents(directory, 0700);
    g_key_file_save_to_file(file, name, NULL); /* an error loses only settings */
    g_key_file_free(file);
    g_free(directory);
    g_free(name);
}

void viewer_settings_remember(struct viewer_settings *s, const char *what)
{
    if (!what || g_strcmp0(what, "latest") == 0)
        return;
    GPtrArray *list = g_ptr_array_new();
    bool is_file = !endpoint_is(what) && !g_str_has_prefix(what, "ssh:");
    char *path = is_file ? g_canonicalize_filename(what, NULL) : g_strdup(what);
    g_ptr_array_add(list, path);
    for (char **r = s->recent; r && *r; r++)
        if (g_strcmp0(*r, path) != 0 && list->len < RECENT_MOST)
            g_ptr_array_add(list, g_strdup(*r));
    g_ptr_array_add(list, NULL);
    g_strfreev(s->recent);
    s->recent = (char **)g_ptr_array_free(list, FALSE);
}

struct paint_theme viewer_settings_theme(const struct viewer_settings *s)
{
    return (struct paint_theme){.grey = s->look.grey,
                                .dark = s->look.dark,
                                .tint = s->tint,
                                .hairlines = s->look.hairlines};
}
