#include "clients/viewer/diagram/wait_cause.h"

#include "clients/connection/wait_summary.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/table_model.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"

#include <stdlib.h>

/* For larger runs, a click does not trigger a query that examines the whole run; only an open
 * analysis pane does. */
#define EVENTS_MOST 1000000u

struct wait_cause {
    struct table_model why;
    struct event_id of, cause; /* of: the event of the request; line 0: none */
    char *text; /* NULL: not known (yet) */
    bool go_to; /* the cause, once it is known */
};

static const struct viewer_addon wait_cause_addon = {"wait_cause", sizeof(struct wait_cause)};

static struct wait_cause *wait_cause_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &wait_cause_addon);
}

static void wait_cause_go_to_cause(struct view *view, struct wait_cause *r)
{
    r->go_to = false;
    if (r->cause.line)
        go_to_event(view, r->cause, NO_POSITION);
    else
        status_line_show(&view->status_line, "No traced event ended this wait");
}

static void wait_cause_on_table(void *user)
{
    struct view *view = user;
    struct wait_cause *r = wait_cause_find(view);
    struct table_names names = {view_metadata(view), view->server_link.sites};
    if (!r->why.fresh)
        return;
    r->why.fresh = false;
    free(r->text);
    r->text = r->why.table.problem ? NULL : wait_summary_text(&names, &r->why.table, &r->cause);
    notifier_emit(&view->notifier, NOTIFY_WAIT_CAUSE);
    if (r->go_to)
        wait_cause_go_to_cause(view, r);
}

static struct wait_cause *wait_cause_state(struct view *view)
{
    struct wait_cause *state = wait_cause_find(view);
    if (!state) {
        state = viewer_addons_add(&view->addons, &wait_cause_addon);
        state->why = (struct table_model){
            .link = &view->server_link, .on_table = wait_cause_on_table, .user = view};
    }
    return state;
}

static void wait_cause_reset(struct view *view)
{
    struct wait_cause *r = wait_cause_state(view);
    table_model_clear(&r->why);
    free(r->text);
    r->text = NULL;
    r->go_to = false;
    r->of = r->cause = (struct event_id){0};
}

void wait_cause_request(struct view *view, struct event_id at)
{
    struct wait_cause *r = wait_cause_state(view);
    if (event_id_equal(r->of, at) && at.line)
        return;
    wait_cause_reset(view);
    r->of = at;
    if (at.line && view->server_link.connected && view->server_link.has_run) {
        char event[48];
        struct table_request request = table_model_request("why", "");
        event_id_print(event, sizeof event, at);
        table_model_set_option(&request, "event", event);
        table_model_send(&r->why, &request);
    }
    notifier_emit(&view->notifier, NOTIFY_WAIT_CAUSE);
}

const char *wait_cause_sentence(const struct view *view, const struct event_id *at)
{
    const struct wait_cause *r = wait_cause_find(view);
    return r && (!at || event_id_equal(*at, r->of)) ? r->text : NULL;
}

void wait_cause_go_to(struct view *view)
{
    struct wait_cause *r = wait_cause_state(view);
    if (!r->of.line)
        status_line_show(&view->status_line, "Select a wait");
    else if (r->text)
        wait_cause_go_to_cause(view, r);
    else
        r->go_to = true;
}

void wait_cause_on_notification(struct view *view, enum notification what)
{
    struct event_id at = view->viewport.place.selected;
    if ((what != NOTIFY_SELECTION && what != NOTIFY_DIAGRAM) || !at.line)
        return;
    const struct event_info *e = scene_cache_find_event(&view->scene_cache, at);
    bool may = view->viewer_settings.drawer || view->server_link.count <= EVENTS_MOST;
    if (e && e->waited_ns > 0 && may)
        wait_cause_request(view, at);
}

void wait_cause_clear(struct view *view)
{
    wait_cause_reset(view);
    notifier_emit(&view->notifier, NOTIFY_WAIT_CAUSE);
}
