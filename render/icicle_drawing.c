#include "render/icicle_drawing.h"

#include "base/alloc.h"
#include "render/scene_times.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS_PT 8.0
#define RULER_LETTERS_PT 7.5
#define LABEL_LEAST_PT 26.0 /* narrower boxes have no label */
#define INSET_PT 3.0
#define TICK_PT 90.0 /* minimum distance of ticks; in narrow drawings: */
#define TICK_LEAST_PT 45.0
#define HATCH_PT 4.0
#define SEVERAL (ICICLE_NONE - 1)
#define COLORS 6u

/* ---- colors ---- */

static const struct icicle_color {
    double red, green, blue, grey;
} colors[COLORS] = {{0.70, 0.81, 0.90, 0.80}, {0.93, 0.86, 0.68, 0.92}, {0.74, 0.86, 0.74, 0.74},
                    {0.83, 0.78, 0.90, 0.86}, {0.70, 0.87, 0.87, 0.97}, {0.88, 0.80, 0.74, 0.68}},
  others = {0.84, 0.85, 0.86, 0.89}, waited = {0.95, 0.79, 0.77, 0.96},
  apart = {0.93, 0.93, 0.93, 1};

/* By how much a box differs from that of another run, in parts of the latter. */
static const struct icicle_change {
    double least;
    struct icicle_color color;
    const char *words;
} changes[] = {{0.5, {0.84, 0.38, 0.30, 0.55}, "+50 % or more"},
               {0.1, {0.96, 0.65, 0.51, 0.66}, "+10 to +50 %"},
               {0.001, {0.99, 0.86, 0.78, 0.77}, "up to +10 %"},
               {-0.001, {0.93, 0.93, 0.93, 0.86}, "no difference"},
               {-0.1, {0.82, 0.90, 0.94, 0.91}, "up to -10 %"},
               {-0.5, {0.57, 0.77, 0.87, 0.95}, "-10 to -50 %"},
               {-HUGE_VAL, {0.26, 0.58, 0.76, 0.99}, "-50 % or less"}};

#define CHANGES ((uint32_t)(sizeof changes / sizeof *changes))
#define CHANGED (SEVERAL - CHANGES) /* rank of the first change */

static const struct icicle_color *color_of(uint32_t rank)
{
    return rank == ICICLE_NONE                 ? &waited
           : rank >= CHANGED && rank < SEVERAL ? &changes[rank - CHANGED].color
           : rank == SEVERAL                   ? &apart
           : rank < COLORS                     ? &colors[rank]
                                               : &others;
}

static void icicle_drawing_hatch_box(cairo_t *cr, bool grey, cairo_rectangle_t box)
{
    double first = floor((box.x - box.height) / HATCH_PT) * HATCH_PT;
    cairo_set_source_rgba(cr, grey ? 0 : 0.75, 0, 0, 0.32);
    cairo_set_line_width(cr, 0.6);
    for (double x = first; x < box.x + box.width; x += HATCH_PT) {
        cairo_move_to(cr, x, box.y + box.height);
        cairo_line_to(cr, x + box.height, box.y);
    }
    cairo_stroke(cr);
}

void icicle_drawing_fill(cairo_t *cr, uint32_t rank, bool grey, cairo_rectangle_t box)
{
    const struct icicle_color *c = color_of(rank);
    if (grey)
        cairo_set_source_rgb(cr, c->grey, c->grey, c->grey);
    else
        cairo_set_source_rgb(cr, c->red, c->green, c->blue);
    cairo_rectangle(cr, box.x, box.y, box.width, box.height);
    cairo_fill(cr);
    if (rank != ICICLE_NONE)
        return;
    cairo_save(cr);
    cairo_rectangle(cr, box.x, box.y, box.width, box.height);
    cairo_clip(cr);
    icicle_drawing_hatch_box(cr, grey, box);
    cairo_restore(cr);
}

