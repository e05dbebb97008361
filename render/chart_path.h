/* Drawing of a path over the rows of a chart: thick along the current row, thin between rows. */
#ifndef RENDER_CHART_PATH_H
#define RENDER_CHART_PATH_H

#include "render/state_chart.h"

#include <cairo.h>

struct chart_path_box { /* the painted rows, in points */
    double x_pt, y_pt, width_pt, row_pt;
    uint32_t first, rows; /* the rows of the chart */
    bool grey;
};

void chart_path_paint(cairo_t *cr, const struct state_chart *chart,
                      const struct chart_path_box *box);
/* Paints a sample of the path with this width, for a key. */
void chart_path_sample(cairo_t *cr, double x_pt, double y_pt, double width_pt, bool grey);

#endif
