#include "clients/viewer/sidebar/code_panel.h"

#include "clients/symbols/safe_open.h"
#include "clients/symbols/symbolizer.h"
#include "clients/viewer/diagram/source_editor.h"
#include "clients/viewer/diagram/viewer.h"
#include "wire/trace_view.h"

#include <stdlib.h>

#define LINES_AROUND 3
#define SOURCE_BYTES (8u << 20)

static char *source_path(const struct symbol_location *site)
{
    if (*site->path && g_file_test(site->path, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(site->path,
                                       NULL); /* "-x" would be an option of the editor's */
    char *name = g_path_get_basename(site->path);
    bool here = *site->path && g_file_test(name, G_FILE_TEST_IS_REGULAR);
    char *path = here ? g_canonicalize_filename(name, NULL) : NULL;
    g_free(name);
    return path;
}

void code_panel_append_source(GString *s, const struct symbol_location *site)
{
    char *path = source_path(site);
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

void code_panel_open_editor(struct view *view)
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
    char *path = source_path(&site);
    if (path)
        source_editor_open(view, path, site.line);
    else
        status_line_show(&view->status_line, "%s: source file not found", site.place);
    g_free(path);
}
