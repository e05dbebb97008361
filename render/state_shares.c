#include "render/state_shares.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

/* Merges all states but created and exited into running. */
static void add_work(uint8_t *share)
{
    unsigned work = 0;
    for (unsigned s = 0; s < CHART_STATES; s++)
        if (s != CHART_START && s != CHART_TERMINATE) {
            work += share[s];
            share[s] = 0;
        }
    share[CHART_RUNNING] = (uint8_t)(work < 255 ? work : 255);
}

float (*shares_of(const struct state_chart *c, uint32_t row))[CHART_STATES]
{
    float(*shares)[CHART_STATES] = xcalloc(c->pixels, sizeof *shares);
    for (uint32_t i = 0; i < c->pixels; i++) {
        struct chart_pixel pixel = c->rows[row].pixels[i];
        if (c->overview)
            add_work(pixel.share);
        for (unsigned s = 0; s < CHART_STATES; s++)
            shares[i][s] = (float)pixel.share[s] / 255;
    }
    return shares;
}

void state_shares_visible(float *share, float least)
{
    float all = 0, raised = 0;
    for (unsigned s = 0; s < CHART_STATES; s++) {
        all += share[s];
        raised += share[s] > 0 ? fmaxf(share[s], least) : 0;
    }
    if (raised <= all)
        return;
    float goal = fmaxf(all, fminf(raised, 1));
    for (unsigned s = 0; s < CHART_STATES; s++)
        if (share[s] > 0)
            share[s] = fmaxf(share[s], least) * goal / raised;
}
