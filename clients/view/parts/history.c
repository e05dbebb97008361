#include "clients/view/parts/history.h"

#include "clients/view/parts/news.h"

#include <string.h>

#define PLACES_MOST 4000u
#define ONE_STEP_US 700000 /* small steps of one sort that follow each other so soon are one */

static bool is_small(const char *what)
{
    return strcmp(what, "scroll") == 0 || strcmp(what, "zoom") == 0 || strcmp(what, "rows") == 0 ||
           strcmp(what, "time") == 0;
}

static void push(struct place **stack, uint32_t *count, const struct place *place)
{
    if (*count == PLACES_MOST) {
        place_free(&(*stack)[0]);
        memmove(*stack, *stack + 1, (PLACES_MOST - 1) * sizeof **stack);
        --*count;
    }
    *stack = g_renew(struct place, *stack, *count + 1);
    (*stack)[*count] = (struct place){0};
    place_copy(&(*stack)[(*count)++], place);
}

static void empty(struct place **stack, uint32_t *count)
{
    while (*count)
        place_free(&(*stack)[--*count]);
    g_clear_pointer(stack, g_free);
}

void history_mark(struct history *h, const char *what)
{
    gint64 now = g_get_monotonic_time();
    bool same = h->last && is_small(what) && g_strcmp0(h->last, what) == 0 &&
                now - h->last_us < ONE_STEP_US;
    h->last = what;
    h->last_us = now;
    if (same && h->back_count)
        return;
    if (!h->back_count || !place_equal(&h->back[h->back_count - 1], h->place))
        push(&h->back, &h->back_count, h->place);
    empty(&h->forth, &h->forth_count);
    news_tell(h->news, NEWS_SWITCHES);
}

static void go(struct history *h, struct place **from, uint32_t *from_count, struct place **to,
               uint32_t *to_count)
{
    if (!*from_count)
        return;
    push(to, to_count, h->place);
    place_copy(h->place, &(*from)[--*from_count]);
    place_free(&(*from)[*from_count]);
    h->last = NULL;
    news_tell(h->news, NEWS_RESTORED);
}

void history_undo(struct history *h)
{
    while (h->back_count && place_equal(&h->back[h->back_count - 1], h->place))
        place_free(&h->back[--h->back_count]);
    go(h, &h->back, &h->back_count, &h->forth, &h->forth_count);
}

void history_redo(struct history *h)
{
    go(h, &h->forth, &h->forth_count, &h->back, &h->back_count);
}

void history_clear(struct history *h)
{
    empty(&h->back, &h->back_count);
    empty(&h->forth, &h->forth_count);
    h->last = NULL;
}