static uint32_t icicle_drawing_change(const struct icicle_node *node)
{
    double before = (double)(node->size - node->change), part = (double)node->change;
    uint32_t i = 0;
    part = before > 0 ? part / before : part > 0 ? HUGE_VAL : 0;
    while (i + 1 < CHANGES && part < changes[i].least)
        i++;
    return CHANGED + i;
}

static uint32_t rank_of(const struct icicle_layout *b, const struct icicle_node *node)
{
    if (b->differs && node->row != UINT32_MAX)
        return icicle_drawing_change(node);
    return node->kind == ICICLE_BOX_WAITED  ? ICICLE_NONE
           : node->kind == ICICLE_BOX_APART ? SEVERAL
                                            : b->groups[node->group].rank;
}

/* ---- labels ---- */

/* Formats a size: "3.250 ms", "117". */
static void icicle_drawing_box_text(const struct icicle_layout *b, int64_t size, char *text,
                                    size_t room)
{
    if (b->ns)
        snprintf(text, room, "%.3f ms", (double)size / 1e6);
    else if (b->bytes)
        icicle_layout_bytes(size, text, room);
    else
        snprintf(text, room, "%lld", (long long)size);
}

size_t icicle_letters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

const char *icicle_skip_letters(const char *text, size_t n)
{
    for (; *text && n; n--)
        for (text++; ((unsigned char)*text & 0xc0) == 0x80;)
            text++;
    return text;
}

/* Returns the text with an ellipsis in its middle, `kept` of its `all` letters left. */
static char *icicle_drawing_shorten_middle(const char *text, size_t all, size_t kept)
{
    size_t head = (kept + 1) / 2;
    const char *tail = icicle_skip_letters(text, all - (kept - head));
    char *first = xstrndup(text, (size_t)(icicle_skip_letters(text, head) - text));
    char *sentence = xasprintf("%s\xe2\x80\xa6%s", first, tail);
    free(first);
    return sentence;
}

static bool icicle_drawing_text_fits(const char *text, double width, double size)
{
    return text_cache_width(NULL, text, size, false) <= width;
}

char *icicle_drawing_fitting(const char *text, double width, double size)
{
    if (width < 2 * size)
        return NULL;
    if (strlen(text) < 4 * width && icicle_drawing_text_fits(text, width, size))
        return xstrdup(text);
    size_t all = icicle_letters(text), least = 3, most = (size_t)(width / (size * 0.25));
    char *sentence = NULL;
    for (most = most < all ? most : all; least < most;) {
        size_t kept = (least + most) / 2;
        char *shorter = icicle_drawing_shorten_middle(text, all, kept);
        bool good = icicle_drawing_text_fits(shorter, width, size);
        if (good) {
            free(sentence);
            sentence = shorter;
            least = kept + 1;
        } else {
            free(shorter);
            most = kept;
        }
    }
    return sentence;
}

/* Returns as much of the label as fits: the full or short name with the amount, or the short name,
 * cut. */
static char *icicle_drawing_box_label(const struct icicle_node *node, double width)
{
    const char *names[] = {node->name, node->brief ? node->brief : node->name};
    for (size_t i = 0; i < 2; i++) {
        char *both = xasprintf("%s  %s", names[i], node->amount);
        if (strlen(both) < 4 * width && icicle_drawing_text_fits(both, width, LETTERS_PT))
            return both;
        free(both);
    }
    return icicle_drawing_fitting(names[1], width, LETTERS_PT);
}

/* ---- boxes ---- */

int64_t icicle_drawing_min_share(const struct icicle_layout *b, uint32_t node, double width_pt)
{
    double each = b->count ? (double)b->nodes[node].size / width_pt : 0;
    return (int64_t)ceil(each * ICICLE_LEAST_PT);
}

void icicle_drawing_place(const struct icicle_layout *b, uint32_t node, double width_pt,
                          struct icicle_boxes *places)
{
    node = node < b->count ? node : 0;
    icicle_layout_place(b, node, icicle_drawing_min_share(b, node, width_pt), places);
}

