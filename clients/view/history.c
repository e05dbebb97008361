/* Undo and redo: places as they were. */
#include "clients/view/view.h"

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

void history_mark(struct view *view, const char *what)
{
    struct history *h = &view->history;
    gint64 now = g_get_monotonic_time();
    bool same = h->last && is_small(what) && g_strcmp0(h->last, what) == 0 && now - h->last_us < ONE_STEP_US;
    h->last = what;
    h->last_us = now;
    if (same && h->back_count)
        return;
    if (!h->back_count || !place_equal(&h->back[h->back_count - 1], &view->place))
        push(&h->back, &h->back_count, &view->place);
    empty(&h->forth, &h->forth_count);
    actions_update(view);
}

static void go(struct view *view, struct place **from, uint32_t *from_count, struct place **to,
               uint32_t *to_count)
{
    if (!*from_count)
        return;
    if (view->reselect_timer)
        g_source_remove(view->reselect_timer);
    view->reselect_timer = 0;
    push(to, to_count, &view->place);
    place_copy(&view->place, &(*from)[--*from_count]);
    place_free(&(*from)[*from_count]);
    view->history.last = NULL;
    view->hold.active = false;
    ties_clear(&view->ties);
    stage_stale(view);
    link_window(view);
    ties_count(view);
    ties_ask(view);
    panels_tell(view, NEWS_SELECTED);
    settings_apply(view);
    actions_update(view);
}

void history_undo(struct view *view)
{
    struct history *h = &view->history;
    while (h->back_count && place_equal(&h->back[h->back_count - 1], &view->place))
        place_free(&h->back[--h->back_count]);
    go(view, &h->back, &h->back_count, &h->forth, &h->forth_count);
}

void history_redo(struct view *view)
{
    struct history *h = &view->history;
    go(view, &h->forth, &h->forth_count, &h->back, &h->back_count);
}

void history_clear(struct view *view)
{
    empty(&view->history.back, &view->history.back_count);
    empty(&view->history.forth, &view->history.forth_count);
    view->history.last = NULL;
}
