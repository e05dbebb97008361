#include "server/run/clock_fit.h"

#include "base/alloc.h"

#include <stdlib.h>

#define SWEEPS 12u
#define TURNS 4u

/* Computes the region that the lines of the placed clocks leave for that of a clock. */
static void clock_fit_residual_region(const struct clock_ties *t, uint32_t clock,
                                      const bool *placed, const struct line_fit *fits,
                                      struct clock_region *region)
{
    size_t count = 0, most = 0;
    for (size_t k = t->begin[clock]; k < t->begin[clock + 1]; k++)
        most += clock_pair_messages(&t->bonds[t->of[k]]);
    struct clock_half_plane *cuts = xcalloc(most + 1, sizeof *cuts);
    for (size_t k = t->begin[clock]; k < t->begin[clock + 1]; k++) {
        const struct clock_pair *bond = &t->bonds[t->of[k]];
        uint32_t o = clock_pair_other(bond, clock);
        const struct clock_messages *to = bond->b == clock ? &bond->forth : &bond->back,
                                    *from = bond->b == clock ? &bond->back : &bond->forth;
        for (size_t i = 0; placed[o] && i < to->count; i++) {
            double at = line_fit_time(&fits[o], t->middle, (double)to->items[i].sent);
            cuts[count++] =
                (struct clock_half_plane){at - t->middle, (double)to->items[i].got - at, true};
        }
        for (size_t i = 0; placed[o] && i < from->count; i++) {
            double at = line_fit_time(&fits[o], t->middle, (double)from->items[i].got);
            cuts[count++] =
                (struct clock_half_plane){at - t->middle, (double)from->items[i].sent - at, false};
        }
    }
    clock_region_from(region, cuts, count);
    free(cuts);
}

static void clock_fit_fit_clock(const struct clock_ties *t, uint32_t clock, const bool *placed,
                                struct line_fit *fits)
{
    struct clock_region region;
    clock_fit_residual_region(t, clock, placed, fits, &region);
    struct clock_corner centre = clock_region_center(&region);
    if (region.count)
        fits[clock] = (struct line_fit){centre.at, centre.drift};
}

#define BOTH_WAYS ((size_t)1 << 40)

/* Returns how well two clocks are tied: by their number of messages.  Pairs with messages in both
 * directions come first, as one direction alone does not locate a clock. */
static size_t tied_by(const struct clock_pair *bond)
{
    return clock_pair_messages(bond) + (bond->forth.count && bond->back.count ? BOTH_WAYS : 0);
}

/* Marks a clock as placed, and updates how well the others are tied to placed ones. */
static void clock_fit_mark_placed(const struct clock_ties *t, uint32_t clock, bool *placed,
                                  size_t *tied)
{
    placed[clock] = true;
    for (size_t k = t->begin[clock]; k < t->begin[clock + 1]; k++) {
        const struct clock_pair *bond = &t->bonds[t->of[k]];
        tied[clock_pair_other(bond, clock)] += tied_by(bond);
    }
}

/* Returns the clock not placed yet that is tied best to placed ones; 0 if there is none. */
static uint32_t clock_fit_next_clock(const struct clock_ties *t, const bool *placed,
                                     const size_t *tied)
{
    uint32_t best = 0;
    for (uint32_t c = 1; c < t->clocks; c++)
        if (!placed[c] && tied[c] > (best ? tied[best] : 0))
            best = c;
    return best;
}

/* Puts each line into the middle of the region that the others leave it; then moves lines that
 * violate a bound together with their neighbors. */
void clock_fit_lines(const struct clock_ties *t, struct line_fit *fits)
{
    bool *placed = xcalloc(t->clocks + 1, sizeof *placed);
    size_t *tied = xcalloc(t->clocks + 1, sizeof *tied);
    uint32_t clock, count = 1;
    clock_fit_mark_placed(t, 0, placed, tied);
    while ((clock = clock_fit_next_clock(t, placed, tied)) != 0) {
        clock_fit_fit_clock(t, clock, placed, fits);
        clock_fit_mark_placed(t, clock, placed, tied);
        count++;
    }
    bool settled = false;
    for (unsigned turn = 0; !settled && turn < TURNS; turn++) {
        for (unsigned sweep = 0; sweep < SWEEPS && count > 2; sweep++)
            for (uint32_t c = 1; c < t->clocks; c++)
                if (placed[c])
                    clock_fit_fit_clock(t, c, placed, fits);
        settled = clock_relaxation_run(t, fits);
    }
    free(placed);
    free(tied);
}
