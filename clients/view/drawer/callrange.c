#include "clients/view/drawer/callrange.h"

#include "clients/view/parts/tabled.h"
#include "clients/view/picture/view.h"

void callrange_ask(struct callrange *range, struct view *view, struct table_request *r)
{
    const struct place *place = &view->camera.place;
    const struct shown_event *one = stage_event(&view->stage, place->selected),
                             *other = place->second.line ? stage_event(&view->stage, place->second)
                                                         : NULL;
    *range = (struct callrange){place->selected, place->second};
    if (!one || !other || one->time_ns == other->time_ns)
        return;
    bool turned = other->time_ns < one->time_ns;
    r->from = (struct table_end){.is = TABLE_AT_EVENT, .event = turned ? other->at : one->at};
    r->to = (struct table_end){.is = TABLE_AT_EVENT, .event = turned ? one->at : other->at};
    tabled_option(r, "coarse", "1");
}

bool callrange_is_another(const struct callrange *range, const struct view *view)
{
    const struct place *place = &view->camera.place;
    return !ref_equal(range->second, place->second) ||
           (place->second.line && !ref_equal(range->selected, place->selected));
}