struct icicle_painter {
    cairo_t *cr;
    const struct icicle_layout *boxes;
    const struct icicle_drawing_view *view;
    double scale; /* points to a unit of size */
};

/* Returns the scale that makes the selected box as wide as the drawing. */
static double scale_of(const struct icicle_boxes *places, const struct icicle_drawing_view *view)
{
    int64_t size = 0;
    for (uint32_t i = 0; i < places->count && (!i || places->items[i].above); i++)
        size = places->items[i].size;
    return size > 0 ? view->width_pt / (double)size : 0;
}

static cairo_rectangle_t box_of(const struct icicle_painter *p, const struct icicle_box *placed)
{
    return (cairo_rectangle_t){(double)placed->at * p->scale,
                               ICICLE_RULER_PT + placed->depth * ICICLE_ROW_PT,
                               (double)placed->size * p->scale, ICICLE_ROW_PT};
}

static void paint_words(const struct icicle_painter *p, const struct icicle_box *placed,
                        cairo_rectangle_t box)
{
    char several[60];
    char *text;
    if (box.width < LABEL_LEAST_PT)
        return;
    snprintf(several, sizeof several, "(other: %u)", placed->smaller);
    text = placed->smaller
               ? icicle_drawing_fitting(several, box.width - 2 * INSET_PT, LETTERS_PT)
               : icicle_drawing_box_label(&p->boxes->nodes[placed->node], box.width - 2 * INSET_PT);
    double v = placed->above ? 0.4 : 0.08;
    cairo_set_source_rgb(p->cr, v, v, v);
    if (text)
        text_cache_show(p->cr, box.x + INSET_PT, box.y + 1.8, text, LETTERS_PT, false);
    free(text);
}

static void icicle_drawing_frame_box(const struct icicle_painter *p, cairo_rectangle_t box,
                                     double width, double v)
{
    cairo_set_source_rgb(p->cr, v, v, v);
    cairo_set_line_width(p->cr, width);
    cairo_rectangle(p->cr, box.x + width / 2, box.y + width / 2, fmax(0, box.width - width),
                    box.height - width);
    cairo_stroke(p->cr);
}

/* Fills the box up to its edges, so that widths are exact; a hairline separates it from the next
 * one. */
static void paint_ground(const struct icicle_painter *p, const struct icicle_box *placed,
                         cairo_rectangle_t box)
{
    const struct icicle_node *node = &p->boxes->nodes[placed->node];
    bool back = placed->above || (p->view->found && !p->view->found[placed->node]);
    icicle_drawing_fill(p->cr, placed->smaller ? SEVERAL : rank_of(p->boxes, node), p->view->grey,
                        box);
    if (back) {
        cairo_set_source_rgba(p->cr, 1, 1, 1, 0.6);
        cairo_rectangle(p->cr, box.x, box.y, box.width, box.height);
        cairo_fill(p->cr);
    }
    double line = fmin(0.6, box.width / 4), v = p->view->grey ? 0.45 : 0.62;
    cairo_set_source_rgb(p->cr, v, v, v);
    cairo_rectangle(p->cr, box.x, box.y + box.height - 0.6, box.width, 0.6);
    cairo_rectangle(p->cr, box.x + box.width - line, box.y, line, box.height);
    cairo_fill(p->cr);
}

static void paint_box(const struct icicle_painter *p, const struct icicle_box *placed)
{
    const struct icicle_drawing_view *v = p->view;
    cairo_rectangle_t box = box_of(p, placed);
    if (v->to_pt > 0 && (box.y > v->to_pt || box.y + box.height < v->from_pt))
        return;
    paint_ground(p, placed, box);
    paint_words(p, placed, box);
    if (placed->smaller)
        return;
    if (placed->node == v->selected)
        icicle_drawing_frame_box(p, box, 2, 0.1);
    else if (placed->node == v->pointed)
        icicle_drawing_frame_box(p, box, 1, 0.25);
}

/* ---- the ruler ---- */

