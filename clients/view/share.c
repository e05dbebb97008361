#include "clients/view/share.h"

#include "clients/view/parts/compat.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/view.h"
#include "clients/view/save.h"

#define WHOLE_MOST 20000u /* events of a run that a page holds (WEBPAGE_EVENTS) */

static void on_chosen(void *user, const char *path)
{
    struct view *view = user;
    if (!path)
        return;
    char *file =
        g_str_has_suffix(path, ".html") ? g_strdup(path) : g_strconcat(path, ".html", NULL);
    save_export(view, file, the_book(view)->run.events <= WHOLE_MOST);
    g_free(file);
}

void share_page(struct view *view)
{
    if (!view->stage.scene || !view->link.has_run) {
        status_say(&view->status, "There is nothing to share yet");
        return;
    }
    char *name = g_strdup_printf("%s.html", the_book(view)->run.name);
    compat_ask_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                          .title = "Share as a web page",
                                          .saves = true,
                                          .name = name},
                    on_chosen, view);
    g_free(name);
}
