#include "clients/viewer/html_share.h"

#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/clipboard_save.h"

#define WHOLE_MOST 20000u /* events of a run that a page holds (WEBPAGE_EVENTS) */

static void on_chosen(void *user, const char *path)
{
    struct view *view = user;
    if (!path)
        return;
    char *file =
        g_str_has_suffix(path, ".html") ? g_strdup(path) : g_strconcat(path, ".html", NULL);
    save_diagram(view, file, view_metadata(view)->run.events <= WHOLE_MOST);
    g_free(file);
}

void html_share_ask(struct view *view)
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
                       on_chosen, view);
    g_free(name);
}
