#include "clients/viewer/diagram/relation_colors.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/diagram/viewer.h"

static void relation_colors_continue_request(struct view *view);

static void relation_colors_receive(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    relation_query_receive(&view->relation_colors.stands, answer);
    if (answer->last && !answer->in->error)
        relation_colors_continue_request(view);
}

static void relation_colors_continue_request(struct view *view)
{
    struct relation_colors *colour = &view->relation_colors;
    struct encoder body = {0};
    if (relation_query_send(&colour->stands, view->viewport.place.selected, &body)) {
        request_slot_send(&view->server_link, &colour->standing, REQUEST_RELATIONS, &body,
                          relation_colors_receive, view);
        return;
    }
    view->scene_cache.coloured = true;
    notify_listener(&view->listener, NOTIFY_LOOK);
    notify_listener(&view->listener, NOTIFY_EVENT_RELATIONS);
}

void relation_colors_request(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    if (!view->server_link.connected || !view->scene_cache.scene || !p->selected.line || !p->stands)
        return;
    view->relation_colors.stands = (struct event_relations){&view->scene_cache.window, 0};
    relation_colors_continue_request(view);
}
