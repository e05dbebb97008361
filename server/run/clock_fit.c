#include "server/run/clock_fit.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDS 3000u
#define STEPS_MOST 30000000u /* maximum number of relaxed messages per margin */
/* over-relaxation: lines are moved further than necessary, which takes fewer rounds */
#define FURTHER 1.9
/* The first margin, ns.  The true lines satisfy margins up to the time that the fastest messages
 * take, and are found sooner with one. */
#define MARGIN_MOST_NS 65536.0

double line_fit_time(const struct line_fit *f, double middle, double shown)
{
    return shown - (f->at + f->drift * (shown - middle - f->at) / (1 + f->drift));
}

/* ---- relaxation ---- */

struct clock_correction {
    double a, d, own;
};

/* Lines of clocks, all of them at once.
 *
 * A line is a correction of what its clock shows, x after the middle: by a + d * u, where u = (x
 * - own) / scale, and `own` is about what the clock shows in the middle.  Then a message is a
 * linear constraint: its corrected send is no later than its corrected receive.  A violated
 * constraint moves both lines until it holds; if there are lines that satisfy all constraints,
 * this converges to such lines (the relaxation of Agmon 1954, and of Motzkin and Schoenberg
 * 1954). */
struct clock_relaxation {
    const struct clock_ties *t;
    double scale;
    /* ns by which receives must be later than their sends; < 0: lines are only checked, not
     * moved */
    double margin;
    struct clock_correction *of; /* by clock */
};

/* Shifts a clock's line.  The first clock is fixed, and drifts are limited to
 * CLOCK_REGION_DRIFT. */
static void clock_relaxation_shift_clock(const struct clock_relaxation *s, uint32_t clock,
                                         double step, double u)
{
    struct clock_correction *c = &s->of[clock];
    const double most = s->scale * CLOCK_REGION_DRIFT;
    if (clock)
        c->a += step, c->d = fmax(-most, fmin(c->d + step * u, most));
}

/* Shifts both lines if a message's receive is not later than its send by the margin; returns
 * whether that is so. */
static bool clock_relaxation_relax_message(const struct clock_relaxation *s, uint32_t from,
                                           uint32_t to, const struct clock_message *w)
{
    const struct clock_correction *a = &s->of[from], *b = &s->of[to];
    double sent = (double)w->sent - s->t->middle, got = (double)w->got - s->t->middle;
    double u = (sent - a->own) / s->scale, v = (got - b->own) / s->scale;
    double over = sent + a->a + a->d * u - (got + b->a + b->d * v) + fmax(s->margin, 0);
    if (over <= 0)
        return false;
    double norm = (from ? 1 + u * u : 0) + (to ? 1 + v * v : 0);
    double step = s->margin < 0 ? 0 : FURTHER * over / norm;
    clock_relaxation_shift_clock(s, from, -step, u);
    clock_relaxation_shift_clock(s, to, step, v);
    return true;
}

static bool clock_relaxation_relax_all(const struct clock_relaxation *s)
{
    bool any = false;
    for (size_t i = 0; i < s->t->count; i++) {
        const struct clock_pair *b = &s->t->bonds[i];
        for (size_t k = 0; k < b->forth.count; k++)
            any |= clock_relaxation_relax_message(s, b->a, b->b, &b->forth.items[k]);
        for (size_t k = 0; k < b->back.count; k++)
            any |= clock_relaxation_relax_message(s, b->b, b->a, &b->back.items[k]);
    }
    return any;
}

static bool clock_relaxation_is_contradicted(struct clock_relaxation s)
{
    s.margin = -1;
    return clock_relaxation_relax_all(&s);
}

/* Adjusts approximate line fits to the bounds of closed ties; the first clock is fixed.  Returns
 * false if the fits still violate bounds. */
static bool clock_relaxation_run(const struct clock_ties *t, struct line_fit *fits)
{
    struct clock_relaxation s = {
        .t = t, .scale = t->middle > 1 ? t->middle : 1, .margin = MARGIN_MOST_NS};
    size_t all = 1;
    s.of = xcalloc(t->clocks + 1, sizeof *s.of);
    for (uint32_t c = 0; c < t->clocks; c++) {
        double rate = 1 / (1 + fits[c].drift), own = fits[c].at;
        s.of[c] = (struct clock_correction){-own, (rate - 1) * s.scale, own};
    }
    for (size_t i = 0; i < t->count; i++)
        all += clock_pair_messages(&t->bonds[i]);
    bool over = clock_relaxation_is_contradicted(s);
    for (; over && s.margin >= 1; s.margin /= 4)
        for (unsigned round = 0; over && round < ROUNDS && round < STEPS_MOST / all; round++) {
            clock_relaxation_relax_all(&s);
            over = clock_relaxation_is_contradicted(s);
        }
    for (uint32_t c = 1; c < t->clocks; c++) {
        double rate = 1 + s.of[c].d / s.scale, at = s.of[c].a + (1 - rate) * s.of[c].own;
        fits[c] = (struct line_fit){-at / rate, 1 / rate - 1};
    }
    free(s.of);
    return !over;
}

/* ---- fit ---- */

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
static size_t clock_fit_tied_by(const struct clock_pair *bond)
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
        tied[clock_pair_other(bond, clock)] += clock_fit_tied_by(bond);
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