static void icicle_drawing_report_tick(const struct icicle_layout *b, int64_t at, int64_t step,
                                       char *text, size_t room)
{
    if (b->ns && at)
        time_columns_print(at, step, text, room);
    else if (b->bytes && at)
        icicle_layout_bytes(at, text, room);
    else
        snprintf(text, room, "%lld", (long long)at);
}

/* Returns a round number that is at least `least`. */
static int64_t round_step(const struct icicle_layout *b, int64_t least)
{
    int64_t step = 1;
    if (!b->bytes)
        return time_columns_round(least);
    while (step < least && step < INT64_MAX / 2)
        step *= 2;
    return step;
}

static void paint_ruler(const struct icicle_painter *p)
{
    double v = p->view->dark ? 0.75 : 0.3;
    if (p->scale <= 0)
        return;
    double tick_pt = fmin(TICK_PT, fmax(TICK_LEAST_PT, p->view->width_pt / 5));
    int64_t step = round_step(p->boxes, (int64_t)ceil(tick_pt / p->scale)),
            all = (int64_t)(p->view->width_pt / p->scale + 0.5);
    cairo_set_source_rgb(p->cr, v, v, v);
    cairo_rectangle(p->cr, 0, ICICLE_RULER_PT - 1.2, p->view->width_pt, 0.6);
    cairo_fill(p->cr);
    for (int64_t at = 0; at <= all; at += step) {
        char text[40];
        double x = (double)at * p->scale;
        icicle_drawing_report_tick(p->boxes, at, step, text, sizeof text);
        double wide = text_cache_width(NULL, text, RULER_LETTERS_PT, false);
        cairo_rectangle(p->cr, fmin(x, p->view->width_pt - 0.6), 3, 0.6, ICICLE_RULER_PT - 4);
        cairo_fill(p->cr);
        bool right = x + 3 + wide <= p->view->width_pt;
        if (right || (double)(at - step) * p->scale + 2 * wide + 12 < x)
            text_cache_show(p->cr, right ? x + 3 : x - 3 - wide, 2, text, RULER_LETTERS_PT, false);
    }
}

void icicle_drawing_paint(cairo_t *cr, const struct icicle_layout *b,
                          const struct icicle_boxes *places, const struct icicle_drawing_view *view)
{
    struct icicle_painter p = {cr, b, view, scale_of(places, view)};
    if (view->from_pt < ICICLE_RULER_PT)
        paint_ruler(&p);
    for (uint32_t i = 0; i < places->count; i++)
        paint_box(&p, &places->items[i]);
}

const struct icicle_box *icicle_drawing_at(const struct icicle_layout *b,
                                           const struct icicle_boxes *places,
                                           const struct icicle_drawing_view *view, double x,
                                           double y)
{
    struct icicle_painter p = {NULL, b, view, scale_of(places, view)};
    for (uint32_t i = 0; i < places->count; i++) {
        cairo_rectangle_t box = box_of(&p, &places->items[i]);
        if (y >= box.y && y < box.y + box.height && x >= box.x && x < box.x + box.width)
            return &places->items[i];
    }
    return NULL;
}

/* ---- in a file: title, chart, legend of the colors, notes ---- */

#define WIDTH_PT 700.0 /* default */
#define WIDTH_LEAST_PT 120.0
#define MARGIN_PT 12.0
#define TITLE_PT 11.0
#define TITLE_LINE_PT 15.0
#define KEY_LINE_PT 13.0
#define KEY_LETTERS_PT 8.0
#define NOTE_LINE_PT 10.0
#define NOTE_LETTERS_PT 7.5
#define GROUPS_SHOWN 6u

struct icicle_page {
    const struct icicle_layout *boxes;
    struct icicle_boxes places;
    struct icicle_drawing_view view;
    char **lines; /* title and notes */
    uint32_t line_count;
    uint32_t title_lines; /* the first ones of `lines` */
    double key_pt; /* height of the legend */
    double width_pt, height_pt;
};

