/* Icicle charts in a file: title, chart, legend of the colors, notes. */
#include "base/alloc.h"
#include "render/drawing_file.h"
#include "render/icicle_drawing.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void set_ink(cairo_t *cr, const struct icicle_page *d, double light)
{
    double v = d->view.dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
}

/* ---- texts ---- */

static void add_lines(struct icicle_page *d, const char *text, double size)
{
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = text_cache_line(text, d->view.width_pt, size);
        ARRAY_PUSH(d->lines, d->line_count, xstrndup(text, n));
    }
}

static void add_notes(struct icicle_page *d, const char *title, uint32_t node)
{
    const struct icicle_layout *b = d->boxes;
    add_lines(d, title, TITLE_PT);
    d->title_lines = d->line_count;
    char *wide = xasprintf("Width: %s.  Child boxes are part of the box above.", b->measure);
    add_lines(d, wide, NOTE_LETTERS_PT);
    free(wide);
    char *smaller = icicle_page_smaller_text(b, &d->places,
                                             icicle_drawing_min_share(b, node, d->view.width_pt));
    if (smaller)
        add_lines(d, smaller, NOTE_LETTERS_PT);
    free(smaller);
    for (uint32_t i = 0; i < b->note_count; i++)
        add_lines(d, b->notes[i], NOTE_LETTERS_PT);
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

/* ---- legend ---- */

struct icicle_page_key {
    const struct icicle_page *d;
    cairo_t *cr; /* NULL: only measure */
    double x, y, top;
};

static void add_word(struct icicle_page_key *k, uint32_t rank, const char *text)
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
        set_ink(k->cr, k->d, 0.2);
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

static void add_groups(struct icicle_page_key *k)
{
    const struct icicle_layout *b = k->d->boxes;
    uint32_t occur = 0;
    for (uint32_t i = 0; i < b->group_count; i++)
        occur += b->groups[i].occurs;
    for (uint32_t rank = 0; rank < occur && rank < GROUPS_SHOWN; rank++)
        for (uint32_t i = 0; i < b->group_count; i++)
            if (b->groups[i].occurs && b->groups[i].rank == rank)
                add_word(k, rank, b->groups[i].name);
    char more[60];
    snprintf(more, sizeof more, "%u others", occur - GROUPS_SHOWN);
    if (occur > GROUPS_SHOWN)
        add_word(k, GROUPS_SHOWN, more);
}

/* Paints the legend, or only measures it if `cr` is NULL. Returns its height. */
static double make_key(const struct icicle_page *d, cairo_t *cr, double top)
{
    struct icicle_page_key k = {d, cr, 0, 0, top};
    add_groups(&k);
    if (has_kind(d->boxes, ICICLE_BOX_WAITED))
        add_word(&k, ICICLE_NONE, "waiting or in a system call");
    if (d->places.smaller_size)
        add_word(&k, ICICLE_NONE - 1, "(other): several small boxes");
    return k.y + (k.x > 0 ? KEY_LINE_PT : 0);
}

/* ---- layout and painting ---- */

static void icicle_page_paint(void *context, cairo_t *cr)
{
    const struct icicle_page *d = context;
    double y = MARGIN_PT;
    set_ink(cr, d, 0.1);
    for (uint32_t i = 0; i < d->title_lines; i++, y += TITLE_LINE_PT)
        text_cache_show(cr, MARGIN_PT, y, d->lines[i], TITLE_PT, true);
    cairo_save(cr);
    cairo_translate(cr, MARGIN_PT, y + 4);
    icicle_drawing_paint(cr, d->boxes, &d->places, &d->view);
    cairo_restore(cr);
    y += 4 + ICICLE_RULER_PT + d->places.rows * ICICLE_ROW_PT + 7;
    y += make_key(d, cr, y) + 3;
    set_ink(cr, d, 0.35);
    for (uint32_t i = d->title_lines; i < d->line_count; i++, y += NOTE_LINE_PT)
        text_cache_show(cr, MARGIN_PT, y, d->lines[i], NOTE_LETTERS_PT, false);
}

static void icicle_page_measure_layout(struct icicle_page *d)
{
    d->key_pt = make_key(d, NULL, 0);
    d->width_pt = d->view.width_pt + 2 * MARGIN_PT;
    d->height_pt = ceil(2 * MARGIN_PT + d->title_lines * TITLE_LINE_PT + 4 + ICICLE_RULER_PT +
                        d->places.rows * ICICLE_ROW_PT + 7 + d->key_pt + 3 +
                        (d->line_count - d->title_lines) * NOTE_LINE_PT);
}

const char *icicle_page_write(const struct icicle_layout *b, uint32_t node,
                              const struct document_options *o, const char *path)
{
    double width = o->width_pt > 0 ? o->width_pt - 2 * MARGIN_PT : WIDTH_PT;
    struct icicle_page d = {.boxes = b,
                            .view = {.width_pt = fmin(fmax(width, WIDTH_LEAST_PT), PAGE_LIMIT_PT),
                                     .selected = ICICLE_NONE,
                                     .pointed = ICICLE_NONE,
                                     .grey = o->theme.grey,
                                     .dark = o->theme.dark}};
    icicle_drawing_place(b, node, d.view.width_pt, &d.places);
    add_notes(&d, o->title ? o->title : b->title, node);
    icicle_page_measure_layout(&d);
    const char *why = drawing_file_write(&(struct drawing){.width_pt = d.width_pt,
                                                           .height_pt = d.height_pt,
                                                           .paint = icicle_page_paint,
                                                           .context = &d},
                                         o, path);
    icicle_layout_places_free(&d.places);
    for (uint32_t i = 0; i < d.line_count; i++)
        free(d.lines[i]);
    free(d.lines);
    text_cache_clear();
    return why;
}
