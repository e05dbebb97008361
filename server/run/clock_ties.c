#include "server/run/clock_ties.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

struct clock_ties *clock_ties_new(uint32_t clocks, double middle)
{
    struct clock_ties *t = xcalloc(1, sizeof *t);
    t->clocks = clocks;
    t->middle = middle;
    return t;
}

void clock_ties_free(struct clock_ties *t)
{
    for (size_t i = 0; t && i < t->count; i++) {
        clock_messages_free(&t->bonds[i].forth);
        clock_messages_free(&t->bonds[i].back);
    }
    if (t) {
        free(t->bonds);
        free(t->begin);
        free(t->of);
        map_free(&t->places);
    }
    free(t);
}

static size_t place_of(struct clock_ties *t, uint32_t a, uint32_t b)
{
    size_t place = (size_t)(uintptr_t)map_get(&t->places, a, b);
    if (place)
        return place - 1;
    t->bonds = array_reserve_zeroed(t->bonds, &t->room, t->count + 1, sizeof *t->bonds);
    t->bonds[t->count].a = a;
    t->bonds[t->count].b = b;
    map_put(&t->places, a, b, (void *)(uintptr_t)(t->count + 1));
    return t->count++;
}

size_t clock_ties_note(struct clock_ties *t, uint32_t from, uint32_t to, int64_t sent, int64_t got)
{
    bool forth = from < to;
    size_t place = forth ? place_of(t, from, to) : place_of(t, to, from);
    clock_messages_add(forth ? &t->bonds[place].forth : &t->bonds[place].back, sent, got);
    return place;
}

void clock_ties_close(struct clock_ties *t)
{
    t->begin = xcalloc((size_t)t->clocks + 2, sizeof *t->begin);
    t->of = xcalloc(2 * t->count + 1, sizeof *t->of);
    /* begin[c + 1] is first the number of clock c's pairs, then where the next of them is put */
    size_t *next = t->begin + 1;
    for (size_t i = 0; i < t->count; i++) {
        clock_messages_close(&t->bonds[i].forth);
        clock_messages_close(&t->bonds[i].back);
        t->begin[t->bonds[i].a + 1]++;
        t->begin[t->bonds[i].b + 1]++;
    }
    size_t sum = 0;
    for (uint32_t c = 0; c < t->clocks; c++) {
        size_t count = next[c];
        next[c] = sum;
        sum += count;
    }
    for (size_t i = 0; i < t->count; i++) {
        t->of[next[t->bonds[i].a]++] = i;
        t->of[next[t->bonds[i].b]++] = i;
    }
}

size_t clock_pair_messages(const struct clock_pair *bond)
{
    return bond->forth.count + bond->back.count;
}

uint32_t clock_pair_other(const struct clock_pair *bond, uint32_t clock)
{
    return bond->a == clock ? bond->b : bond->a;
}

/* ---- bounds ---- */

struct clock_tie_known {
    bool is_known, uneven;
    struct clock_interval shown, rate; /* relative to the first clock; rate: 1 + drift */
};

static struct clock_interval clock_ties_intersect(struct clock_interval a, struct clock_interval b)
{
    return (struct clock_interval){fmax(a.low, b.low), fmin(a.high, b.high)};
}

/* Propagates the bounds of one clock to another; returns whether those of the other got
 * narrower. */
static bool clock_ties_propagate(struct clock_tie_known *to, const struct clock_tie_known *from,
                                 const struct clock_region *region, bool forth)
{
    struct clock_interval drift = clock_region_drift(region);
    struct clock_interval rate =
        forth ? (struct clock_interval){1 + drift.low, 1 + drift.high}
              : (struct clock_interval){1 / (1 + drift.high), 1 / (1 + drift.low)};
    struct clock_tie_known next = {true,
                                   from->uneven || region->slack_ns > CLOCK_REGION_LEAST_NS,
                                   forth ? clock_region_map(region, from->shown)
                                         : clock_region_map_back(region, from->shown),
                                   {from->rate.low * rate.low, from->rate.high * rate.high}};
    if (!to->is_known) {
        *to = next;
        return true;
    }
    struct clock_interval shown = clock_ties_intersect(to->shown, next.shown),
                          drifts = clock_ties_intersect(to->rate, next.rate);
    bool narrower = shown.high - shown.low < to->shown.high - to->shown.low - 1;
    if (!narrower || shown.low > shown.high)
        return false; /* (uneven clocks may contradict each other) */
    to->shown = shown;
    to->rate = drifts.low <= drifts.high ? drifts : to->rate;
    to->uneven |= next.uneven;
    return true;
}

struct clock_tie_pair { /* a pair of clocks with messages in both directions */
    uint32_t a, b;
    struct clock_region region;
};

static bool follow_all(const struct clock_tie_pair *pairs, size_t count,
                       struct clock_tie_known *known)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct clock_tie_pair *p = &pairs[i];
        if (known[p->a].is_known)
            any |= clock_ties_propagate(&known[p->b], &known[p->a], &p->region, true);
        if (known[p->b].is_known && p->a > 0)
            any |= clock_ties_propagate(&known[p->a], &known[p->b], &p->region, false);
    }
    return any;
}

static struct clock_tie_pair *pairs_of(const struct clock_ties *t, size_t *count)
{
    struct clock_tie_pair *pairs = xcalloc(t->count + 1, sizeof *pairs);
    for (size_t i = 0; i < t->count; i++) {
        const struct clock_pair *bond = &t->bonds[i];
        if (!bond->forth.count || !bond->back.count)
            continue;
        struct clock_half_plane *cuts = xcalloc(clock_pair_messages(bond), sizeof *cuts);
        size_t n = clock_region_cuts(cuts, &bond->forth, &bond->back, t->middle);
        pairs[*count] = (struct clock_tie_pair){.a = bond->a, .b = bond->b};
        clock_region_from(&pairs[*count].region, cuts, n);
        *count += pairs[*count].region.count != 0;
        free(cuts);
    }
    return pairs;
}

void clock_ties_bound(const struct clock_ties *t, double shown, struct clock_tied *bounds)
{
    double at = shown - t->middle;
    size_t count = 0;
    struct clock_tie_pair *pairs = pairs_of(t, &count);
    struct clock_tie_known *known = xcalloc(t->clocks + 1, sizeof *known);
    known[0] = (struct clock_tie_known){true, false, {at, at}, {1, 1}};
    for (uint32_t i = 0; i < t->clocks && follow_all(pairs, count, known); i++)
        ;
    for (uint32_t i = 0; i < t->clocks; i++)
        bounds[i] = (struct clock_tied){known[i].is_known,
                                        known[i].uneven,
                                        {known[i].shown.low - at, known[i].shown.high - at},
                                        {known[i].rate.low - 1, known[i].rate.high - 1}};
    free(known);
    free(pairs);
}
