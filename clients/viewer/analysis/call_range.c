#include "clients/viewer/analysis/call_range.h"

#include "clients/viewer/state/table_model.h"
#include "clients/viewer/diagram/viewer.h"

void call_range_prepare(struct call_range *range, struct view *view, struct table_request *r)
{
    const struct view_state *place = &view->viewport.place;
    const struct event_info *one = scene_cache_find_event(&view->scene_cache, place->selected),
                            *other = place->second.line
                                         ? scene_cache_find_event(&view->scene_cache, place->second)
                                         : NULL;
    *range = (struct call_range){place->selected, place->second};
    if (!one || !other || one->time_ns == other->time_ns)
        return;
    bool turned = other->time_ns < one->time_ns;
    r->from = (struct table_end){.is = TABLE_AT_EVENT, .event = turned ? other->at : one->at};
    r->to = (struct table_end){.is = TABLE_AT_EVENT, .event = turned ? one->at : other->at};
    table_model_set_option(r, "coarse", "1");
}

bool call_range_has_changed(const struct call_range *range, const struct view *view)
{
    const struct view_state *place = &view->viewport.place;
    return !event_id_equal(range->second, place->second) ||
           (place->second.line && !event_id_equal(range->selected, place->selected));
}
