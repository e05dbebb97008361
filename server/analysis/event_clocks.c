#include "server/analysis/event_clocks.h"

#include "base/alloc.h"
#include "base/lower_bound.h"

#include <stdlib.h>
#include <string.h>

static const struct event_clock event_clocks_nothing = {.chain = EVENT_CLOCKS_NO_CHAIN};

void event_clocks_begin(struct event_clocks *s, const struct order *order, uint64_t first)
{
    *s = (struct event_clocks){.order = order, .first = first};
    s->vectors = array_reserve(NULL, &s->vector_room, 1, sizeof *s->vectors);
    s->vectors[s->vector_count++] = (struct event_clocks_vector){0};
}

void event_clocks_free(struct event_clocks *s)
{
    for (size_t i = 0; i < s->line_room; i++)
        free(s->lines[i].changes);
    for (size_t i = 0; i < s->hidden_room; i++)
        free(s->hidden[i].changes);
    free(s->vectors);
    free(s->numbers);
    free(s->scratch);
    free(s->lines);
    free(s->hidden);
    free(s->counts);
    free(s->chain_of);
    *s = (struct event_clocks){0};
}

/* ---- vectors ---- */

static inline uint32_t event_clocks_component(const struct event_clocks *s, uint32_t vector,
                                              uint32_t chain)
{
    const struct event_clocks_vector *v = &s->vectors[vector];
    return chain < v->size ? s->numbers[v->offset + chain] : 0;
}

uint32_t event_clocks_number(const struct event_clocks *s, struct event_clock clock, uint32_t chain)
{
    uint32_t number = event_clocks_component(s, clock.vector, chain);
    return clock.chain == chain && clock.number > number ? clock.number : number;
}

static bool event_clocks_is_equal(struct event_clock a, struct event_clock b)
{
    return a.vector == b.vector && a.chain == b.chain && a.number == b.number;
}

/* Returns whether all that clock a contains is in clock b. */
static bool event_clocks_contains(const struct event_clocks *s, struct event_clock b,
                                  struct event_clock a)
{
    if (a.chain != EVENT_CLOCKS_NO_CHAIN && event_clocks_number(s, b, a.chain) < a.number)
        return false;
    if (a.vector == b.vector || !a.vector)
        return true;
    const struct event_clocks_vector *v = &s->vectors[a.vector];
    for (uint32_t i = 0; i < v->size; i++)
        if (s->numbers[v->offset + i] > event_clocks_component(s, b.vector, i) &&
            (i != b.chain || s->numbers[v->offset + i] > b.number))
            return false;
    return true;
}

/* Makes a vector of the numbers in `scratch`. */
static uint32_t event_clocks_new_vector(struct event_clocks *s, uint32_t size)
{
    s->numbers =
        array_reserve(s->numbers, &s->number_room, s->number_count + size + 1, sizeof *s->numbers);
    memcpy(s->numbers + s->number_count, s->scratch, size * sizeof *s->scratch);
    s->vectors =
        array_reserve(s->vectors, &s->vector_room, s->vector_count + 1, sizeof *s->vectors);
    s->vectors[s->vector_count] = (struct event_clocks_vector){s->number_count, size};
    s->number_count += size;
    s->bytes += size * sizeof *s->numbers + sizeof *s->vectors;
    return (uint32_t)s->vector_count++;
}

static void event_clocks_raise(uint32_t *to, uint32_t chain, uint32_t number)
{
    if (chain != EVENT_CLOCKS_NO_CHAIN && number > to[chain])
        to[chain] = number;
}

/* Returns the union of two clocks, of which neither contains the other. */
static struct event_clock event_clocks_unite(struct event_clocks *s, struct event_clock a,
                                             struct event_clock b)
{
    const struct event_clocks_vector *x = &s->vectors[a.vector], *y = &s->vectors[b.vector];
    uint32_t size = x->size > y->size ? x->size : y->size;
    if (b.chain != EVENT_CLOCKS_NO_CHAIN && b.chain >= size)
        size = b.chain + 1;
    s->scratch = array_reserve(s->scratch, &s->scratch_room, size + 1, sizeof *s->scratch);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t m = event_clocks_component(s, a.vector, i),
                 n = event_clocks_component(s, b.vector, i);
        s->scratch[i] = m > n ? m : n;
    }
    event_clocks_raise(s->scratch, b.chain, b.number);
    return (struct event_clock){event_clocks_new_vector(s, size), a.chain, a.number};
}

static struct event_clock event_clocks_join(struct event_clocks *s, struct event_clock a,
                                            struct event_clock b)
{
    if (event_clocks_is_equal(a, b) || event_clocks_contains(s, a, b))
        return a;
    if (event_clocks_contains(s, b, a))
        return b;
    return event_clocks_unite(s, a, b);
}

