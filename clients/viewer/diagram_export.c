#include "clients/viewer/diagram_export.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/connection/install_paths.h"
#include "clients/connection/session.h"
#include "clients/viewer/sidebar/notes_panel.h"
#include "clients/viewer/state/selection_relations.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/saved_views.h"
#include "wire/event_types.h"
#include "wire/query_results.h"
#include "wire/limits.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

const struct export_paper export_papers[EXPORT_PAPERS] = {{"a4", "A4", "297 × 210 mm"},
                                                          {"a3", "A3", "420 × 297 mm"},
                                                          {"letter", "Letter", "279 × 216 mm"},
                                                          {"legal", "Legal", "356 × 216 mm"}};

/* ---- saved options ---- */

#define GROUP "save"

static char *file_name(void)
{
    return g_build_filename(g_get_user_config_dir(), "poet", "view.conf", NULL);
}

static bool diagram_export_read_flag(GKeyFile *file, const char *key, bool otherwise)
{
    GError *error = NULL;
    bool value = g_key_file_get_boolean(file, GROUP, key, &error);
    value = error ? otherwise : value;
    g_clear_error(&error);
    return value;
}

static int diagram_export_read_choice(GKeyFile *file, const char *key, int count)
{
    int value = g_key_file_get_integer(file, GROUP, key, NULL);
    return value >= 0 && value < count ? value : 0;
}

static char *diagram_export_read_text(GKeyFile *file, const char *key, const char *otherwise)
{
    char *value = g_key_file_get_string(file, GROUP, key, NULL);
    return value ? value : g_strdup(otherwise);
}

void diagram_export_load(struct diagram_export *d)
{
    GKeyFile *file = g_key_file_new();
    char *name = file_name();
    g_key_file_load_from_file(file, name, G_KEY_FILE_NONE, NULL); /* no file: defaults */
    *d = (struct diagram_export){
        .format = (enum export_format)diagram_export_read_choice(file, "format", EXPORT_FORMATS),
        .range = (enum export_range)diagram_export_read_choice(file, "range", EXPORT_RANGES),
        .size = (enum export_size)diagram_export_read_choice(file, "size", EXPORT_SIZES),
        .paper = diagram_export_read_choice(file, "paper", EXPORT_PAPERS),
        .last = diagram_export_read_text(file, "last", "40"),
        .width = diagram_export_read_text(file, "width", "170"),
        .caption = g_strdup(""),
        .grey = diagram_export_read_flag(file, "grayscale", false),
        .dark = diagram_export_read_flag(file, "dark", false),
        .title = diagram_export_read_flag(file, "title", true),
        .legend = diagram_export_read_flag(file, "legend", true),
        .notes = diagram_export_read_flag(file, "notes", true)};
    g_key_file_free(file);
    g_free(name);
}

void diagram_export_save(const struct diagram_export *d)
{
    GKeyFile *file = g_key_file_new();
    char *name = file_name(), *directory = g_path_get_dirname(name);
    g_key_file_load_from_file(file, name, G_KEY_FILE_KEEP_COMMENTS, NULL);
    g_key_file_set_integer(file, GROUP, "format", (int)d->format);
    g_key_file_set_integer(file, GROUP, "range", (int)d->range);
    g_key_file_set_integer(file, GROUP, "size", (int)d->size);
    g_key_file_set_integer(file, GROUP, "paper", d->paper);
    g_key_file_set_string(file, GROUP, "last", d->last);
    g_key_file_set_string(file, GROUP, "width", d->width);
    g_key_file_set_boolean(file, GROUP, "grayscale", d->grey);
    g_key_file_set_boolean(file, GROUP, "dark", d->dark);
    g_key_file_set_boolean(file, GROUP, "title", d->title);
    g_key_file_set_boolean(file, GROUP, "legend", d->legend);
    g_key_file_set_boolean(file, GROUP, "notes", d->notes);
    g_mkdir_with_parents(directory, 0700);
    g_key_file_save_to_file(file, name, NULL); /* an error loses only these options */
    g_key_file_free(file);
    g_free(directory);
    g_free(name);
}

