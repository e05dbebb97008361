/* Occupancy: which threads are in a line, and in which state, which determines the style it is
 * drawn in. */
#include "server/order/delivery/occupancy.h"

#include "base/alloc.h"
#include "server/order/log/line_table.h"
#include "server/order/log/line_pages.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

#define EFFECT_OWN 8u
#define EFFECT_HERE 15u /* the bits of the line itself; above them, of the line that it is about */
#define EFFECT_NONE 0x80u /* looked up: there is none */

void order_set_effect_source(struct order *order,
                             void (*ask)(void *context, uint32_t kind, uint32_t type),
                             void *context)
{
    order->effects.ask = ask;
    order->effects.context = context;
    for (size_t i = 0; i < order->effects.room; i++) {
        free(order->effects.kinds[i].by_type);
        order->effects.kinds[i] = (struct effects){0};
    }
}

void occupancy_free_effects(struct effect_table *effects)
{
    for (size_t i = 0; i < effects->room; i++)
        free(effects->kinds[i].by_type);
    free(effects->kinds);
}

static uint8_t *effect_at(const struct effect_table *effects, uint32_t kind, uint32_t type,
                          bool paired)
{
    bool there = kind < effects->room && 2 * type + 1 < effects->kinds[kind].room;
    return there ? &effects->kinds[kind].by_type[2 * type + paired] : NULL;
}

static uint8_t known_effect(const struct effect_table *effects, uint32_t kind, uint32_t type,
                            bool paired)
{
    const uint8_t *at = effect_at(effects, kind, type, paired);
    return at && *at != EFFECT_NONE ? *at : 0;
}

static void set_effect(struct effect_table *effects, uint32_t kind, uint32_t type, bool paired,
                       uint8_t effect)
{
    effects->kinds =
        array_reserve_zeroed(effects->kinds, &effects->room, kind + 1, sizeof *effects->kinds);
    struct effects *kind_effects = &effects->kinds[kind];
    kind_effects->by_type =
        array_reserve_zeroed(kind_effects->by_type, &kind_effects->room, 2 * type + 2, 1);
    kind_effects->by_type[2 * type + paired] = effect;
}

void order_effect(struct order *order, uint32_t kind, uint32_t type, bool paired,
                  enum occupancy presence, bool own)
{
    uint8_t about = known_effect(&order->effects, kind, type, paired) & ~EFFECT_HERE;
    set_effect(&order->effects, kind, type, paired,
               (uint8_t)(about | ((unsigned)presence + 1 + (own ? EFFECT_OWN : 0))));
}

void order_effect_about(struct order *order, uint32_t kind, uint32_t type, bool paired,
                        enum occupancy presence)
{
    uint8_t here = known_effect(&order->effects, kind, type, paired) & EFFECT_HERE;
    set_effect(&order->effects, kind, type, paired,
               (uint8_t)(here | ((unsigned)presence + 1) << 4));
}

/* Asks the effect source for a combination that was never looked up before. */
static uint8_t effect_of(struct effect_table *effects, uint32_t kind, uint32_t type, bool paired)
{
    uint8_t *at = effect_at(effects, kind, type, paired);
    if ((!at || !*at) && effects->ask) {
        set_effect(effects, kind, type, false, EFFECT_NONE);
        set_effect(effects, kind, type, true, EFFECT_NONE);
        effects->ask(effects->context, kind, type);
        at = effect_at(effects, kind, type, paired);
    }
    return at && *at != EFFECT_NONE ? *at : 0;
}

/* Removes all occupants but the blocked ones: a thread leaves that is not recorded as inside, so
 * what was recorded of the holder is obsolete. */
static void put_out(struct order_line *line)
{
    size_t kept = 0;
    for (size_t i = 0; i < line->occupant_count; i++)
        if (line->more->occupants[i].presence == OCCUPANCY_BLOCKED)
            line->more->occupants[kept++] = line->more->occupants[i];
    line->occupant_count = kept;
}

static void occupancy_set_occupant(struct order_line *line, uint32_t thread,
                                   enum occupancy presence, uint64_t number)
{
    size_t i = 0;
    while (i < line->occupant_count && line->more->occupants[i].thread != thread)
        i++;
    if (presence == OCCUPANCY_OUT) {
        if (i < line->occupant_count)
            line->more->occupants[i] = line->more->occupants[--line->occupant_count];
        else if (!line->shared)
            put_out(line);
        return;
    }
    if (i == line->occupant_count) {
        struct line_more *more = line_more(line);
        more->occupants =
            array_reserve(more->occupants, &more->occupant_room, i + 1, sizeof *more->occupants);
        line->more->occupants[line->occupant_count++] =
            (struct occupant){.thread = thread, .since = number};
    }
    line->more->occupants[i].presence = (uint8_t)presence;
}

static void count_in(uint16_t *counter, bool one)
{
    if (one && *counter < UINT16_MAX)
        ++*counter;
}

void occupancy_apply(struct order *order, struct order_event *event)
{
    struct order_line *line = line_get(order, event->line);
    uint8_t effect =
        effect_of(&order->effects, line->kind, event->type, event->relation == RELATION_SYNC);
    if (!effect && !line->occupant_count)
        return; /* no thread is in it, or enters */
    if (effect & EFFECT_HERE && event->state == EVENT_ORDERED) {
        line_touch(order, event->line);
        uint32_t thread = effect & EFFECT_OWN ? event->line : event->thread;
        occupancy_set_occupant(line, thread, (enum occupancy)((effect & (EFFECT_OWN - 1)) - 1),
                               event->number);
    }
    if (effect > EFFECT_HERE && event->state == EVENT_ORDERED && event->about &&
        event->about <= order->lines.visible.count) {
        line_touch(order, event->about);
        occupancy_set_occupant(line_get(order, event->about), event->thread,
                               (enum occupancy)((effect >> 4) - 1), 0);
    }
    event->in = (struct occupants){0};
    for (size_t i = 0; i < line->occupant_count; i++) {
        count_in(&event->in.active, line->more->occupants[i].presence == OCCUPANCY_ACTIVE);
        count_in(&event->in.blocked, line->more->occupants[i].presence == OCCUPANCY_BLOCKED);
        count_in(&event->in.away, line->more->occupants[i].presence == OCCUPANCY_AWAY);
    }
}

bool order_line_inside(const struct order *order, uint32_t number, size_t i, uint32_t *thread,
                       enum occupancy *presence, uint64_t *since)
{
    const struct order_line *line =
        number & HIDDEN_LINE ? line_get(order, number) : order_line_peek(order, number - 1);
    if (i >= line->occupant_count)
        return false;
    *thread = line->more->occupants[i].thread;
    *presence = (enum occupancy)line->more->occupants[i].presence;
    *since = line->more->occupants[i].since;
    return true;
}

uint64_t order_thread_last(const struct order *order, uint32_t number)
{
    const struct order_line *line =
        number & HIDDEN_LINE ? line_get(order, number) : order_line_peek(order, number - 1);
    return line->acted > order->log.first ? line->acted - 1 : NO_POSITION;
}
