/* A way through the rows of a chart, over them: thick along the row that it is in, thin from one to
 * the next. */
#ifndef RENDER_CHART_PATH_H
#define RENDER_CHART_PATH_H

#include "render/state_chart.h"

#include <cairo.h>

struct chart_path_box { /* of the rows that are painted, in points */
    double x_pt, y_pt, width_pt, row_pt;
    uint32_t first, rows; /* the chart's rows */
    bool grey;
};

void chart_path_paint(cairo_t *cr, const struct state_chart *chart,
                      const struct chart_path_box *box);
/* What it looks like, so wide. */
void chart_path_sample(cairo_t *cr, double x_pt, double y_pt, double width_pt, bool grey);

#endif
