#include "server/cuts/cut_selection.h"

#include "base/alloc.h"

#include <stdlib.h>

/* ---- near events ---- */

struct cut_near *cut_near_new(const struct order *order, const uint64_t *positions, uint32_t count,
                              uint32_t within)
{
    struct cut_near *near = xcalloc(1, sizeof *near);
    *near = (struct cut_near){.order = order, .within = within, .count = count};
    near->lines = order_line_count(order);
    near->seen = xcalloc(near->lines + 1u, sizeof *near->seen);
    near->events = xcalloc(count + 1u, sizeof *near->events);
    near->at = order_first(order);
    for (uint32_t i = 0; i < count; i++) {
        near->events[i].position = positions[i];
        near->events[i].thread = order_event(order, positions[i]).thread;
        near->end = positions[i] >= near->end ? positions[i] + 1 : near->end;
    }
    return near;
}

static void cut_near_free(struct cut_near *near)
{
    if (!near)
        return;
    free(near->events);
    free(near->seen);
    free(near);
}

/* Returns the ordinal of an event among those of its thread; 0: it has none. */
static uint64_t cut_near_count(struct cut_near *near, const struct order_event *e)
{
    bool counts = e->line && !(e->line & HIDDEN_LINE) && e->state == EVENT_ORDERED && e->thread &&
                  e->thread <= near->lines;
    return counts ? ++near->seen[e->thread - 1] : 0;
}

static bool cut_near_step(struct cut_near *near, uint64_t budget)
{
    for (; near->at < near->end && budget; near->at++, budget--) {
        struct order_event e = order_event(near->order, near->at);
        uint64_t ordinal = cut_near_count(near, &e);
        for (uint32_t i = 0; i < near->count; i++)
            if (near->events[i].position == near->at)
                near->events[i].ordinal = ordinal;
    }
    if (near->at < near->end)
        return false;
    for (uint32_t i = 0; i < near->lines; i++) /* counted again while events are copied */
        near->seen[i] = 0;
    return true;
}

static bool cut_near_has(struct cut_near *near, const struct order_event *e)
{
    uint64_t ordinal = cut_near_count(near, e);
    for (uint32_t i = 0; ordinal && i < near->count; i++)
        if (near->events[i].thread == e->thread &&
            ordinal + near->within >= near->events[i].ordinal &&
            ordinal <= near->events[i].ordinal + near->within)
            return true;
    return false;
}

/* ---- selections ---- */

void cut_selection_free(struct cut_selection *selection)
{
    consistent_cut_free(selection->until);
    consistent_cut_free(selection->since);
    free(selection->lines);
    cut_near_free(selection->near);
    free(selection->text);
    free(selection->keeps);
    *selection = (struct cut_selection){0};
}

bool cut_selection_step(struct cut_selection *selection, uint64_t budget)
{
    return consistent_cut_step(selection->until, budget) &&
           (!selection->since || consistent_cut_step(selection->since, budget)) &&
           (!selection->near || cut_near_step(selection->near, budget));
}

uint64_t cut_selection_begin(const struct cut_selection *selection)
{
    return selection->since ? consistent_cut_low(selection->since) : 0;
}

uint64_t cut_selection_end(const struct cut_selection *selection)
{
    return consistent_cut_high(selection->until);
}

static bool cut_selection_has_line(const struct cut_selection *selection, uint32_t line)
{
    return line && line <= selection->line_count && selection->lines[line - 1];
}

bool cut_selection_has_holes(const struct cut_selection *selection)
{
    return selection->lines || selection->near;
}

bool cut_selection_has(struct cut_selection *selection, uint64_t position,
                       const struct order_event *event)
{
    if (selection->near && !cut_near_has(selection->near, event))
        return false;
    if (!event->line || event->state != EVENT_ORDERED ||
        !consistent_cut_contains(selection->until, position) ||
        (selection->since && consistent_cut_contains(selection->since, position)))
        return false;
    return !selection->lines ||
           (!(event->line & HIDDEN_LINE) && (cut_selection_has_line(selection, event->line) ||
                                             cut_selection_has_line(selection, event->thread)));
}
