#include "server/run/annotations.h"

#include "base/alloc.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

#define DISCARD_TEXTS 256u /* map entries that are examined in one step */

const struct run_text *annotations_add(struct annotations *annotations, struct event_id at,
                                       const char *text)
{
    struct run_text *first = map_get(&annotations->events, at.line, at.number);
    if (first && first->count >= LIMIT_TEXTS)
        return NULL;
    if (first && first->count == LIMIT_TEXTS - 1)
        text = "further texts of this event are not kept";
    size_t n = text_cut(text, LIMIT_TEXT_BYTES);
    struct run_text *t = xmalloc(sizeof *t + n + 1);
    memcpy(t->text, text, n);
    t->text[n] = 0;
    t->next = NULL;
    t->last = t;
    t->count = 1;
    if (first) {
        first->last = first->last->next = t;
        first->count++;
    } else {
        map_put(&annotations->events, at.line, at.number, t);
    }
    annotations->count++;
    return t;
}

const struct run_text *annotations_at(const struct annotations *annotations, struct event_id at)
{
    return annotations->count ? map_get(&annotations->events, at.line, at.number) : NULL;
}

static void annotations_free_texts(struct run_text *first)
{
    for (struct run_text *t = first, *next; t; t = next) {
        next = t->next;
        free(t);
    }
}

static bool annotations_are_discarded(void *order, uint64_t line, uint64_t number, void *text)
{
    if (!order_is_discarded(order, (struct event_id){(uint32_t)line, number}))
        return false;
    annotations_free_texts(text);
    return true;
}

bool annotations_discard_step(struct annotations *annotations, struct map_removal *removal,
                              struct order *order)
{
    return map_remove_if(&annotations->events, removal, DISCARD_TEXTS, annotations_are_discarded,
                         order);
}

void annotations_free(struct annotations *annotations)
{
    for (struct map_walk walk = {.map = &annotations->events}; map_next(&walk);)
        annotations_free_texts(walk.value);
    map_free(&annotations->events);
}
