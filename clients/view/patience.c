#include "clients/view/patience.h"

#include "clients/view/inquiry.h"
#include "clients/view/status.h"
#include "clients/view/view.h"

#define PATIENCE_US 1000000

static gboolean on_patience(gpointer data)
{
    struct view *view = data;
    struct patience *p = &view->patience;
    bool waits = inquiry_runs(&view->link, &view->picture.placing) || inquiry_runs(&view->link, &view->far.counting);
    gint64 now = g_get_monotonic_time();
    p->since_us = waits ? p->since_us ? p->since_us : now : 0;
    if (waits && !p->out && now - p->since_us > PATIENCE_US) {
        p->out = true;
        status_busy(&view->status, "Waiting for the server", -1);
    } else if (!waits && p->out) {
        p->out = false;
        status_busy(&view->status, NULL, 0);
    }
    return G_SOURCE_CONTINUE;
}

void patience_begin(struct view *view)
{
    patience_end(view);
    view->patience.timer = g_timeout_add(250, on_patience, view);
}

void patience_end(struct view *view)
{
    if (view->patience.timer)
        g_source_remove(view->patience.timer);
    view->patience.timer = 0;
}

void patience_give_up(struct view *view)
{
    inquiry_cancel(&view->link, &view->picture.placing);
    inquiry_cancel(&view->link, &view->far.counting);
    view->patience.out = false;
}
