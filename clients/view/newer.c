#include "clients/view/newer.h"

#include "clients/view/parts/link.h"
#include "clients/view/parts/toast.h"
#include "clients/view/picture/view.h"
#include "clients/view/runs.h"

/* Only at the end, where the run is followed, and with nothing selected, is nothing taken away. */
void newer_watch(struct view *view)
{
    const struct place *p = &view->camera.place;
    bool goes = !view->link.has_run ||
                (p->follow && !p->selected.line && view->link.newest && !view->newer_waits);
    link_feed(&view->link, goes ? FEED_ON : FEED_STAY);
}

static void show(void *user)
{
    struct view *view = user;
    link_select(&view->link, "");
}

void newer_begun(struct view *view, const char *name)
{
    char *text = g_strdup_printf("%s started", name);
    view->newer_waits = true;
    toast_show(&view->toast, text, "_Show", show, view);
    runs_ask(view);
    g_free(text);
}

void newer_shown(struct view *view)
{
    view->newer_waits = false;
    toast_hide(&view->toast);
    newer_watch(view);
}
