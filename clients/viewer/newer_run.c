#include "clients/viewer/newer_run.h"

#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/toast.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/run_chooser.h"

/* Only at the end, where the run is followed, and with nothing selected, is nothing taken away. */
void newer_run_watch(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    bool goes =
        !view->server_link.has_run ||
        (p->follow && !p->selected.line && view->server_link.newest && !view->newer_run_pending);
    server_link_set_feed(&view->server_link, goes ? FEED_ON : FEED_STAY);
}

static void newer_run_select_newest(void *user)
{
    struct view *view = user;
    server_link_select(&view->server_link, "");
}

void newer_run_on_begun(struct view *view, const char *name)
{
    char *text = g_strdup_printf("%s started", name);
    view->newer_run_pending = true;
    toast_show(&view->toast, text, "_Show", newer_run_select_newest, view);
    run_chooser_request(view);
    g_free(text);
}

void newer_run_on_shown(struct view *view)
{
    view->newer_run_pending = false;
    toast_hide(&view->toast);
    newer_run_watch(view);
}
