#include "clients/viewer/progress_row.h"

#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/diagram/viewer.h"

#define TIMEOUT_US 1000000

struct progress_row {
    guint timer;
    gint64 since_us; /* since when a diagram is pending; 0: none is */
    bool out;        /* the progress is shown */
};

static const struct viewer_addon progress_row_addon = {"progress_row", sizeof(struct progress_row)};

static struct progress_row *progress_row_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &progress_row_addon);
}

static gboolean progress_row_on_timeout(gpointer data)
{
    struct view *view = data;
    struct progress_row *p = progress_row_find(view);
    bool waits = request_slot_is_running(&view->server_link, &view->diagram_view.placing) ||
                 request_slot_is_running(&view->server_link, &view->overview.counting);
    gint64 now = g_get_monotonic_time();
    p->since_us = waits ? p->since_us ? p->since_us : now : 0;
    if (waits && !p->out && now - p->since_us > TIMEOUT_US) {
        p->out = true;
        status_line_show_progress(&view->status_line, "Waiting for the server", -1);
    } else if (!waits && p->out) {
        p->out = false;
        status_line_show_progress(&view->status_line, NULL, 0);
    }
    return G_SOURCE_CONTINUE;
}

void progress_row_begin(struct view *view)
{
    progress_row_end(view);
    struct progress_row *progress = progress_row_find(view);
    if (!progress)
        progress = viewer_addons_add(&view->addons, &progress_row_addon);
    progress->timer = g_timeout_add(250, progress_row_on_timeout, view);
}

void progress_row_end(struct view *view)
{
    struct progress_row *p = progress_row_find(view);
    if (p && p->timer)
        g_source_remove(p->timer);
    if (p)
        p->timer = 0;
}

bool progress_row_is_shown(const struct view *view)
{
    struct progress_row *progress = progress_row_find(view);
    return progress && progress->out;
}

void progress_row_give_up(struct view *view)
{
    request_slot_cancel(&view->server_link, &view->diagram_view.placing);
    request_slot_cancel(&view->server_link, &view->overview.counting);
    progress_row_find(view)->out = false;
}
