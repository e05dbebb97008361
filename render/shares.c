#include "render/shares.h"

#include "memory/memory.h"

#include <math.h>

#define LEAST 0.12f /* of the height of a row */

static unsigned class_of(const struct chart *c, unsigned state)
{
    bool works = state != CHART_START && state != CHART_TERMINATE;
    return c->overview && works ? CHART_RUNNING : state;
}

static void add(const struct chart *c, const struct chart_span *span, uint32_t pixels,
                float (*shares)[CHART_STATES])
{
    double scale = pixels / ((double)c->to_ns - (double)c->from_ns),
           from = fmax(0, ((double)span->from_ns - (double)c->from_ns) * scale),
           to = fmin(pixels, ((double)span->to_ns - (double)c->from_ns) * scale);
    for (uint32_t i = (uint32_t)fmin(from, pixels); i < pixels && i < to; i++)
        shares[i][class_of(c, span->state)] += (float)(fmin(to, i + 1.0) - fmax(from, i));
}

float (*shares_of(const struct chart *c, uint32_t row, uint32_t pixels))[CHART_STATES]
{
    float(*shares)[CHART_STATES] = memory_zeroed(pixels, sizeof *shares);
    const struct chart_row *r = &c->rows[row];
    for (uint32_t i = 0; i < r->span_count; i++)
        if (r->spans[i].to_ns > c->from_ns && r->spans[i].from_ns < c->to_ns)
            add(c, &r->spans[i], pixels, shares);
    return shares;
}

void shares_seen(float *share)
{
    float all = 0, raised = 0;
    for (unsigned s = 0; s < CHART_STATES; s++) {
        all += share[s];
        raised += share[s] > 0 ? fmaxf(share[s], LEAST) : 0;
    }
    if (raised <= all)
        return;
    float goal = fmaxf(all, fminf(raised, 1));
    for (unsigned s = 0; s < CHART_STATES; s++)
        if (share[s] > 0)
            share[s] = fmaxf(share[s], LEAST) * goal / raised;
}
