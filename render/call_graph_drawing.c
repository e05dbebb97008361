#include "render/call_graph_drawing.h"

#include "base/alloc.h"
#include "render/icicle_drawing.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdlib.h>

#define MARGIN_PT 14.0
#define TITLE_PT 11.0
#define TITLE_LINE_PT 20.0
#define NAME_PT 8.5
#define AMOUNT_PT 7.0
#define COUNT_PT 7.0
#define NOTE_PT 7.5
#define NOTE_LINE_PT 10.0
#define BOX_PT 27.0
#define BETWEEN_PT 34.0 /* distance of layers */
#define GAP_PT 16.0
#define INSET_PT 6.0
#define NAMES_MOST_PT 190.0
#define WIDTH_LEAST_PT 300.0
#define HEAD_PT 4.5
#define LOOP_PT 26.0 /* space at each side of the box of a function that calls itself */

struct call_graph_drawing {
    const struct call_graph *graph;
    const char *title;
    uint32_t selected;
    struct graph_layout layers;
    char **names; /* cut to fit */
    double *widths; /* of boxes; their width in `layers` includes the space for loops */
    char **notes;
    uint32_t note_count;
    double top_pt, width_pt, height_pt;
    bool grey, dark;
};

static void set_ink(cairo_t *cr, const struct call_graph_drawing *d, double light)
{
    double v = d->dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
}

/* ---- positions ---- */

static double layer_y(const struct call_graph_drawing *d, uint32_t layer)
{
    return d->top_pt + layer * (BOX_PT + BETWEEN_PT);
}

static cairo_rectangle_t box_of(const struct call_graph_drawing *d, uint32_t node)
{
    const struct graph_layout_node *n = &d->layers.nodes[node];
    double width = d->widths[node];
    return (cairo_rectangle_t){MARGIN_PT + n->x - width / 2, layer_y(d, n->layer), width, BOX_PT};
}

/* ---- boxes ---- */

static void trace_box(cairo_t *cr, cairo_rectangle_t b, double by)
{
    cairo_rectangle(cr, b.x - by, b.y - by, b.width + 2 * by, b.height + 2 * by);
}

/* Fills a box: the larger the function's share of self time, the darker. */
static void fill_box(cairo_t *cr, const struct call_graph_drawing *d, uint32_t node,
                     cairo_rectangle_t b)
{
    const struct call_graph_node *n = &d->graph->nodes[node];
    double share = sqrt(fmin(fmax(n->share, 0), 1));
    if (n->waited) {
        icicle_drawing_fill(cr, ICICLE_NONE, d->grey, b);
    } else if (d->grey) {
        double v = 1 - 0.42 * share;
        cairo_set_source_rgb(cr, v, v, v);
        trace_box(cr, b, 0);
        cairo_fill(cr);
    } else {
        cairo_set_source_rgb(cr, 0.97 - 0.41 * share, 0.98 - 0.24 * share, 1 - 0.11 * share);
        trace_box(cr, b, 0);
        cairo_fill(cr);
    }
}

static void paint_node(cairo_t *cr, const struct call_graph_drawing *d, uint32_t node)
{
    const struct call_graph_node *n = &d->graph->nodes[node];
    cairo_rectangle_t b = box_of(d, node);
    char cycle[40];
    fill_box(cr, d, node, b);
    double v = node == d->selected ? 0 : 0.35;
    cairo_set_source_rgb(cr, v, v, v);
    cairo_set_line_width(cr, node == d->selected ? 2.2 : 0.8);
    trace_box(cr, b, 0);
    if (n->cycle)
        trace_box(cr, b, 2.5); /* a double frame is visible without color */
    cairo_stroke(cr);
    cairo_set_source_rgb(cr, 0.08, 0.08, 0.08);
    text_cache_show(cr, b.x + INSET_PT, b.y + 2.5, d->names[node], NAME_PT, false);
    cairo_set_source_rgb(cr, 0.3, 0.3, 0.3);
    text_cache_show(cr, b.x + INSET_PT, b.y + 15, n->amount, AMOUNT_PT, false);
    if (!n->cycle)
        return;
    snprintf(cycle, sizeof cycle, "cycle %u", n->cycle);
    set_ink(cr, d, 0.3);
    text_cache_show(cr, b.x, b.y + BOX_PT + 3, cycle, COUNT_PT, false);
}

