#include "clients/viewer/diagram/selection.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/selection_relations.h"
#include "clients/viewer/diagram/viewer.h"

static void selection_continue_colors(struct view *view);

static void selection_receive_colors(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    event_relations_receive(&view->selection_colors.relations, answer);
    if (answer->last && !answer->in->error)
        selection_continue_colors(view);
}

static void selection_continue_colors(struct view *view)
{
    struct selection_colors *colors = &view->selection_colors;
    struct encoder body = {0};
    if (event_relations_request(&colors->relations, view->viewport.place.selected, &body)) {
        request_slot_send(&view->server_link, &colors->slot, REQUEST_RELATIONS, &body,
                          selection_receive_colors, view);
        return;
    }
    view->scene_cache.colored = true;
    notifier_emit(&view->notifier, NOTIFY_LOOK);
    notifier_emit(&view->notifier, NOTIFY_EVENT_RELATIONS);
}

void selection_request_colors(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    if (!view->server_link.connected || !view->scene_cache.scene || !p->selected.line ||
        !p->color_relations)
        return;
    view->selection_colors.relations = (struct event_relations){&view->scene_cache.window, 0};
    selection_continue_colors(view);
}

void selection_set_silently(struct view *view, struct event_id at, bool second)
{
    struct view_state *p = &view->viewport.place;
    if (second)
        p->second = at;
    else
        p->selected = at;
    if (!second)
        p->second = (struct event_id){0, 0};
    selection_relations_clear(&view->selection_relations);
    view->scene_cache.colored = false;
    notifier_emit(&view->notifier, NOTIFY_LOOK);
    notifier_emit(&view->notifier, NOTIFY_SELECTION);
    selection_relations_count(&view->selection_relations, view->viewport.place.selected, false);
    selection_relations_request(&view->selection_relations, view->viewport.place.selected,
                                view->viewport.place.second);
    if (!at.line)
        return;
    selection_request_colors(view);
}

void selection_set(struct view *view, struct event_id at, bool second)
{
    struct view_state *p = &view->viewport.place;
    second = second && p->selected.line;
    if (second ? event_id_equal(p->second, at) : event_id_equal(p->selected, at) && !p->second.line)
        return;
    history_mark(&view->history, "select");
    selection_set_silently(view, at, second);
}

void selection_on_restored(struct view *view, enum notification what)
{
    const struct view_state *p = &view->viewport.place;
    (void)what;
    view->viewport.anchor.active = false;
    selection_relations_clear(&view->selection_relations);
    notifier_emit(&view->notifier, NOTIFY_LOOK);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
    selection_relations_count(&view->selection_relations, p->selected, false);
    selection_relations_request(&view->selection_relations, p->selected, p->second);
    notifier_emit(&view->notifier, NOTIFY_SELECTION);
    notifier_emit(&view->notifier, NOTIFY_SETTINGS);
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}
