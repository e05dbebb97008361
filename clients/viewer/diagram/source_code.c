#include "clients/viewer/diagram/source_code.h"

#include "clients/symbols/safe_open.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/diagram/viewer.h"
#include "wire/trace_view.h"

#include <stdlib.h>

#define LINES_AROUND 3
#define SOURCE_BYTES (8u << 20)

/* ---- source lines ---- */

static char *source_code_path(const struct symbol_location *site)
{
    if (*site->path && g_file_test(site->path, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(site->path,
                                       NULL); /* as "-x" would be an option of the editor */
    char *name = g_path_get_basename(site->path);
    bool here = *site->path && g_file_test(name, G_FILE_TEST_IS_REGULAR);
    char *path = here ? g_canonicalize_filename(name, NULL) : NULL;
    g_free(name);
    return path;
}

void source_code_append_lines(GString *s, const struct symbol_location *site)
{
    char *path = source_code_path(site);
    char *text = path && site->line > 0 ? safe_open_read(path, SOURCE_BYTES, NULL) : NULL;
    if (!text) {
        g_free(path);
        return;
    }
    char **lines = g_strsplit(text, "\n", site->line + LINES_AROUND + 1);
    int count = (int)g_strv_length(lines);
    g_string_append(s, "<tt><small>");
    for (int i = MAX(site->line - LINES_AROUND, 1); i <= site->line + LINES_AROUND && i <= count;
         i++) {
        char *valid = g_utf8_make_valid(lines[i - 1], -1), *line = g_markup_escape_text(valid, -1);
        g_string_append_printf(s, i == site->line ? "<b>%4d %s</b>\n" : "%4d %s\n", i, line);
        g_free(line);
        g_free(valid);
    }
    g_string_append(s, "</small></tt>\n");
    g_strfreev(lines);
    free(text);
    g_free(path);
}

/* ---- in an editor ---- */

/* Passes +LINE, which vi, emacs, nano, gedit and others understand. */
static void source_code_spawn_editor(struct view *view, const char *editor, const char *path,
                                     int line)
{
    GError *error = NULL;
    char *quoted = g_shell_quote(path);
    char *command = g_strdup_printf("%s +%d %s", editor, line, quoted);
    if (!g_spawn_command_line_async(command, &error))
        status_line_show(&view->status_line, "%s: %s", editor, error->message);
    g_clear_error(&error);
    g_free(command);
    g_free(quoted);
}

void source_code_open(struct view *view, const char *path, int line)
{
    const char *editor = view->viewer_settings.editor && *view->viewer_settings.editor
                             ? view->viewer_settings.editor
                         : g_getenv("VISUAL") ? g_getenv("VISUAL")
                                              : g_getenv("EDITOR");
    if (editor) {
        source_code_spawn_editor(view, editor, path, line);
        return;
    }
    compat_show_file(GTK_WINDOW(view->window), path);
}

void source_code_open_selected(struct view *view)
{
    const struct event_info *e =
        scene_cache_find_event(&view->scene_cache, view->viewport.place.selected);
    if (!e || !e->site) {
        status_line_show(&view->status_line, view->viewport.place.selected.line
                                                 ? "The selected event has no call site"
                                                 : "Select an event first");
        return;
    }
    struct symbol_location site = symbolize(view->server_link.sites, e->process, e->site);
    char *path = source_code_path(&site);
    if (path)
        source_code_open(view, path, site.line);
    else
        status_line_show(&view->status_line, "%s: source file not found", site.place);
    g_free(path);
}
