#include "clients/view/diagram.h"

#include "clients/book/book.h"
#include "clients/source/installed.h"
#include "clients/source/source.h"
#include "clients/view/panels/notes.h"
#include "clients/view/parts/ties.h"
#include "clients/view/picture/view.h"
#include "clients/view/views.h"
#include "wire/event.h"
#include "wire/found.h"
#include "wire/limits.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

const struct diagram_paper diagram_papers[DIAGRAM_PAPERS] = {{"a4", "A4", "297 × 210 mm"},
                                                             {"a3", "A3", "420 × 297 mm"},
                                                             {"letter", "Letter", "279 × 216 mm"},
                                                             {"legal", "Legal", "356 × 216 mm"}};

/* ---- kept from one time to the next ---- */

#define GROUP "save"

static char *file_name(void)
{
    return g_build_filename(g_get_user_config_dir(), "poet", "view.conf", NULL);
}

static bool flag(GKeyFile *file, const char *key, bool otherwise)
{
    GError *error = NULL;
    bool value = g_key_file_get_boolean(file, GROUP, key, &error);
    value = error ? otherwise : value;
    g_clear_error(&error);
    return value;
}

static int choice(GKeyFile *file, const char *key, int count)
{
    int value = g_key_file_get_integer(file, GROUP, key, NULL);
    return value >= 0 && value < count ? value : 0;
}

static char *words(GKeyFile *file, const char *key, const char *otherwise)
{
    char *value = g_key_file_get_string(file, GROUP, key, NULL);
    return value ? value : g_strdup(otherwise);
}

void diagram_load(struct diagram *d)
{
    GKeyFile *file = g_key_file_new();
    char *name = file_name();
    g_key_file_load_from_file(file, name, G_KEY_FILE_NONE, NULL); /* none there: as at first */
    *d = (struct diagram){.format = (enum diagram_format)choice(file, "format", DIAGRAM_FORMATS),
                          .range = (enum diagram_range)choice(file, "range", DIAGRAM_RANGES),
                          .size = (enum diagram_size)choice(file, "size", DIAGRAM_SIZES),
                          .paper = choice(file, "paper", DIAGRAM_PAPERS),
                          .last = words(file, "last", "40"),
                          .width = words(file, "width", "170"),
                          .caption = g_strdup(""),
                          .grey = flag(file, "grey", false),
                          .dark = flag(file, "dark", false),
                          .title = flag(file, "title", true),
                          .legend = flag(file, "legend", true),
                          .notes = flag(file, "notes", true)};
    g_key_file_free(file);
    g_free(name);
}

void diagram_keep(const struct diagram *d)
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
    g_key_file_set_boolean(file, GROUP, "grey", d->grey);
    g_key_file_set_boolean(file, GROUP, "dark", d->dark);
    g_key_file_set_boolean(file, GROUP, "title", d->title);
    g_key_file_set_boolean(file, GROUP, "legend", d->legend);
    g_key_file_set_boolean(file, GROUP, "notes", d->notes);
    g_mkdir_with_parents(directory, 0700);
    g_key_file_save_to_file(file, name, NULL); /* a full disk costs no more than the choice */
    g_key_file_free(file);
    g_free(directory);
    g_free(name);
}

void diagram_as_seen(const struct view *view, struct diagram *d, bool whole)
{
    const struct look *look = &view->settings.look;
    *d = (struct diagram){.range = whole ? DIAGRAM_WHOLE : DIAGRAM_SEEN,
                          .last = g_strdup(""),
                          .width = g_strdup(""),
                          .caption = g_strdup(""),
                          .grey = look->grey,
                          .dark = look->dark,
                          .title = true,
                          .legend = look->legend,
                          .notes = true};
}

void diagram_free(struct diagram *d)
{
    g_free(d->last);
    g_free(d->width);
    g_free(d->caption);
    *d = (struct diagram){0};
}

/* ---- what was chosen ---- */

static const char *const endings[DIAGRAM_FORMATS] = {".pdf", ".svg", ".png", ".txt", ".html"};

const char *diagram_ending(enum diagram_format format) { return endings[format]; }

bool diagram_ending_of(const char *file, enum diagram_format *format)
{
    size_t length = strlen(file);
    for (int i = 0; i < DIAGRAM_FORMATS; i++)
        if (length > strlen(endings[i]) &&
            g_ascii_strcasecmp(file + length - strlen(endings[i]), endings[i]) == 0) {
            *format = (enum diagram_format)i;
            return true;
        }
    return false;
}

const char *diagram_no_range(const struct view *view, enum diagram_range range)
{
    struct ref ends[2];
    if (range == DIAGRAM_SEEN && view->camera.place.far)
        return "Zoom in to the marks first";
    if (range == DIAGRAM_SELECTED &&
        (!view->camera.place.selected.line || !view->camera.place.second.line))
        return "Select two events first: click one, Ctrl+click another";
    if (range == DIAGRAM_NOTES && !notes_ends(view, ends))
        return "Write two notes first (Ctrl+D)";
    return NULL;
}