void diagram_export_of_view(const struct view *view, struct diagram_export *d, bool whole)
{
    const struct view_style *look = &view->viewer_settings.look;
    *d = (struct diagram_export){.range = whole ? EXPORT_WHOLE : EXPORT_SEEN,
                                 .last = g_strdup(""),
                                 .width = g_strdup(""),
                                 .caption = g_strdup(""),
                                 .grey = look->grey,
                                 .dark = look->dark,
                                 .title = true,
                                 .legend = look->legend,
                                 .notes = true};
}

void diagram_export_free(struct diagram_export *d)
{
    g_free(d->last);
    g_free(d->width);
    g_free(d->caption);
    *d = (struct diagram_export){0};
}

/* ---- options ---- */

static const char *const diagram_export_suffixes[EXPORT_FORMATS] = {".pdf", ".svg", ".png", ".txt",
                                                                    ".html"};

const char *diagram_export_suffix(enum export_format format)
{
    return diagram_export_suffixes[format];
}

bool diagram_export_suffix_of(const char *file, enum export_format *format)
{
    size_t length = strlen(file);
    for (int i = 0; i < EXPORT_FORMATS; i++)
        if (length > strlen(diagram_export_suffixes[i]) &&
            g_ascii_strcasecmp(file + length - strlen(diagram_export_suffixes[i]),
                               diagram_export_suffixes[i]) == 0) {
            *format = (enum export_format)i;
            return true;
        }
    return false;
}

const char *diagram_export_range_problem(const struct view *view, enum export_range range)
{
    struct event_id ends[2];
    if (range == EXPORT_SEEN && view->viewport.place.overview)
        return "Zoom in until events are visible";
    if (range == EXPORT_SELECTED &&
        (!view->viewport.place.selected.line || !view->viewport.place.second.line))
        return "Select two events first: click one, Ctrl+click another";
    if (range == EXPORT_NOTES && !notes_panel_first_and_last(view, ends))
        return "Add two notes first (Ctrl+D)";
    return NULL;
}

const char *diagram_export_last_problem(const char *last)
{
    guint64 n;
    return g_ascii_string_to_unsigned(last, 10, 1, LIMIT_COLUMNS, &n, NULL)
               ? NULL
               : "Enter a number of columns, as in 40";
}

/* Returns a width in mm; less than 0: invalid. */
static double width_mm(const char *width)
{
    static const struct {
        const char *name;
        double mm;
    } units[] = {{"", 1}, {"mm", 1}, {"cm", 10}, {"in", 25.4}, {"pt", 25.4 / 72}};
    char *end;
    double value = g_ascii_strtod(width, &end);
    if (end == width)
        return -1;
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        if (strcmp(end, units[i].name) == 0)
            return value * units[i].mm;
    return -1;
}

const char *diagram_export_width_problem(const char *width)
{
    double mm = width_mm(width);
    return mm >= 10 && mm <= 5000 ? NULL
                                  : "Enter a width of 10 to 5000 mm, as in 84, 84 mm or 17 cm";
}

/* Gets the two selected events, the earlier one first. */
static void selected_ends(const struct view *view, struct event_id ends[2])
{
    const struct selection_relations *ties = &view->selection_relations;
    bool turned = ties->related == ORDER_AFTER ||
                  (ties->related != ORDER_BEFORE && ties->span.known && ties->span.ns < 0);
    ends[turned] = view->viewport.place.selected;
    ends[!turned] = view->viewport.place.second;
}

/* ---- export command ---- */

static char *diagram_export_poet_path(void)
{
    char path[PATH_MAX];
    return g_strdup(install_path_poet(path, sizeof path));
}

