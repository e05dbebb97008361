#include "server/run/fitting.h"

#include "memory/memory.h"

#include <stdlib.h>

#define SWEEPS 12u
#define TURNS 4u

/* What is left of a clock's line, as the others stand. */
static void against(const struct tying *t, uint32_t clock, const bool *placed,
                    const struct line_fit *fits, struct possible *region)
{
    size_t count = 0, most = 0;
    for (size_t k = t->begin[clock]; k < t->begin[clock + 1]; k++)
        most += bond_messages(&t->bonds[t->of[k]]);
    struct cut *cuts = memory_zeroed(most + 1, sizeof *cuts);
    for (size_t k = t->begin[clock]; k < t->begin[clock + 1]; k++) {
        const struct bond *bond = &t->bonds[t->of[k]];
        uint32_t o = bond_other(bond, clock);
        const struct ways *to = bond->b == clock ? &bond->forth : &bond->back,
                          *from = bond->b == clock ? &bond->back : &bond->forth;
        for (size_t i = 0; placed[o] && i < to->count; i++) {
            double at = line_fit_time(&fits[o], t->middle, (double)to->items[i].sent);
            cuts[count++] = (struct cut){at - t->middle, (double)to->items[i].got - at, true};
        }
        for (size_t i = 0; placed[o] && i < from->count; i++) {
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
static size_t tied_by(const struct bond *bond)
{
    return bond_messages(bond) + (bond->forth.count && bond->back.count ? BOTH_WAYS : 0);
}

/* It is placed: others are tied to it, and so much better to all that are. */
static void is_placed(const struct tying *t, uint32_t clock, bool *placed, size_t *tied)
{
    placed[clock] = true;
    for (size_t k = t->begin[clock]; k < t->begin[clock + 1]; k++) {
        const struct bond *bond = &t->bonds[t->of[k]];
        tied[bond_other(bond, clock)] += tied_by(bond);
    }
}

/* The one of those that are left that is tied best to those that are placed; 0: there is none. */
static uint32_t next(const struct tying *t, const bool *placed, const size_t *tied)
{
    uint32_t best = 0;
    for (uint32_t c = 1; c < t->clocks; c++)
        if (!placed[c] && tied[c] > (best ? tied[best] : 0))
            best = c;
    return best;
}

/* One after the other goes into the middle of what the others leave it; what is contradicted then is moved with its neighbours. */
void fit_lines(const struct tying *t, struct line_fit *fits)
{
    bool *placed = memory_zeroed(t->clocks + 1, sizeof *placed);
    size_t *tied = memory_zeroed(t->clocks + 1, sizeof *tied);
    uint32_t clock, count = 1;
    is_placed(t, 0, placed, tied);
    while ((clock = next(t, placed, tied)) != 0) {
        place(t, clock, placed, fits);
        is_placed(t, clock, placed, tied);
        count++;
    }
    bool settled = false;
    for (unsigned turn = 0; !settled && turn < TURNS; turn++) {
        for (unsigned sweep = 0; sweep < SWEEPS && count > 2; sweep++)
            for (uint32_t c = 1; c < t->clocks; c++)
                if (placed[c])
                    place(t, c, placed, fits);
        settled = settle(t, fits);
    }
    free(placed);
    free(tied);
}