const char *diagram_wrong_last(const char *last)
{
    guint64 n;
    return g_ascii_string_to_unsigned(last, 10, 1, LIMIT_COLUMNS, &n, NULL)
               ? NULL
               : "How many columns? A number, as in 40";
}

/* Less than 0: it is none. */
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

const char *diagram_wrong_width(const char *width)
{
    double mm = width_mm(width);
    return mm >= 10 && mm <= 5000 ? NULL : "How wide? 10 to 5000 mm, as in 84, 84 mm or 17 cm";
}

/* The two selected events, the one before the other first. */
static void selected_ends(const struct view *view, struct ref ends[2])
{
    const struct ties *ties = &view->ties;
    bool turned = ties->related == ORDER_AFTER ||
                  (ties->related != ORDER_BEFORE && ties->span.known && ties->span.ns < 0);
    ends[turned] = view->camera.place.selected;
    ends[!turned] = view->camera.place.second;
}

/* ---- the command ---- */

static char *program(void)
{
    char path[PATH_MAX];
    return g_strdup(installed_path("bin/poet", X_OK, path, sizeof path) ? path : "poet");
}

char *diagram_source(struct view *view)
{
    const struct source *source = &view->link.source;
    return source->is_file ? g_strdup(source->name)
                           : g_strdup_printf("%.*s#%u", (int)strcspn(source->name, "#"),
                                             source->name, the_book(view)->run.number);
}

static void add(GPtrArray *to, const char *word) { g_ptr_array_add(to, g_strdup(word)); }

static void add_range(GPtrArray *to, const struct view *view, const struct diagram *d, unsigned few)
{
    struct ref ends[2];
    char at[48];
    guint64 last = g_ascii_strtoull(d->last, NULL, 10);
    if (d->range == DIAGRAM_WHOLE && !few) {
        add(to, "--all");
    } else if (d->range == DIAGRAM_LAST) {
        add(to, "--last");
        g_ptr_array_add(to, g_strdup_printf("%u", few && last > few ? few : (unsigned)last));
    } else if (d->range == DIAGRAM_SELECTED || d->range == DIAGRAM_NOTES) {
        if (d->range == DIAGRAM_SELECTED || !notes_ends(view, ends))
            selected_ends(view, ends);
        for (int i = 0; i < 2; i++) {
            ref_print(at, sizeof at, ends[i]);
            add(to, i ? "--to" : "--from");
            add(to, at);
        }
    }
}

static void add_form(GPtrArray *to, const struct diagram *d)
{
    bool drawn = d->format != DIAGRAM_TEXT && d->format != DIAGRAM_PAGE;
    if (drawn && d->size == DIAGRAM_WIDTH) {
        char number[G_ASCII_DTOSTR_BUF_SIZE];
        add(to, "--width");
        g_ptr_array_add(to, g_strdup_printf("%smm", g_ascii_formatd(number, sizeof number, "%.2f",
                                                                    width_mm(d->width))));
    } else if (drawn && d->size == DIAGRAM_PAPER) {
        add(to, "--paper");
        add(to, diagram_papers[d->paper].name);
    }
    if (*d->caption) {
        add(to, "--caption");
        add(to, d->caption);
    }
    if (!d->title)
        add(to, "--no-title");
    if (!d->notes)
        add(to, "--no-notes");
}

static char **command(struct view *view, const struct diagram *d, const char *file,
                      const char *view_file, unsigned few)
{
    GPtrArray *words = g_ptr_array_new();
    g_ptr_array_add(words, program());
    add(words, "export");
    g_ptr_array_add(words, diagram_source(view));
    add(words, "-o");
    add(words, file);
    add(words, "--view");
    add(words, view_file);
    add_range(words, view, d, few);
    add_form(words, d);
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

GSubprocess *diagram_start(struct view *view, const struct diagram *d, const char *file,
                           unsigned few, char **view_file, GError **error)
{
    struct look look = view->settings.look;
    look.grey = d->grey;
    look.dark = d->dark;
    look.legend = d->legend;
    int fd = g_file_open_tmp("poet-XXXXXX.view", view_file, error);
    if (fd < 0)
        return NULL;
    close(fd);
    if (!views_write_as(view, *view_file, &look, d->range == DIAGRAM_WHOLE ? few : 0)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "the view could not be written");
        return NULL;
    }
    char **words = command(view, d, file, *view_file, few);
    GSubprocess *process =
        g_subprocess_newv((const char *const *)words, G_SUBPROCESS_FLAGS_STDERR_PIPE, error);
    g_strfreev(words);
    return process;
}

const char *diagram_plainly(const char *complaints)
{
    const char *name = "poet export: ";
    return g_str_has_prefix(complaints, name) ? complaints + strlen(name) : complaints;
}
