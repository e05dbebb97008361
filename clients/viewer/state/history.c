#include "clients/viewer/state/history.h"

#include <string.h>

#define PLACES_MOST 4000u
#define ONE_STEP_US                                                                                \
    700000 /* small changes of one kind are merged if they follow each other within this time */

static bool is_small(const char *what)
{
    return strcmp(what, "scroll") == 0 || strcmp(what, "zoom") == 0 || strcmp(what, "rows") == 0 ||
           strcmp(what, "time") == 0;
}

static void history_push_place(struct view_state **stack, uint32_t *count,
                               const struct view_state *place)
{
    if (*count == PLACES_MOST) {
        view_state_free(&(*stack)[0]);
        memmove(*stack, *stack + 1, (PLACES_MOST - 1) * sizeof **stack);
        --*count;
    }
    *stack = g_renew(struct view_state, *stack, *count + 1);
    (*stack)[*count] = (struct view_state){0};
    view_state_copy(&(*stack)[(*count)++], place);
}

static void history_free_places(struct view_state **stack, uint32_t *count)
{
    while (*count)
        view_state_free(&(*stack)[--*count]);
    g_clear_pointer(stack, g_free);
}

void history_mark(struct view_history *h, const char *what)
{
    gint64 now = g_get_monotonic_time();
    bool same = h->last && is_small(what) && g_strcmp0(h->last, what) == 0 &&
                now - h->last_us < ONE_STEP_US;
    h->last = what;
    h->last_us = now;
    if (same && h->back_count)
        return;
    if (!h->back_count || !view_state_equal(&h->back[h->back_count - 1], h->place))
        history_push_place(&h->back, &h->back_count, h->place);
    history_free_places(&h->forth, &h->forth_count);
    notifier_emit(h->notifier, NOTIFY_ACTIONS);
}

static void history_restore(struct view_history *h, struct view_state **from, uint32_t *from_count,
                            struct view_state **to, uint32_t *to_count)
{
    if (!*from_count)
        return;
    history_push_place(to, to_count, h->place);
    view_state_copy(h->place, &(*from)[--*from_count]);
    view_state_free(&(*from)[*from_count]);
    h->last = NULL;
    notifier_emit(h->notifier, NOTIFY_RESTORED);
}

void history_undo(struct view_history *h)
{
    while (h->back_count && view_state_equal(&h->back[h->back_count - 1], h->place))
        view_state_free(&h->back[--h->back_count]);
    history_restore(h, &h->back, &h->back_count, &h->forth, &h->forth_count);
}

void history_redo(struct view_history *h)
{
    history_restore(h, &h->forth, &h->forth_count, &h->back, &h->back_count);
}

void history_clear(struct view_history *h)
{
    history_free_places(&h->back, &h->back_count);
    history_free_places(&h->forth, &h->forth_count);
    h->last = NULL;
}
