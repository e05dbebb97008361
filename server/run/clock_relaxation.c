#include "server/run/clock_relaxation.h"

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

struct clock_correction {
    double a, d, own;
};

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

static bool relax_all(const struct clock_relaxation *s)
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

static bool is_contradicted(struct clock_relaxation s)
{
    s.margin = -1;
    return relax_all(&s);
}

double line_fit_time(const struct line_fit *f, double middle, double shown)
{
    return shown - (f->at + f->drift * (shown - middle - f->at) / (1 + f->drift));
}

bool clock_relaxation_run(const struct clock_ties *t, struct line_fit *fits)
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
    bool over = is_contradicted(s);
    for (; over && s.margin >= 1; s.margin /= 4)
        for (unsigned round = 0; over && round < ROUNDS && round < STEPS_MOST / all; round++) {
            relax_all(&s);
            over = is_contradicted(s);
        }
    for (uint32_t c = 1; c < t->clocks; c++) {
        double rate = 1 + s.of[c].d / s.scale, at = s.of[c].a + (1 - rate) * s.of[c].own;
        fits[c] = (struct line_fit){-at / rate, 1 / rate - 1};
    }
    free(s.of);
    return !over;
}
