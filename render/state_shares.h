/* Which share of each pixel of a row of a chart was spent in which state. */
#ifndef RENDER_STATE_SHARES_H
#define RENDER_STATE_SHARES_H

#include "render/state_chart.h"

/* of[pixel][state], of 1; what is left is nothing.  In an overview all work is CHART_RUNNING.  The
 * caller's to free. */
float (*shares_of(const struct state_chart *chart, uint32_t row))[CHART_STATES];
/* The same as they are painted: what there is at all has `least`, so that it is seen. */
void state_shares_visible(float *share, float least);

#endif
