/* Shares of thread states per pixel of a row of a chart. */
#ifndef RENDER_STATE_SHARES_H
#define RENDER_STATE_SHARES_H

#include "render/state_chart.h"

/* Returns of[pixel][state], as fractions of 1; the rest is empty. In an overview all work is
 * CHART_RUNNING. The caller frees it. */
float (*shares_of(const struct state_chart *chart, uint32_t row))[CHART_STATES];
/* Adjusts the shares for painting: every nonzero share gets at least `least`, so that it is
 * visible. */
void state_shares_visible(float *share, float least);

#endif
