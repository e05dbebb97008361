#include "server/run/tying.h"

#include "memory/memory.h"

#include <math.h>
#include <stdlib.h>

#define SWEEPS 12u

struct tying *tying_new(uint32_t clocks, double middle)
{
    struct tying *t = memory_zeroed(1, sizeof *t);
    t->clocks = clocks;
    t->middle = middle;
    t->ways = memory_zeroed((size_t)clocks * clocks + 1, sizeof *t->ways);
    return t;
}

void tying_free(struct tying *t)
{
    for (size_t i = 0; t && i < (size_t)t->clocks * t->clocks; i++)
        ways_free(&t->ways[i]);
    if (t)
        free(t->ways);
    free(t);
}

void tying_note(struct tying *t, uint32_t from, uint32_t to, int64_t sent, int64_t got)
{
    if (from != to && from < t->clocks && to < t->clocks)
        ways_add(&t->ways[(size_t)from * t->clocks + to], sent, got);
}

void tying_close(struct tying *t)
{
    for (size_t i = 0; i < (size_t)t->clocks * t->clocks; i++)
        ways_close(&t->ways[i]);
}

static const struct ways *way(const struct tying *t, uint32_t from, uint32_t to)
{
    return &t->ways[(size_t)from * t->clocks + to];
}

static size_t messages(const struct tying *t, uint32_t a, uint32_t b)
{
    return way(t, a, b)->count + way(t, b, a)->count;
}

/* ---- lines ---- */

double line_fit_time(const struct line_fit *f, double middle, double shown)
{
    return shown - (f->at + f->drift * (shown - middle - f->at) / (1 + f->drift));
}

/* What is left of a clock's line, as the others stand. */
static void against(const struct tying *t, uint32_t clock, const bool *placed,
                    const struct line_fit *fits, struct possible *region)
{
    size_t count = 0, most = 0;
    for (uint32_t o = 0; o < t->clocks; o++)
        most += placed[o] && o != clock ? messages(t, clock, o) : 0;
    struct cut *cuts = memory_zeroed(most + 1, sizeof *cuts);
    for (uint32_t o = 0; o < t->clocks; o++) {
        if (!placed[o] || o == clock)
            continue;
        const struct ways *to = way(t, o, clock), *from = way(t, clock, o);
        for (size_t i = 0; i < to->count; i++) {
            double at = line_fit_time(&fits[o], t->middle, (double)to->items[i].sent);
            cuts[count++] = (struct cut){at - t->middle, (double)to->items[i].got - at, true};
        }
        for (size_t i = 0; i < from->count; i++) {
            double at = line_fit_time(&fits[o], t->middle, (double)from->items[i].got);
            cuts[count++] = (struct cut){at - t->middle, (double)from->items[i].sent - at, false};
        }
    }
    possible_of(region, cuts, count);
    free(cuts);
}

static void place(const struct tying *t, uint32_t clock, const bool *placed, struct line_fit *fits)
{
    struct possible region;
    against(t, clock, placed, fits, &region);
    struct corner centre = possible_centre(&region);
    if (region.count)
        fits[clock] = (struct line_fit){centre.at, centre.drift};
}

#define BOTH_WAYS ((size_t)1 << 40)

/* How well one is tied to another: messages one way alone do not say where it is. */
static size_t tied_by(const struct tying *t, uint32_t a, uint32_t b)
{
    return messages(t, a, b) + (way(t, a, b)->count && way(t, b, a)->count ? BOTH_WAYS : 0);
}

/* The one of those that are left that is tied best to those that are placed; 0: there is none. */
static uint32_t next(const struct tying *t, const bool *placed)
{
    uint32_t best = 0;
    size_t most = 0;
    for (uint32_t c = 1; c < t->clocks; c++) {
        size_t count = 0;
        for (uint32_t o = 0; o < t->clocks && !placed[c]; o++)
            count += placed[o] ? tied_by(t, c, o) : 0;
        if (count > most) {
            most = count;
            best = c;
        }
    }
    return best;
}

/* One after the other goes into the middle of what the others leave it: what contradicts nothing stays so. */
void tying_fit(const struct tying *t, struct line_fit *fits)
{
    bool *placed = memory_zeroed(t->clocks + 1, sizeof *placed);
    uint32_t clock, count = 1;
    placed[0] = true;
    while ((clock = next(t, placed)) != 0) {
        place(t, clock, placed, fits);
        placed[clock] = true;
        count++;
    }
    for (unsigned sweep = 0; sweep < SWEEPS && count > 2; sweep++)
        for (uint32_t c = 1; c < t->clocks; c++)
            if (placed[c])
                place(t, c, placed, fits);
    free(placed);
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
    struct pair *pairs = NULL;
    size_t room = 0;
    for (uint32_t a = 0; a < t->clocks; a++)
        for (uint32_t b = a + 1; b < t->clocks; b++) {
            if (!way(t, a, b)->count || !way(t, b, a)->count)
                continue;
            struct cut *cuts = memory_zeroed(messages(t, a, b), sizeof *cuts);
            size_t n = bounds_cuts(cuts, way(t, a, b), way(t, b, a), t->middle);
            pairs = grow(pairs, &room, *count + 1, sizeof *pairs);
            pairs[*count] = (struct pair){.a = a, .b = b};
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
