#include "server/run/tying.h"

#include "memory/memory.h"

#include <math.h>
#include <stdlib.h>

struct tying *tying_new(uint32_t clocks, double middle)
{
    struct tying *t = memory_zeroed(1, sizeof *t);
    t->clocks = clocks;
    t->middle = middle;
    return t;
}

void tying_free(struct tying *t)
{
    for (size_t i = 0; t && i < t->count; i++) {
        ways_free(&t->bonds[i].forth);
        ways_free(&t->bonds[i].back);
    }
    if (t) {
        free(t->bonds);
        free(t->begin);
        free(t->of);
        map_free(&t->places);
    }
    free(t);
}

static size_t place_of(struct tying *t, uint32_t a, uint32_t b)
{
    size_t place = (size_t)(uintptr_t)map_get(&t->places, a, b);
    if (place)
        return place - 1;
    t->bonds = grow_zeroed(t->bonds, &t->room, t->count + 1, sizeof *t->bonds);
    t->bonds[t->count].a = a;
    t->bonds[t->count].b = b;
    map_put(&t->places, a, b, (void *)(uintptr_t)(t->count + 1));
    return t->count++;
}

size_t tying_note(struct tying *t, uint32_t from, uint32_t to, int64_t sent, int64_t got)
{
    bool forth = from < to;
    size_t place = forth ? place_of(t, from, to) : place_of(t, to, from);
    ways_add(forth ? &t->bonds[place].forth : &t->bonds[place].back, sent, got);
    return place;
}

void tying_close(struct tying *t)
{
    t->begin = memory_zeroed((size_t)t->clocks + 2, sizeof *t->begin);
    t->of = memory_zeroed(2 * t->count + 1, sizeof *t->of);
    size_t *next = t->begin + 1; /* begin[c + 1] counts first, then says where the next one goes */
    for (size_t i = 0; i < t->count; i++) {
        ways_close(&t->bonds[i].forth);
        ways_close(&t->bonds[i].back);
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

size_t bond_messages(const struct bond *bond) { return bond->forth.count + bond->back.count; }

uint32_t bond_other(const struct bond *bond, uint32_t clock)
{
    return bond->a == clock ? bond->b : bond->a;
}

/* ---- bounds ---- */

struct known {
    bool is_known, uneven;
    struct between shown, rate; /* of the first clock's: 1 + drift */
};

static struct between both(struct between a, struct between b)
{
    return (struct between){fmax(a.low, b.low), fmin(a.high, b.high)};
}

/* From one clock to another; true: something was learnt. */
static bool follow(struct known *to, const struct known *from, const struct possible *region,
                   bool forth)
{
    struct between drift = possible_drift(region);
    struct between rate = forth ? (struct between){1 + drift.low, 1 + drift.high}
                                : (struct between){1 / (1 + drift.high), 1 / (1 + drift.low)};
    struct known next = {true,
                         from->uneven || region->slack_ns > BOUNDS_LEAST_NS,
                         forth ? possible_there(region, from->shown)
                               : possible_back(region, from->shown),
                         {from->rate.low * rate.low, from->rate.high * rate.high}};
    if (!to->is_known) {
        *to = next;
        return true;
    }
    struct between shown = both(to->shown, next.shown), drifts = both(to->rate, next.rate);
    bool narrower = shown.high - shown.low < to->shown.high - to->shown.low - 1;
    if (!narrower || shown.low > shown.high)
        return false; /* (uneven clocks may contradict each other) */
    to->shown = shown;
    to->rate = drifts.low <= drifts.high ? drifts : to->rate;
    to->uneven |= next.uneven;
    return true;
}

struct pair { /* of clocks with messages both ways */
    uint32_t a, b;
    struct possible region;
};

static bool follow_all(const struct pair *pairs, size_t count, struct known *known)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct pair *p = &pairs[i];
        if (known[p->a].is_known)
            any |= follow(&known[p->b], &known[p->a], &p->region, true);
        if (known[p->b].is_known && p->a > 0)
            any |= follow(&known[p->a], &known[p->b], &p->region, false);
    }
    return any;
}

static struct pair *pairs_of(const struct tying *t, size_t *count)
{
    struct pair *pairs = memory_zeroed(t->count + 1, sizeof *pairs);
    for (size_t i = 0; i < t->count; i++) {
        const struct bond *bond = &t->bonds[i];
        if (!bond->forth.count || !bond->back.count)
            continue;
        struct cut *cuts = memory_zeroed(bond_messages(bond), sizeof *cuts);
        size_t n = bounds_cuts(cuts, &bond->forth, &bond->back, t->middle);
        pairs[*count] = (struct pair){.a = bond->a, .b = bond->b};
        possible_of(&pairs[*count].region, cuts, n);
        *count += pairs[*count].region.count != 0;
        free(cuts);
    }
    return pairs;
}

void tying_bound(const struct tying *t, double shown, struct tied *bounds)
{
    double at = shown - t->middle;
    size_t count = 0;
    struct pair *pairs = pairs_of(t, &count);
    struct known *known = memory_zeroed(t->clocks + 1, sizeof *known);
    known[0] = (struct known){true, false, {at, at}, {1, 1}};
    for (uint32_t i = 0; i < t->clocks && follow_all(pairs, count, known); i++)
        ;
    for (uint32_t i = 0; i < t->clocks; i++)
        bounds[i] = (struct tied){known[i].is_known,
                                  known[i].uneven,
                                  {known[i].shown.low - at, known[i].shown.high - at},
                                  {known[i].rate.low - 1, known[i].rate.high - 1}};
    free(known);
    free(pairs);
}
