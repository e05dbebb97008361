#include "clients/view/patience.h"

#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/view.h"

#define PATIENCE_US 1000000

struct patience {
    guint timer;
    gint64 since_us; /* a picture is waited for; 0: it is not */
    bool out;        /* it was told */
};

static gboolean on_patience(gpointer data)
{
    struct view *view = data;
    struct patience *p = view->patience;
    bool waits = inquiry_runs(&view->link, &view->picture.placing) ||
                 inquiry_runs(&view->link, &view->far.counting);
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
    if (!view->patience)
        view->patience = g_new0(struct patience, 1);
    view->patience->timer = g_timeout_add(250, on_patience, view);
}

void patience_end(struct view *view)
{
    struct patience *p = view->patience;
    if (p && p->timer)
        g_source_remove(p->timer);
    if (p)
        p->timer = 0;
}

bool patience_is_out(const struct view *view) { return view->patience && view->patience->out; }

void patience_give_up(struct view *view)
{
    inquiry_cancel(&view->link, &view->picture.placing);
    inquiry_cancel(&view->link, &view->far.counting);
    view->patience->out = false;
}
