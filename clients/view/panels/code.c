#include "clients/view/panels/code.h"

#include "clients/site/regular.h"
#include "clients/site/site.h"
#include "clients/view/picture/editor.h"
#include "clients/view/picture/view.h"
#include "wire/shown.h"

#include <stdlib.h>

#define LINES_AROUND 3
#define SOURCE_BYTES (8u << 20)

static char *source_path(const struct site_is *site)
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

void code_around(GString *s, const struct site_is *site)
{
    char *path = source_path(site);
    char *text = path && site->line > 0 ? regular_read(path, SOURCE_BYTES, NULL) : NULL;
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

void code_edit(struct view *view)
{
    const struct shown_event *e = stage_event(&view->stage, view->camera.place.selected);
    if (!e || !e->site) {
        status_say(&view->status, view->camera.place.selected.line
                                      ? "The selected event has no call site"
                                      : "Select an event first");
        return;
    }
    struct site_is site = sites_call(view->link.sites, e->process, e->site);
    char *path = source_path(&site);
    if (path)
        editor_open(view, path, site.line);
    else
        status_say(&view->status, "%s: its source is not here", site.place);
    g_free(path);
}
