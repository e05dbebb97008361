/* Which share of each pixel of a row of a chart was spent in which state. */
#ifndef RENDER_SHARES_H
#define RENDER_SHARES_H

#include "render/chart.h"

/* of[pixel][state], of 1; what is left is nothing.  The caller's to free. */
float (*shares_of(const struct chart *chart, uint32_t row, uint32_t pixels))[CHART_STATES];
/* The same as they are painted: what there is at all is seen, too. */
void shares_seen(float *share);

#endif