static void icicle_page_set_ink(cairo_t *cr, const struct icicle_page *d, double light)
{
    double v = d->view.dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
}

char *icicle_page_smaller_text(const struct icicle_layout *b, const struct icicle_boxes *places,
                               int64_t least)
{
    char narrow[40], all[40];
    if (!places->smaller_size) /* boxes of size 0 are not drawn at any zoom level */
        return NULL;
    icicle_drawing_box_text(b, least, narrow, sizeof narrow);
    icicle_drawing_box_text(b, places->smaller_size, all, sizeof all);
    return xasprintf("%u box%s narrower than %s merged into \"(other)\": %s in total.",
                     places->smaller, places->smaller == 1 ? "" : "es", narrow, all);
}

static void icicle_page_add_lines(struct icicle_page *d, const char *text, double size)
{
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = text_cache_line(text, d->view.width_pt, size);
        ARRAY_PUSH(d->lines, d->line_count, xstrndup(text, n));
    }
}

static void icicle_page_add_notes(struct icicle_page *d, const char *title, uint32_t node)
{
    const struct icicle_layout *b = d->boxes;
    icicle_page_add_lines(d, title, TITLE_PT);
    d->title_lines = d->line_count;
    char *wide = xasprintf("Width: %s.  Child boxes are part of the box above.", b->measure);
    icicle_page_add_lines(d, wide, NOTE_LETTERS_PT);
    free(wide);
    char *smaller = icicle_page_smaller_text(b, &d->places,
                                             icicle_drawing_min_share(b, node, d->view.width_pt));
    if (smaller)
        icicle_page_add_lines(d, smaller, NOTE_LETTERS_PT);
    free(smaller);
    for (uint32_t i = 0; i < b->note_count; i++)
        icicle_page_add_lines(d, b->notes[i], NOTE_LETTERS_PT);
}

struct icicle_page_key {
    const struct icicle_page *d;
    cairo_t *cr; /* NULL: only measure */
    double x, y, top;
};

static void icicle_page_add_word(struct icicle_page_key *k, uint32_t rank, const char *text)
{
    char *sentence =
        icicle_drawing_fitting(text, fmin(200, k->d->view.width_pt - 18), KEY_LETTERS_PT);
    const char *word = sentence ? sentence : "";
    double wide = text_cache_width(NULL, word, KEY_LETTERS_PT, false);
    if (k->x > 0 && k->x + 18 + wide > k->d->view.width_pt) {
        k->x = 0;
        k->y += KEY_LINE_PT;
    }
    if (k->cr) {
        cairo_rectangle_t box = {MARGIN_PT + k->x, k->top + k->y + 1.5, 14, 8.5};
        icicle_drawing_fill(k->cr, rank, k->d->view.grey, box);
        cairo_set_source_rgb(k->cr, 0.6, 0.6, 0.6);
        cairo_set_line_width(k->cr, 0.5);
        cairo_rectangle(k->cr, box.x, box.y, box.width, box.height);
        cairo_stroke(k->cr);
        icicle_page_set_ink(k->cr, k->d, 0.2);
        text_cache_show(k->cr, box.x + 18, k->top + k->y, word, KEY_LETTERS_PT, false);
    }
    k->x += 32 + wide;
    free(sentence);
}

static bool has_kind(const struct icicle_layout *b, enum icicle_box_kind kind)
{
    for (uint32_t i = 1; i < b->count; i++)
        if (b->nodes[i].kind == kind)
            return true;
    return false;
}

static void icicle_page_add_groups(struct icicle_page_key *k)
{
    const struct icicle_layout *b = k->d->boxes;
    uint32_t occur = 0;
    for (uint32_t i = 0; i < b->group_count; i++)
        occur += b->groups[i].occurs;
    for (uint32_t rank = 0; rank < occur && rank < GROUPS_SHOWN; rank++)
        for (uint32_t i = 0; i < b->group_count; i++)
            if (b->groups[i].occurs && b->groups[i].rank == rank)
                icicle_page_add_word(k, rank, b->groups[i].name);
    char more[60];
    snprintf(more, sizeof more, "%u others", occur - GROUPS_SHOWN);
    if (occur > GROUPS_SHOWN)
        icicle_page_add_word(k, GROUPS_SHOWN, more);
}