char *diagram_export_source_name(struct view *view)
{
    const struct session *source = &view->server_link.source;
    return source->is_file ? g_strdup(source->name)
                           : g_strdup_printf("%.*s#%u", (int)strcspn(source->name, "#"),
                                             source->name, view_metadata(view)->run.number);
}

static void diagram_export_append(GPtrArray *to, const char *word)
{
    g_ptr_array_add(to, g_strdup(word));
}

static void add_range(GPtrArray *to, const struct view *view, const struct diagram_export *d,
                      unsigned few)
{
    struct event_id ends[2];
    char at[48];
    guint64 last = g_ascii_strtoull(d->last, NULL, 10);
    if (d->range == EXPORT_WHOLE && !few) {
        diagram_export_append(to, "--all");
    } else if (d->range == EXPORT_LAST) {
        diagram_export_append(to, "--last");
        g_ptr_array_add(to, g_strdup_printf("%u", few && last > few ? few : (unsigned)last));
    } else if (d->range == EXPORT_SELECTED || d->range == EXPORT_NOTES) {
        if (d->range == EXPORT_SELECTED || !notes_panel_first_and_last(view, ends))
            selected_ends(view, ends);
        for (int i = 0; i < 2; i++) {
            event_id_print(at, sizeof at, ends[i]);
            diagram_export_append(to, i ? "--to" : "--from");
            diagram_export_append(to, at);
        }
    }
}

static void add_form(GPtrArray *to, const struct diagram_export *d)
{
    bool drawn = d->format != EXPORT_TEXT && d->format != EXPORT_PAGE;
    if (drawn && d->size == EXPORT_WIDTH) {
        char number[G_ASCII_DTOSTR_BUF_SIZE];
        diagram_export_append(to, "--width");
        g_ptr_array_add(to, g_strdup_printf("%smm", g_ascii_formatd(number, sizeof number, "%.2f",
                                                                    width_mm(d->width))));
    } else if (drawn && d->size == EXPORT_PAPER) {
        diagram_export_append(to, "--paper");
        diagram_export_append(to, export_papers[d->paper].name);
    }
    if (*d->caption) {
        diagram_export_append(to, "--caption");
        diagram_export_append(to, d->caption);
    }
    if (!d->title)
        diagram_export_append(to, "--no-title");
    if (!d->notes)
        diagram_export_append(to, "--no-notes");
}

static char **diagram_export_build_command(struct view *view, const struct diagram_export *d,
                                           const char *file, const char *view_file, unsigned few)
{
    GPtrArray *words = g_ptr_array_new();
    g_ptr_array_add(words, diagram_export_poet_path());
    diagram_export_append(words, "export");
    g_ptr_array_add(words, diagram_export_source_name(view));
    diagram_export_append(words, "-o");
    diagram_export_append(words, file);
    diagram_export_append(words, "--view");
    diagram_export_append(words, view_file);
    add_range(words, view, d, few);
    add_form(words, d);
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

GSubprocess *diagram_export_start(struct view *view, const struct diagram_export *d,
                                  const char *file, unsigned few, char **view_file, GError **error)
{
    struct view_style look = view->viewer_settings.look;
    look.grey = d->grey;
    look.dark = d->dark;
    look.legend = d->legend;
    int fd = g_file_open_tmp("poet-XXXXXX.view", view_file, error);
    if (fd < 0)
        return NULL;
    close(fd);
    if (!saved_views_write_as(view, *view_file, &look, d->range == EXPORT_WHOLE ? few : 0)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "cannot write the view");
        return NULL;
    }
    char **words = diagram_export_build_command(view, d, file, *view_file, few);
    GSubprocess *process =
        g_subprocess_newv((const char *const *)words, G_SUBPROCESS_FLAGS_STDERR_PIPE, error);
    g_strfreev(words);
    return process;
}

const char *diagram_export_strip_prefix(const char *complaints)
{
    const char *name = "poet export: ";
    return g_str_has_prefix(complaints, name) ? complaints + strlen(name) : complaints;
}