/* ---- arrows ---- */

static void call_graph_drawing_paint_arrowhead(cairo_t *cr, double x, double y, double dx,
                                               double dy)
{
    double long_is = hypot(dx, dy);
    dx *= HEAD_PT / long_is;
    dy *= HEAD_PT / long_is;
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x - dx - dy * 0.45, y - dy + dx * 0.45);
    cairo_line_to(cr, x - dx + dy * 0.45, y - dy - dx * 0.45);
    cairo_close_path(cr);
    cairo_fill(cr);
}

static void call_graph_drawing_paint_count(cairo_t *cr, const struct call_graph_drawing *d,
                                           double x, double y, const char *calls)
{
    double wide = text_cache_width(NULL, calls, COUNT_PT, false), v = d->dark ? 0.1 : 1;
    cairo_set_source_rgba(cr, v, v, v, 0.85);
    cairo_rectangle(cr, x - wide / 2 - 1, y - 5, wide + 2, 10);
    cairo_fill(cr);
    set_ink(cr, d, 0.25);
    text_cache_show(cr, x - wide / 2, y - 5, calls, COUNT_PT, false);
}

/* Returns the x at which an arc leaves (or enters) a node: all of the node's arcs are side by side,
 * sorted by where they lead. */
static double call_graph_drawing_arc_port_x(const struct call_graph_drawing *d, uint32_t arc,
                                            bool from)
{
    const struct graph_layout *l = &d->layers;
    uint32_t node = from ? l->arcs[arc].from : l->arcs[arc].to, before = 0, all = 0;
    const struct graph_layout_arc *mine = &l->arcs[arc];
    for (uint32_t i = 0; i < l->arc_count; i++) {
        const struct graph_layout_arc *a = &l->arcs[i];
        if (a->back || (from ? a->from : a->to) != node)
            continue;
        double x = l->nodes[a->bends ? (from ? a->bend : a->bend + a->bends - 1)
                                     : (from ? a->to : a->from)]
                       .x,
               at = l->nodes[mine->bends ? (from ? mine->bend : mine->bend + mine->bends - 1)
                                         : (from ? mine->to : mine->from)]
                        .x;
        before += x < at || (x == at && i < arc);
        all++;
    }
    double room = fmin(d->widths[node] - 12, 18.0 * (all - 1));
    return MARGIN_PT + l->nodes[node].x + (all > 1 ? room * (before / (all - 1.0) - 0.5) : 0);
}

/* Traces a curve downwards, through the bends of the arc, between the boxes of the layers that it
 * crosses. */
static void trace_down(cairo_t *cr, const struct call_graph_drawing *d, uint32_t arc, double end_x,
                       double end_y)
{
    const struct graph_layout *l = &d->layers;
    const struct graph_layout_arc *a = &l->arcs[arc];
    double x = call_graph_drawing_arc_port_x(d, arc, true),
           y = layer_y(d, l->nodes[a->from].layer) + BOX_PT, half = BETWEEN_PT / 2;
    cairo_move_to(cr, x, y);
    for (uint32_t i = 0; i < a->bends; i++) {
        const struct graph_layout_node *bend = &l->nodes[a->bend + i];
        double bx = MARGIN_PT + bend->x, by = layer_y(d, bend->layer);
        cairo_curve_to(cr, x, y + half, bx, by - half, bx, by);
        cairo_line_to(cr, bx, by + BOX_PT);
        x = bx;
        y = by + BOX_PT;
    }
    cairo_curve_to(cr, x, y + half, end_x, end_y - half, end_x, end_y);
}

static double call_graph_drawing_arc_width(const struct call_graph_arc *arc)
{
    return 0.6 + 2.4 * fmin(fmax(arc->share, 0), 1);
}

static void paint_down(cairo_t *cr, const struct call_graph_drawing *d, uint32_t arc)
{
    const struct graph_layout_arc *a = &d->layers.arcs[arc];
    double x = call_graph_drawing_arc_port_x(d, arc, false),
           y = layer_y(d, d->layers.nodes[a->to].layer);
    set_ink(cr, d, 0.45);
    cairo_set_line_width(cr, call_graph_drawing_arc_width(&d->graph->arcs[arc]));
    trace_down(cr, d, arc, x, y - HEAD_PT + 1);
    cairo_stroke(cr);
    call_graph_drawing_paint_arrowhead(cr, x, y, 0, 1);
}

