#include "clients/viewer/diagram_export.h"

#include "clients/connection/install_paths.h"
#include "clients/connection/session.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/diagram/canvas.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/saved_views.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/selection_relations.h"
#include "clients/viewer/state/status_line.h"
#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/query_results.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const struct export_paper export_papers[EXPORT_PAPERS] = {{"a4", "A4", "297 × 210 mm"},
                                                          {"a3", "A3", "420 × 297 mm"},
                                                          {"letter", "Letter", "279 × 216 mm"},
                                                          {"legal", "Legal", "356 × 216 mm"}};

/* ---- saved options ---- */

#define GROUP "save"

static char *diagram_export_settings_file(void)
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
    char *name = diagram_export_settings_file();
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
    char *name = diagram_export_settings_file(), *directory = g_path_get_dirname(name);
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
    if (range == EXPORT_TIMES && !time_range_is_set(view))
        return "Select a range of time first: drag over the ruler";
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
static double diagram_export_width_mm(const char *width)
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
    double mm = diagram_export_width_mm(width);
    return mm >= 10 && mm <= 5000 ? NULL
                                  : "Enter a width of 10 to 5000 mm, as in 84, 84 mm or 17 cm";
}

static void diagram_export_append(GPtrArray *to, const char *word)
{
    g_ptr_array_add(to, g_strdup(word));
}

/* Appends "--from TIME --to TIME". */
static void diagram_export_add_times(GPtrArray *to, const struct view *view)
{
    const struct view_state_range *r = &view->viewport.place.range;
    diagram_export_append(to, "--from");
    g_ptr_array_add(to, g_strdup_printf("%lldns", (long long)r->from_ns));
    diagram_export_append(to, "--to");
    g_ptr_array_add(to, g_strdup_printf("%lldns", (long long)r->to_ns));
}

/* Gets the two selected events, the earlier one first. */
static void diagram_export_selected_ends(const struct view *view, struct event_id ends[2])
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

static void diagram_export_add_range(GPtrArray *to, const struct view *view,
                                     const struct diagram_export *d, unsigned few)
{
    struct event_id ends[2];
    char at[48];
    guint64 last = g_ascii_strtoull(d->last, NULL, 10);
    bool bands = view->viewport.place.overview;
    if (bands && (d->range == EXPORT_WHOLE || d->range == EXPORT_TIMES))
        diagram_export_append(to, "--time"); /* bands, if there are too many events to draw each */
    if (d->range == EXPORT_TIMES) {
        diagram_export_add_times(to, view);
    } else if (d->range == EXPORT_WHOLE && !few && !bands) {
        diagram_export_append(to, "--all");
    } else if (d->range == EXPORT_LAST) {
        diagram_export_append(to, "--last");
        g_ptr_array_add(to, g_strdup_printf("%u", few && last > few ? few : (unsigned)last));
    } else if (d->range == EXPORT_SELECTED || d->range == EXPORT_NOTES) {
        if (d->range == EXPORT_SELECTED || !notes_panel_first_and_last(view, ends))
            diagram_export_selected_ends(view, ends);
        for (int i = 0; i < 2; i++) {
            event_id_print(at, sizeof at, ends[i]);
            diagram_export_append(to, i ? "--to" : "--from");
            diagram_export_append(to, at);
        }
    }
}

