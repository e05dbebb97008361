/* Drawing of a path over the rows of a chart: thick along the current row, thin between rows. */
#include "render/state_chart.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

#define HAIR_PT 0.25 /* spans of a row with a smaller gap are merged */
#define HOP_PT 1.0   /* hops between rows that are closer are merged */
#define HOP_WIDTH_PT 0.5 /* thin, so that the bands below remain visible */

struct chart_path_trace {
    cairo_t *cr;
    const struct state_chart *chart;
    const struct chart_path_box *box;
    struct chart_path_span { /* by row: the last span, not drawn yet, since it may be extended */
        double from, to;
        bool open;
    } *spans;
    struct chart_path_span hop; /* the last hop, likewise; it is at from, between the rows: */
    uint32_t low, high;
};

static double x_of(const struct chart_path_trace *t, int64_t ns)
{
    const struct state_chart *c = t->chart;
    double x = (double)(ns - c->from_ns) / (double)(c->to_ns - c->from_ns);
    return t->box->x_pt + t->box->width_pt * fmin(1, fmax(0, x));
}

static double y_of(const struct chart_path_trace *t, uint32_t row)
{
    return t->box->y_pt + t->box->row_pt * ((double)row - t->box->first + 0.5);
}

static void set_color(cairo_t *cr, bool grey)
{
    cairo_set_source_rgb(cr, 0.05, 0.05, grey ? 0.05 : 0.35);
}

/* ---- spans along rows ---- */

static void chart_path_flush_spans(struct chart_path_trace *t, uint32_t row)
{
    const struct chart_path_span *s = &t->spans[row];
    bool here = row >= t->box->first && row < t->box->first + t->box->rows;
    if (!s->open || !here)
        return;
    cairo_move_to(t->cr, s->from, y_of(t, row));
    cairo_line_to(t->cr, fmax(s->to, s->from + HAIR_PT), y_of(t, row));
}

static void chart_path_trace_spans(struct chart_path_trace *t)
{
    const struct state_chart *c = t->chart;
    for (uint32_t i = 0; i < c->way_count; i++) {
        struct chart_path_span *s = &t->spans[c->way[i].row];
        double from = x_of(t, c->way[i].from_ns), to = x_of(t, c->way[i].to_ns);
        if (!s->open || from > s->to + HAIR_PT) {
            chart_path_flush_spans(t, c->way[i].row);
            *s = (struct chart_path_span){from, to, true};
        }
        s->to = fmax(s->to, to);
    }
    for (uint32_t row = 0; row < c->row_count; row++)
        chart_path_flush_spans(t, row);
}

/* Strokes the path with a light outline, so that it is visible on any color. */
static void chart_path_stroke_outlined(cairo_t *cr, double width, bool grey)
{
    cairo_set_line_width(cr, width + 1.4);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_stroke_preserve(cr);
    cairo_set_line_width(cr, width);
    set_color(cr, grey);
    cairo_stroke(cr);
}

/* ---- hops between rows ---- */

static void chart_path_flush_hop(struct chart_path_trace *t)
{
    if (!t->hop.open)
        return;
    cairo_move_to(t->cr, t->hop.from, y_of(t, t->low));
    cairo_line_to(t->cr, t->hop.from, y_of(t, t->high));
}

static void trace_hops(struct chart_path_trace *t)
{
    const struct chart_piece *way = t->chart->way;
    for (uint32_t i = 1; i < t->chart->way_count; i++) {
        uint32_t a = way[i - 1].row, b = way[i].row, low = a < b ? a : b, high = a < b ? b : a;
        double x = x_of(t, way[i].from_ns);
        if (a == b)
            continue;
        if (!t->hop.open || fabs(x - t->hop.from) >= HOP_PT) {
            chart_path_flush_hop(t);
            t->hop = (struct chart_path_span){x, x, true};
            t->low = low;
            t->high = high;
        }
        t->low = low < t->low ? low : t->low;
        t->high = high > t->high ? high : t->high;
    }
    chart_path_flush_hop(t);
}

/* ---- painting ---- */

void chart_path_paint(cairo_t *cr, const struct state_chart *c, const struct chart_path_box *box)
{
    double width = fmin(3.2, fmax(1.2, box->row_pt * 0.22));
    struct chart_path_trace t = {.cr = cr, .chart = c, .box = box};
    t.spans = xcalloc(c->row_count + 1, sizeof *t.spans);
    cairo_save(cr);
    cairo_rectangle(cr, box->x_pt - 4, box->y_pt, box->width_pt + 8, box->row_pt * box->rows);
    cairo_clip(cr);
    trace_hops(&t);
    cairo_set_line_width(cr, HOP_WIDTH_PT);
    set_color(cr, box->grey);
    cairo_stroke(cr);
    chart_path_trace_spans(&t);
    chart_path_stroke_outlined(cr, width, box->grey);
    cairo_restore(cr);
    free(t.spans);
}

void chart_path_sample(cairo_t *cr, double x, double y, double width, bool grey)
{
    cairo_save(cr);
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x + width, y);
    chart_path_stroke_outlined(cr, 3, grey);
    cairo_restore(cr);
}