/* Paints the count near the arrowhead, where arcs from one node are apart. */
static void count_down(cairo_t *cr, const struct call_graph_drawing *d, uint32_t arc)
{
    const struct graph_layout_arc *a = &d->layers.arcs[arc];
    const struct graph_layout_node *last =
        &d->layers.nodes[a->bends ? a->bend + a->bends - 1 : a->from];
    double x0 = a->bends ? MARGIN_PT + last->x : call_graph_drawing_arc_port_x(d, arc, true),
           x1 = call_graph_drawing_arc_port_x(d, arc, false);
    call_graph_drawing_paint_count(cr, d, x0 * 0.2 + x1 * 0.8,
                                   layer_y(d, d->layers.nodes[a->to].layer) - 11,
                                   d->graph->arcs[arc].calls);
}

/* Paints an arc that leads up, along the right sides of both boxes; of a function that calls
 * itself, a loop. */
static void paint_up(cairo_t *cr, const struct call_graph_drawing *d, uint32_t arc)
{
    const struct graph_layout_arc *a = &d->layers.arcs[arc];
    cairo_rectangle_t from = box_of(d, a->from), to = box_of(d, a->to);
    double x0 = from.x + from.width, x1 = to.x + to.width, y0 = from.y + BOX_PT * 0.7,
           y1 = to.y + BOX_PT * 0.3, out = fmax(x0, x1) + (a->from == a->to ? 20 : 26);
    double dashes[] = {3, 2};
    cairo_set_source_rgb(cr, d->grey ? 0.25 : 0.72, d->grey ? 0.25 : 0.2, d->grey ? 0.25 : 0.15);
    cairo_set_line_width(cr, fmin(1.2, call_graph_drawing_arc_width(&d->graph->arcs[arc])));
    cairo_set_dash(cr, dashes, 2, 0);
    cairo_move_to(cr, x0, y0);
    cairo_curve_to(cr, out, y0, out, y1, x1 + HEAD_PT - 1, y1);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
    call_graph_drawing_paint_arrowhead(cr, x1, y1, -1, 0);
    const char *calls = d->graph->arcs[arc].calls;
    double wide = text_cache_width(NULL, calls, COUNT_PT, false);
    call_graph_drawing_paint_count(cr, d, a->from == a->to ? out - 3 + wide / 2 : out - 4,
                                   (y0 + y1) / 2, calls);
}

/* ---- layout and painting ---- */

static void call_graph_drawing_paint(void *context, cairo_t *cr)
{
    const struct call_graph_drawing *d = context;
    double y = layer_y(d, d->layers.layer_count) - BETWEEN_PT + 16;
    set_ink(cr, d, 0.1);
    double wide = text_cache_width(NULL, d->title, TITLE_PT, true),
           most = d->width_pt - 2 * MARGIN_PT;
    text_cache_show(cr, MARGIN_PT, MARGIN_PT, d->title,
                    wide > most ? TITLE_PT * most / wide : TITLE_PT, true);
    for (uint32_t i = 0; i < d->layers.arc_count; i++)
        if (!d->layers.arcs[i].back)
            paint_down(cr, d, i);
    for (uint32_t i = 0; i < d->graph->count; i++)
        paint_node(cr, d, i);
    for (uint32_t i = 0; i < d->layers.arc_count; i++)
        if (d->layers.arcs[i].back)
            paint_up(cr, d, i);
        else
            count_down(cr, d, i);
    set_ink(cr, d, 0.35);
    for (uint32_t i = 0; i < d->note_count; i++, y += NOTE_LINE_PT)
        text_cache_show(cr, MARGIN_PT, y, d->notes[i], NOTE_PT, false);
}

static void add_note(struct call_graph_drawing *d, const char *text)
{
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = text_cache_line(text, d->width_pt - 2 * MARGIN_PT, NOTE_PT);
        ARRAY_PUSH(d->notes, d->note_count, xstrndup(text, n));
    }
}

