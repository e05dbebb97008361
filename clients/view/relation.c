/* How the two selected events stand to each other, by which chain, and how many stand how to the one. */
#include "clients/view/view.h"

static void take_order(void *user, const struct answer *answer)
{
    struct view *view = user;
    if (answer->part != PART_ORDER)
        return;
    view->stage.related = (int8_t)(get_u8(answer->in) - 1);
    view->stage.reasons = get_u32(answer->in);
    panels_tell(view, NEWS_RELATED);
}

static void begin_chain(struct stage *stage, uint32_t length)
{
    if (!length)
        return;
    stage_chain_free(stage);
    stage->chain = g_new0(struct ref, length);
    stage->chain_events = g_new0(struct shown_event, length);
    stage->chain_room = length;
}

static void take_chain(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct stage *stage = &view->stage;
    struct shown_event event;
    if (answer->part == PART_CHAIN) {
        get_u8(answer->in);
        begin_chain(stage, get_count(answer->in, 12));
    }
    if (answer->part == PART_EVENT) {
        get_event(answer->in, &event);
        if (in_done(answer->in) && stage->chain_count < stage->chain_room) {
            stage->chain[stage->chain_count] = event.at;
            stage->chain_events[stage->chain_count++] = event;
        } else {
            shown_event_free(&event);
        }
        stage_stale(view);
    }
    panels_tell(view, NEWS_RELATED);
}

/* How they stand, then the chain, whichever way it goes. */
void relation_ask(struct view *view)
{
    struct ref ends[2] = {view->place.selected, view->place.second};
    struct out body = {0};
    inquiry_cancel(view, &view->relating);
    inquiry_cancel(view, &view->chaining[0]);
    inquiry_cancel(view, &view->chaining[1]);
    if (!ends[0].line || !ends[1].line)
        return;
    put_ref(&body, ends[0]);
    put_ref(&body, ends[1]);
    stage_chain_free(&view->stage);
    inquiry_ask(view, &view->relating, ASK_ORDER, &body, take_order);
    for (int way = 0; way < 2; way++) {
        body = (struct out){0};
        put_ref(&body, ends[way]);
        put_ref(&body, ends[!way]);
        inquiry_ask(view, &view->chaining[way], ASK_WHY, &body, take_chain);
    }
}

static void take_count(void *user, const struct answer *answer)
{
    struct view *view = user;
    if (answer->part == PART_COUNT)
        get_count_is(answer->in, &view->count);
    panels_tell(view, NEWS_RELATED);
}

void relation_count(struct view *view)
{
    struct out body = {0};
    inquiry_cancel(view, &view->counting);
    if (!view->place.selected.line)
        return;
    put_ref(&body, view->place.selected);
    inquiry_ask(view, &view->counting, ASK_COUNT, &body, take_count);
}