static void diagram_export_add_form(GPtrArray *to, const struct diagram_export *d)
{
    bool drawn = d->format != EXPORT_TEXT && d->format != EXPORT_PAGE;
    if (drawn && d->size == EXPORT_WIDTH) {
        char number[G_ASCII_DTOSTR_BUF_SIZE];
        diagram_export_append(to, "--width");
        g_ptr_array_add(
            to, g_strdup_printf("%smm", g_ascii_formatd(number, sizeof number, "%.2f",
                                                        diagram_export_width_mm(d->width))));
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
    g_ptr_array_add(words, server_link_source_argument(&view->server_link));
    diagram_export_append(words, "-o");
    diagram_export_append(words, file);
    diagram_export_append(words, "--view");
    diagram_export_append(words, view_file);
    diagram_export_add_range(words, view, d, few);
    diagram_export_add_form(words, d);
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

/* ---- saving ---- */

#define HTML_WHOLE_MOST 20000u /* events of a run that a page holds (WEBPAGE_EVENTS) */

struct export_process {
    struct view *view;
    char *file, *view_file;
};

static void save_free(struct export_process *e)
{
    if (e->view_file)
        g_unlink(e->view_file);
    g_free(e->file);
    g_free(e->view_file);
    g_free(e);
}

static void save_on_exported(GObject *object, GAsyncResult *result, gpointer data)
{
    struct export_process *e = data;
    GSubprocess *process = G_SUBPROCESS(object);
    char *complaints = NULL;
    GError *error = NULL;
    if (e->view->exporting == process)
        g_clear_object(&e->view->exporting);
    bool ok = g_subprocess_communicate_utf8_finish(process, result, NULL, &complaints, &error) &&
              g_subprocess_get_if_exited(process) && g_subprocess_get_exit_status(process) == 0;
    status_line_show_progress(&e->view->status_line, NULL, 0);
    g_strstrip(complaints ? complaints : (complaints = g_strdup("")));
    if (ok) /* there may be warnings */
        status_line_show(&e->view->status_line, "Saved %s%s%s", e->file, *complaints ? " — " : "",
                         diagram_export_strip_prefix(complaints));
    else if (error && !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        status_line_show_problem(&e->view->status_line, NULL, "%s: %s", e->file, error->message);
    else if (!error)
        status_line_show_problem(&e->view->status_line, NULL, "%s",
                                 *complaints ? diagram_export_strip_prefix(complaints)
                                             : "not saved");
    g_clear_error(&error);
    g_free(complaints);
    save_free(e);
}

bool save_is_running(const struct view *view) { return view->exporting != NULL; }

void save_cancel(struct view *view)
{
    g_subprocess_send_signal(view->exporting, SIGINT);
    g_clear_object(&view->exporting);
}

void save_diagram_as(struct view *view, const struct diagram_export *diagram, const char *file)
{
    struct export_process *e = g_new0(struct export_process, 1);
    GError *error = NULL;
    e->view = view;
    e->file = g_strdup(file);
    GSubprocess *process = diagram_export_start(view, diagram, file, 0, &e->view_file, &error);
    if (process) {
        status_line_show_progress(&view->status_line, file, -1);
        g_subprocess_communicate_utf8_async(process, NULL, NULL, save_on_exported, e);
        view->exporting = process;
    } else {
        status_line_show_problem(&view->status_line, NULL, "%s: %s", file, error->message);
        save_free(e);
    }
    g_clear_error(&error);
}

/* Sets what is saved: a part of the run, with its present appearance. */
static void diagram_export_of_view(const struct view *view, struct diagram_export *d,
                                   enum export_range range)
{
    const struct view_style *look = &view->viewer_settings.look;
    *d = (struct diagram_export){.range = range,
                                 .last = g_strdup(""),
                                 .width = g_strdup(""),
                                 .caption = g_strdup(""),
                                 .grey = look->grey,
                                 .dark = look->dark,
                                 .title = true,
                                 .legend = look->legend,
                                 .notes = true};
}

void save_diagram(struct view *view, const char *file, enum export_range range)
{
    struct diagram_export diagram;
    diagram_export_of_view(view, &diagram, range);
    save_diagram_as(view, &diagram, file);
    diagram_export_free(&diagram);
}

static void save_on_html_chosen(void *user, const char *path)
{
    struct view *view = user;
    if (!path)
        return;
    char *file =
        g_str_has_suffix(path, ".html") ? g_strdup(path) : g_strconcat(path, ".html", NULL);
    save_diagram(view, file,
                 view_metadata(view)->run.events <= HTML_WHOLE_MOST ? EXPORT_WHOLE : EXPORT_SEEN);
    g_free(file);
}

void save_ask_html(struct view *view)
{
    if (!view->scene_cache.scene || !view->server_link.has_run) {
        status_line_show(&view->status_line, "Nothing to export yet");
        return;
    }
    char *name = g_strdup_printf("%s.html", view_metadata(view)->run.name);
    compat_choose_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                             .title = "Export as HTML",
                                             .saves = true,
                                             .name = name},
                       save_on_html_chosen, view);
    g_free(name);
}

/* ---- clipboard ---- */

void save_copy_image(struct view *view)
{
    int scale = 2, width = gtk_widget_get_width(view->canvas),
        height = gtk_widget_get_height(view->canvas);
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, width * scale, height * scale);
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    canvas_draw(view, cr, width, height);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    int stride = cairo_image_surface_get_stride(surface);
    GBytes *bytes =
        g_bytes_new(cairo_image_surface_get_data(surface), (gsize)stride * (gsize)(height * scale));
    GdkTexture *texture = gdk_memory_texture_new(
        width * scale, height * scale, GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, bytes, (gsize)stride);
    gdk_clipboard_set_texture(gtk_widget_get_clipboard(view->canvas), texture);
    status_line_show(&view->status_line, "Copied the image");
    g_object_unref(texture);
    g_bytes_unref(bytes);
    cairo_surface_destroy(surface);
}

void save_copy_command(struct view *view)
{
    if (!view->scene_cache.scene)
        return;
    char *directory = saved_views_directory(),
         *name = g_strdup_printf("%016llx.view", (unsigned long long)g_get_real_time());
    char *file = g_build_filename(directory, name, NULL),
         *source = server_link_source_argument(&view->server_link);
    if (saved_views_write(view, file)) {
        char *quoted = g_shell_quote(source), *quoted_file = g_shell_quote(file);
        char *command =
            g_strdup_printf("poet export %s --view %s -o diagram.pdf", quoted, quoted_file);
        gdk_clipboard_set_text(gtk_widget_get_clipboard(view->canvas), command);
        status_line_show(&view->status_line, "Copied: %s", command);
        g_free(command);
        g_free(quoted);
        g_free(quoted_file);
    }
    g_free(source);
    g_free(file);
    g_free(name);
    g_free(directory);
}

void save_copy_id(struct view *view)
{
    char at[48];
    if (!view->viewport.place.selected.line) {
        status_line_show(&view->status_line, "Select an event first");
        return;
    }
    event_id_print(at, sizeof at, view->viewport.place.selected);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(view->canvas), at);
    status_line_show(&view->status_line, "Copied: %s", at);
}