/* ---- lines ---- */

static struct event_clocks_line *event_clocks_line_of(struct event_clocks *s, uint32_t line)
{
    uint32_t i = line & ~HIDDEN_LINE;
    if (line & HIDDEN_LINE) {
        s->hidden = array_reserve_zeroed(s->hidden, &s->hidden_room, i + 1u, sizeof *s->hidden);
        return &s->hidden[i];
    }
    s->lines = array_reserve_zeroed(s->lines, &s->line_room, i + 1u, sizeof *s->lines);
    return &s->lines[i];
}

static struct event_clock event_clocks_last(const struct event_clocks_line *line)
{
    return line->count ? line->changes[line->count - 1].clock : event_clocks_nothing;
}

static struct event_clock event_clocks_at(struct event_clocks *s, uint32_t line, uint64_t position)
{
    const struct event_clocks_line *of = event_clocks_line_of(s, line);
    if (of->count && of->changes[of->count - 1].position <= position)
        return of->changes[of->count - 1].clock;
    size_t i = LOWER_BOUND(k, 0, of->count, of->changes[k].position <= position);
    return i ? of->changes[i - 1].clock : event_clocks_nothing;
}

static void event_clocks_set_from(struct event_clocks *s, uint32_t line, uint64_t position,
                                  struct event_clock clock)
{
    struct event_clocks_line *of = event_clocks_line_of(s, line);
    if (event_clocks_is_equal(event_clocks_last(of), clock))
        return;
    of->changes = array_reserve(of->changes, &of->room, of->count + 1, sizeof *of->changes);
    of->changes[of->count++] = (struct event_clocks_change){position, clock};
    s->bytes += sizeof *of->changes;
}

/* ---- the pass ---- */

/* Adds to a clock what an event comes after, apart from the members of its point. */
static struct event_clock event_clocks_inherit(struct event_clocks *s, struct event_clock clock,
                                               uint64_t position, const struct order_event *e)
{
    if (!order_line_shared(s->order, e->line))
        clock = event_clocks_join(s, clock, event_clocks_last(event_clocks_line_of(s, e->line)));
    for (uint32_t i = 0; i < e->edge_count; i++) {
        uint64_t from = order_edge(s->order, position, i);
        if (from < s->first || from >= position)
            continue;
        struct order_event cause = order_event(s->order, from);
        if (cause.line)
            clock = event_clocks_join(s, clock, event_clocks_at(s, cause.line, from));
    }
    return clock;
}

/* Adds a chosen point to the chain of its thread if it continues that chain, or to a new one. */
static struct event_clock event_clocks_choose(struct event_clocks *s, struct event_clock clock,
                                              const struct order_event *e)
{
    uint32_t of = e->thread ? e->thread : e->line & ~HIDDEN_LINE;
    s->chain_of =
        array_reserve_zeroed(s->chain_of, &s->chain_of_room, of + 1u, sizeof *s->chain_of);
    uint32_t chain = s->chain_of[of] - 1;
    if (!s->chain_of[of] || event_clocks_number(s, clock, chain) != s->counts[chain]) {
        s->counts = array_reserve(s->counts, &s->chain_room, s->chain_count + 1, sizeof *s->counts);
        s->counts[s->chain_count++] = 0;
        chain = (uint32_t)s->chain_count - 1;
        s->chain_of[of] = chain + 1;
        s->bytes += sizeof *s->counts;
    }
    if (clock.chain != chain && clock.chain != EVENT_CLOCKS_NO_CHAIN &&
        event_clocks_component(s, clock.vector, clock.chain) < clock.number)
        clock = event_clocks_unite(s, event_clocks_nothing, clock);
    clock.chain = chain;
    clock.number = ++s->counts[chain];
    return clock;
}

bool event_clocks_add(struct event_clocks *s, uint64_t first, const struct order_event *events,
                      uint32_t count, bool chosen, struct event_clock *result)
{
    struct event_clock clock = event_clocks_nothing;
    if (count == 1 && !chosen && !events->edge_count && events->line &&
        !order_line_shared(s->order, events->line))
        return true; /* the clock of its line stays the same */
    for (uint32_t i = 0; i < count; i++) {
        s->damaged |= !events[i].line;
        if (!events[i].line || events[i].state != EVENT_ORDERED)
            return false;
        clock = event_clocks_inherit(s, clock, first + i, &events[i]);
    }
    if (chosen)
        clock = event_clocks_choose(s, clock, events);
    for (uint32_t i = 0; i < count; i++)
        event_clocks_set_from(s, events[i].line, first + i, clock);
    *result = clock;
    return true;
}