static bool calls_itself(const struct call_graph *g, uint32_t node)
{
    for (uint32_t i = 0; i < g->arc_count; i++)
        if (g->arcs[i].from == node && g->arcs[i].to == node)
            return true;
    return false;
}

static void lay_out(struct call_graph_drawing *d)
{
    const struct call_graph *g = d->graph;
    struct graph_layout *l = &d->layers;
    d->widths = xcalloc(g->count + 1, sizeof *d->widths);
    d->names = xcalloc(g->count + 1, sizeof *d->names);
    l->nodes = xcalloc(g->count + 1, sizeof *l->nodes);
    l->arcs = xcalloc(g->arc_count + 1, sizeof *l->arcs);
    l->count = g->count;
    l->arc_count = g->arc_count;
    for (uint32_t i = 0; i < g->count; i++) {
        d->names[i] = icicle_drawing_fitting(g->nodes[i].name, NAMES_MOST_PT, NAME_PT);
        d->widths[i] = fmax(text_cache_width(NULL, d->names[i], NAME_PT, false),
                            text_cache_width(NULL, g->nodes[i].amount, AMOUNT_PT, false)) +
                       2 * INSET_PT;
        l->nodes[i].width = d->widths[i] + (calls_itself(g, i) ? 2 * LOOP_PT : 0);
    }
    for (uint32_t i = 0; i < g->arc_count; i++)
        l->arcs[i] = (struct graph_layout_arc){.from = g->arcs[i].from, .to = g->arcs[i].to};
    graph_layout_place(l, GAP_PT);
    d->top_pt = MARGIN_PT + TITLE_LINE_PT;
    d->width_pt = fmax(WIDTH_LEAST_PT, ceil(l->width + 2 * MARGIN_PT + 34)); /* room for loops */
    for (uint32_t i = 0; i < g->note_count; i++)
        add_note(d, g->notes[i]);
    d->height_pt = ceil(layer_y(d, l->layer_count) - BETWEEN_PT + 16 +
                        d->note_count * NOTE_LINE_PT + MARGIN_PT);
}

struct call_graph_drawing *call_graph_drawing_new(const struct call_graph *g, const char *title,
                                                  bool grey, bool dark)
{
    struct call_graph_drawing *d = xcalloc(1, sizeof *d);
    *d = (struct call_graph_drawing){.graph = g,
                                     .title = title,
                                     .grey = grey,
                                     .dark = dark,
                                     .selected = CALL_GRAPH_DRAWING_NONE};
    lay_out(d);
    return d;
}

void call_graph_drawing_size(const struct call_graph_drawing *d, double *width_pt,
                             double *height_pt)
{
    *width_pt = d->width_pt;
    *height_pt = d->height_pt;
}

void call_graph_paint(struct call_graph_drawing *d, cairo_t *cr, uint32_t selected)
{
    d->selected = selected;
    call_graph_drawing_paint(d, cr);
}

uint32_t call_graph_drawing_at(const struct call_graph_drawing *d, double x, double y)
{
    for (uint32_t i = 0; i < d->graph->count; i++) {
        cairo_rectangle_t b = box_of(d, i);
        if (x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + b.height)
            return i;
    }
    return CALL_GRAPH_DRAWING_NONE;
}

void call_graph_drawing_free(struct call_graph_drawing *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < d->graph->count; i++)
        free(d->names[i]);
    for (uint32_t i = 0; i < d->note_count; i++)
        free(d->notes[i]);
    free(d->names);
    free(d->widths);
    free(d->notes);
    graph_layout_free(&d->layers);
    free(d);
}

bool call_graph_drawing_write(const struct call_graph *g, const struct document_options *o,
                              const char *path, const char **why)
{
    struct call_graph_drawing *d =
        call_graph_drawing_new(g, o->title ? o->title : "", o->theme.grey, o->theme.dark);
    bool written = document_write_drawing(&(struct drawing){.width_pt = d->width_pt,
                                                            .height_pt = d->height_pt,
                                                            .paint = call_graph_drawing_paint,
                                                            .context = d},
                                          o, path, why);
    call_graph_drawing_free(d);
    text_cache_clear();
    return written;
}