/* Paints the legend, or only measures it if `cr` is NULL. Returns its height. */
static double icicle_page_make_key(const struct icicle_page *d, cairo_t *cr, double top)
{
    struct icicle_page_key k = {d, cr, 0, 0, top};
    for (uint32_t i = 0; i < CHANGES && d->boxes->differs; i++)
        icicle_page_add_word(&k, CHANGED + i, changes[i].words);
    if (!d->boxes->differs)
        icicle_page_add_groups(&k);
    if (!d->boxes->differs && has_kind(d->boxes, ICICLE_BOX_WAITED))
        icicle_page_add_word(&k, ICICLE_NONE, "waiting or in a system call");
    if (d->places.smaller_size)
        icicle_page_add_word(&k, ICICLE_NONE - 1, "(other): several small boxes");
    return k.y + (k.x > 0 ? KEY_LINE_PT : 0);
}

static void icicle_page_paint(void *context, cairo_t *cr)
{
    const struct icicle_page *d = context;
    double y = MARGIN_PT;
    icicle_page_set_ink(cr, d, 0.1);
    for (uint32_t i = 0; i < d->title_lines; i++, y += TITLE_LINE_PT)
        text_cache_show(cr, MARGIN_PT, y, d->lines[i], TITLE_PT, true);
    cairo_save(cr);
    cairo_translate(cr, MARGIN_PT, y + 4);
    icicle_drawing_paint(cr, d->boxes, &d->places, &d->view);
    cairo_restore(cr);
    y += 4 + ICICLE_RULER_PT + d->places.rows * ICICLE_ROW_PT + 7;
    y += icicle_page_make_key(d, cr, y) + 3;
    icicle_page_set_ink(cr, d, 0.35);
    for (uint32_t i = d->title_lines; i < d->line_count; i++, y += NOTE_LINE_PT)
        text_cache_show(cr, MARGIN_PT, y, d->lines[i], NOTE_LETTERS_PT, false);
}

static void icicle_page_measure_layout(struct icicle_page *d)
{
    d->key_pt = icicle_page_make_key(d, NULL, 0);
    d->width_pt = d->view.width_pt + 2 * MARGIN_PT;
    d->height_pt = ceil(2 * MARGIN_PT + d->title_lines * TITLE_LINE_PT + 4 + ICICLE_RULER_PT +
                        d->places.rows * ICICLE_ROW_PT + 7 + d->key_pt + 3 +
                        (d->line_count - d->title_lines) * NOTE_LINE_PT);
}

bool icicle_page_write(const struct icicle_layout *b, uint32_t node,
                       const struct document_options *o, const char *path, const char **why)
{
    double width = o->width_pt > 0 ? o->width_pt - 2 * MARGIN_PT : WIDTH_PT;
    struct icicle_page d = {.boxes = b,
                            .view = {.width_pt = fmin(fmax(width, WIDTH_LEAST_PT), PAGE_LIMIT_PT),
                                     .selected = ICICLE_NONE,
                                     .pointed = ICICLE_NONE,
                                     .grey = o->theme.grey,
                                     .dark = o->theme.dark}};
    icicle_drawing_place(b, node, d.view.width_pt, &d.places);
    icicle_page_add_notes(&d, o->title ? o->title : b->title, node);
    icicle_page_measure_layout(&d);
    bool written = document_write_drawing(&(struct drawing){.width_pt = d.width_pt,
                                                            .height_pt = d.height_pt,
                                                            .paint = icicle_page_paint,
                                                            .context = &d},
                                          o, path, why);
    icicle_layout_places_free(&d.places);
    for (uint32_t i = 0; i < d.line_count; i++)
        free(d.lines[i]);
    free(d.lines);
    text_cache_clear();
    return written;
}
