#include "clients/view/parts/ties.h"

#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/news.h"
#include "wire/found.h"
#include "wire/ref.h"
#include "wire/shown.h"

#define CLICK_MS 100u /* what the counts of a click may cost the server */

static void take_order(void *user, const struct answer *answer)
{
    struct ties *ties = user;
    if (answer->part != PART_ORDER)
        return;
    ties->related = (int8_t)(get_u8(answer->in) - 1);
    ties->reasons = get_u32(answer->in);
    news_tell(ties->news, NEWS_RELATED);
}

static void free_chain(struct ties *ties)
{
    for (uint32_t i = 0; i < ties->chain_count; i++)
        shown_event_free(&ties->events[i]);
    g_clear_pointer(&ties->chain, g_free);
    g_clear_pointer(&ties->events, g_free);
    ties->chain_count = ties->chain_room = 0;
}

void ties_clear(struct ties *ties)
{
    free_chain(ties);
    ties->related = -1;
    ties->reasons = 0;
    ties->count = (struct shown_count){0};
    shown_span_free(&ties->span);
}

static void begin_chain(struct ties *ties, uint32_t length)
{
    if (!length)
        return;
    free_chain(ties);
    ties->chain = g_new0(struct ref, length);
    ties->events = g_new0(struct shown_event, length);
    ties->chain_room = length;
}

static void add_to_chain(struct ties *ties, struct in *in)
{
    struct shown_event event;
    get_event(in, &event);
    if (in_done(in) && ties->chain_count < ties->chain_room) {
        ties->chain[ties->chain_count] = event.at;
        ties->events[ties->chain_count++] = event;
    } else {
        shown_event_free(&event);
    }
}

static void take_chain(void *user, const struct answer *answer)
{
    struct ties *ties = user;
    if (answer->part == PART_CHAIN) {
        get_u8(answer->in);
        begin_chain(ties, get_count(answer->in, 12));
    }
    if (answer->part == PART_EVENT) {
        add_to_chain(ties, answer->in);
        news_tell(ties->news, NEWS_LOOK);
    }
    news_tell(ties->news, NEWS_RELATED);
}

static void take_span(void *user, const struct answer *answer)
{
    struct ties *ties = user;
    if (answer->part != PART_SPAN)
        return;
    shown_span_free(&ties->span);
    get_span(answer->in, &ties->span);
    news_tell(ties->news, NEWS_RELATED);
}

static void ask_span(struct ties *ties, struct ref from, struct ref to)
{
    struct out body = {0};
    put_ref(&body, from);
    put_ref(&body, to);
    put_u32(&body, CLICK_MS);
    inquiry_ask(ties->link, &ties->spanning, ASK_SPAN, &body, take_span, ties);
}

/* The chain is asked for in either direction: it may go either way. */
void ties_ask(struct ties *ties, struct ref selected, struct ref second)
{
    struct ref ends[2] = {selected, second};
    struct out body = {0};
    inquiry_cancel(ties->link, &ties->ordering);
    inquiry_cancel(ties->link, &ties->chaining[0]);
    inquiry_cancel(ties->link, &ties->chaining[1]);
    inquiry_cancel(ties->link, &ties->spanning);
    shown_span_free(&ties->span);
    if (!ends[0].line || !ends[1].line)
        return;
    put_ref(&body, ends[0]);
    put_ref(&body, ends[1]);
    free_chain(ties);
    news_tell(ties->news, NEWS_LOOK);
    ask_span(ties, selected, second);
    inquiry_ask(ties->link, &ties->ordering, ASK_ORDER, &body, take_order, ties);
    for (int way = 0; way < 2; way++) {
        body = (struct out){0};
        put_ref(&body, ends[way]);
        put_ref(&body, ends[!way]);
        inquiry_ask(ties->link, &ties->chaining[way], ASK_WHY, &body, take_chain, ties);
    }
}

static void take_count(void *user, const struct answer *answer)
{
    struct ties *ties = user;
    if (answer->part == PART_COUNT)
        get_count_is(answer->in, &ties->count);
    ties->counts_on &= !answer->last;
    news_tell(ties->news, NEWS_RELATED);
}

void ties_count(struct ties *ties, struct ref selected, bool on)
{
    struct out body = {0};
    ties_count_stop(ties);
    if (!selected.line)
        return;
    ties->counts_on = on;
    put_ref(&body, selected);
    put_u32(&body, on ? 0 : CLICK_MS);
    inquiry_ask(ties->link, &ties->counting, ASK_COUNT, &body, take_count, ties);
}

void ties_count_stop(struct ties *ties)
{
    inquiry_cancel(ties->link, &ties->counting);
    ties->counts_on = false;
}

bool ties_stuck(struct ties *ties, const struct ref *pairs, uint32_t count)
{
    bool same = count == ties->stuck_count;
    for (uint32_t i = 0; same && i < count; i++)
        same = ref_equal(pairs[i], ties->stuck[i]);
    if (same)
        return false;
    g_free(ties->stuck);
    ties->stuck = count ? g_memdup2(pairs, count * sizeof *pairs) : NULL;
    ties->stuck_count = count;
    news_tell(ties->news, NEWS_LOOK);
    return true;
}
