/* How the two selected events stand to each other, by which chain, and how many stand how to the one. */
#include "clients/view/view.h"
#include "wire/ref.h"

static void take_order(void *user, const struct answer *answer)
{
    struct view *view = user;
    if (answer->part != PART_ORDER)
        return;
    view->ties.related = (int8_t)(get_u8(answer->in) - 1);
    view->ties.reasons = get_u32(answer->in);
    panels_tell(view, NEWS_RELATED);
}

static void free_chain(struct ties *r)
{
    for (uint32_t i = 0; i < r->chain_count; i++)
        shown_event_free(&r->events[i]);
    g_clear_pointer(&r->chain, g_free);
    g_clear_pointer(&r->events, g_free);
    r->chain_count = r->chain_room = 0;
}

void ties_clear(struct ties *r)
{
    free_chain(r);
    r->related = -1;
    r->reasons = 0;
    r->count = (struct shown_count){0};
}

static void begin_chain(struct ties *r, uint32_t length)
{
    if (!length)
        return;
    free_chain(r);
    r->chain = g_new0(struct ref, length);
    r->events = g_new0(struct shown_event, length);
    r->chain_room = length;
}

static void add_to_chain(struct ties *r, struct in *in)
{
    struct shown_event event;
    get_event(in, &event);
    if (in_done(in) && r->chain_count < r->chain_room) {
        r->chain[r->chain_count] = event.at;
        r->events[r->chain_count++] = event;
    } else {
        shown_event_free(&event);
    }
}

static void take_chain(void *user, const struct answer *answer)
{
    struct view *view = user;
    if (answer->part == PART_CHAIN) {
        get_u8(answer->in);
        begin_chain(&view->ties, get_count(answer->in, 12));
    }
    if (answer->part == PART_EVENT) {
        add_to_chain(&view->ties, answer->in);
        stage_stale(view);
    }
    panels_tell(view, NEWS_RELATED);
}

/* How they stand, then the chain, whichever way it goes. */
void ties_ask(struct view *view)
{
    struct ref ends[2] = {view->place.selected, view->place.second};
    struct out body = {0};
    inquiry_cancel(view, &view->ties.ordering);
    inquiry_cancel(view, &view->ties.chaining[0]);
    inquiry_cancel(view, &view->ties.chaining[1]);
    if (!ends[0].line || !ends[1].line)
        return;
    put_ref(&body, ends[0]);
    put_ref(&body, ends[1]);
    free_chain(&view->ties);
    stage_stale(view);
    inquiry_ask(view, &view->ties.ordering, ASK_ORDER, &body, take_order);
    for (int way = 0; way < 2; way++) {
        body = (struct out){0};
        put_ref(&body, ends[way]);
        put_ref(&body, ends[!way]);
        inquiry_ask(view, &view->ties.chaining[way], ASK_WHY, &body, take_chain);
    }
}

static void take_count(void *user, const struct answer *answer)
{
    struct view *view = user;
    if (answer->part == PART_COUNT)
        get_count_is(answer->in, &view->ties.count);
    panels_tell(view, NEWS_RELATED);
}

void ties_count(struct view *view)
{
    struct out body = {0};
    inquiry_cancel(view, &view->ties.counting);
    if (!view->place.selected.line)
        return;
    put_ref(&body, view->place.selected);
    inquiry_ask(view, &view->ties.counting, ASK_COUNT, &body, take_count);
}
