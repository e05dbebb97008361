#include "render/table_page.h"

#include "base/alloc.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MARGIN_PT 16.0
#define GAP_PT 14.0 /* between columns */
#define INDENT_PT 10.0 /* per level of depth */
#define ROW_PT 13.0
#define TITLE_PT 24.0
#define SHEET_GAP_PT 16.0
#define LETTERS_PT 8.5
#define TITLE_LETTERS_PT 11.0
#define HEAD_LETTERS_PT 15.0
#define PAGE_PT 842.0 /* height of A4 */
#define NOTE_LETTERS_PT 7.5
#define BAR_PT 44.0 /* left of the numbers of a shaded column */
/* wider notes are broken at the width of the table, or at this width if the table is narrower */
#define NOTE_LEAST_PT 260.0

enum table_page_item_kind { ITEM_TITLE, ITEM_HEAD, ITEM_ROW, ITEM_NOTE, ITEM_GAP };

struct table_page_item { /* one line of the page */
    uint8_t kind; /* an enum table_page_item_kind */
    uint32_t sheet, row;
    double y, height; /* on its page */
    unsigned page;
    char *text; /* of a note: one of its lines */
};

struct table_page_layout {
    const struct text_table *sheets;
    double **widths; /* of the columns, by sheet */
    struct table_page_item *items;
    uint32_t item_count;
    double width_pt, height_pt, page_pt; /* page_pt: maximum height of a page */
    unsigned page, pages; /* page: the one that is being painted */
    bool dark;
};

/* ---- layout ---- */

static double width_of(const char *text, bool bold)
{
    return text_cache_width(NULL, text, LETTERS_PT, bold);
}

/* Returns the width of a cell, including the bar beside it. */
static double width_of_cell(const struct text_table *s, uint32_t k, const char *text, bool bold)
{
    text_cache_code(s->columns[k].code && !bold);
    double width = width_of(text, bold) + (s->columns[k].shaded ? BAR_PT : 0);
    text_cache_code(false);
    return width;
}

static double *table_page_column_widths(const struct text_table *s)
{
    double *widths = xcalloc(s->column_count + 1, sizeof *widths);
    for (uint32_t k = 0; k < s->column_count; k++)
        widths[k] = width_of_cell(s, k, s->columns[k].title, true);
    for (uint32_t i = 0; i < s->row_count; i++)
        for (uint32_t k = 0; k < s->column_count; k++)
            widths[k] = fmax(widths[k], width_of_cell(s, k, s->rows[i].cells[k], s->rows[i].total) +
                                            (k ? 0 : INDENT_PT * s->rows[i].depth));
    return widths;
}

static double title_letters(const struct text_table *s)
{
    return s->head ? HEAD_LETTERS_PT : TITLE_LETTERS_PT;
}

/* A table with only a row of totals counts as empty. */
static bool has_rows(const struct text_table *s) { return s->row_count && !s->rows[0].total; }

static double width_of_sheet(const struct text_table *s, const double *widths)
{
    double all = 0, least = text_cache_width(NULL, s->title, title_letters(s), true);
    for (uint32_t k = 0; has_rows(s) && k < s->column_count; k++)
        all += widths[k] + (k ? GAP_PT : 0);
    for (uint32_t i = 0; i < s->note_count; i++)
        least = fmax(least, fmin(width_of(s->notes[i], false), NOTE_LEAST_PT));
    return fmax(all, least);
}

static void table_page_append_item(struct table_page_layout *l, enum table_page_item_kind kind,
                                   uint32_t sheet, uint32_t row, double height)
{
    struct table_page_item item = {(uint8_t)kind, sheet, row, 0, height, 0, NULL};
    ARRAY_PUSH(l->items, l->item_count, item);
}

static void table_page_append_note(struct table_page_layout *l, uint32_t sheet, uint32_t note)
{
    const char *text = l->sheets[sheet].notes[note];
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = text_cache_line(text, l->width_pt, NOTE_LETTERS_PT);
        table_page_append_item(l, ITEM_NOTE, sheet, note, ROW_PT - 2);
        l->items[l->item_count - 1].text = xstrndup(text, n);
    }
}

static void table_page_append_sheet(struct table_page_layout *l, uint32_t sheet)
{
    const struct text_table *s = &l->sheets[sheet];
    if (sheet)
        table_page_append_item(l, ITEM_GAP, sheet, 0, SHEET_GAP_PT);
    table_page_append_item(l, ITEM_TITLE, sheet, 0, TITLE_PT);
    if (has_rows(s))
        table_page_append_item(l, ITEM_HEAD, sheet, 0, ROW_PT + 4);
    for (uint32_t i = 0; has_rows(s) && i < s->row_count; i++)
        table_page_append_item(l, ITEM_ROW, sheet, i, ROW_PT + (s->rows[i].total ? 4 : 0));
    for (uint32_t i = 0; i < s->note_count; i++)
        table_page_append_note(l, sheet, i);
}

static double height_of(const struct table_page_layout *l)
{
    double height = 2 * MARGIN_PT;
    for (uint32_t i = 0; i < l->item_count; i++)
        height += l->items[i].height;
    return height;
}

/* Breaks the items into pages; a title stays on one page with the table's head and first row. */
static void cut_pages(struct table_page_layout *l)
{
    double y = MARGIN_PT, bottom = l->height_pt - MARGIN_PT;
    for (uint32_t i = 0; i < l->item_count; i++) {
        struct table_page_item *item = &l->items[i];
        double need = item->height + (item->kind == ITEM_TITLE ? 3 * ROW_PT : 0);
        if (y + need > bottom && y > MARGIN_PT) {
            l->pages++;
            /* below the head, which is repeated */
            y = MARGIN_PT + (item->kind == ITEM_ROW ? ROW_PT + 4 : 0);
        }
        item->page = l->pages - 1;
        item->y = y;
        y += item->height;
    }
}

/* Sets the size of a page. Paper keeps its aspect ratio: wider tables are scaled down. */
static void set_page(struct table_page_layout *l, const struct document_options *o)
{
    double paper = o->format == DOCUMENT_PDF ? o->paper_width_pt : 0;
    l->width_pt = fmax(ceil(l->width_pt + 2 * MARGIN_PT), paper);
    l->page_pt = paper > 0 ? l->width_pt * o->paper_height_pt / paper : PAGE_PT;
}

static void lay_out(struct table_page_layout *l, uint32_t count, const struct document_options *o)
{
    l->widths = xcalloc(count, sizeof *l->widths);
    for (uint32_t i = 0; i < count; i++) {
        l->widths[i] = table_page_column_widths(&l->sheets[i]);
        l->width_pt = fmax(l->width_pt, width_of_sheet(&l->sheets[i], l->widths[i]));
    }
    for (uint32_t i = 0; i < count; i++)
        table_page_append_sheet(l, i);
    set_page(l, o);
    l->height_pt = ceil(height_of(l));
    if (o->format == DOCUMENT_PDF && (l->height_pt > l->page_pt || o->paper_width_pt > 0))
        l->height_pt = l->page_pt;
    l->pages = 1;
    cut_pages(l);
}

/* ---- painting ---- */

static void set_ink(cairo_t *cr, const struct table_page_layout *l, double light)
{
    double v = l->dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
}

static void paint_rule(cairo_t *cr, const struct table_page_layout *l,
                       const struct table_page_item *item, double y)
{
    const double *widths = l->widths[item->sheet];
    double all = 0;
    for (uint32_t k = 0; k < l->sheets[item->sheet].column_count; k++)
        all += widths[k] + (k ? GAP_PT : 0);
    set_ink(cr, l, 0.5);
    cairo_rectangle(cr, MARGIN_PT, y, all, 0.6);
    cairo_fill(cr);
}

static const char *table_page_cell_text(const struct text_table *s,
                                        const struct table_page_item *item, uint32_t k)
{
    return item->kind == ITEM_HEAD ? s->columns[k].title : s->rows[item->row].cells[k];
}

static double table_page_max_share(const struct text_table *s)
{
    double most = 0;
    for (uint32_t i = 0; i < s->row_count; i++)
        most = s->rows[i].total ? most : fmax(most, s->rows[i].share);
    return most;
}

/* Paints a bar left of the number and shades its background, in proportion to the greatest
 * share. */
static void paint_share(cairo_t *cr, const struct table_page_layout *l,
                        const struct table_page_item *item, double x, double y, double width)
{
    const struct text_table *s = &l->sheets[item->sheet];
    double share = s->rows[item->row].share, part = share > 0 ? share / table_page_max_share(s) : 0;
    if (item->kind != ITEM_ROW || s->rows[item->row].total || part <= 0)
        return;
    set_ink(cr, l, 0.45);
    cairo_rectangle(cr, x + (BAR_PT - 4) * (1 - part), y + 2, (BAR_PT - 4) * part, ROW_PT - 4);
    cairo_fill(cr);
    set_ink(cr, l, 1 - 0.45 * sqrt(part));
    cairo_rectangle(cr, x + BAR_PT - 2, y - 1, width - BAR_PT + 4, ROW_PT);
    cairo_fill(cr);
    set_ink(cr, l, 0.1);
}

static void paint_cells(cairo_t *cr, const struct table_page_layout *l,
                        const struct table_page_item *item, double y)
{
    const struct text_table *s = &l->sheets[item->sheet];
    const double *widths = l->widths[item->sheet];
    bool row = item->kind == ITEM_ROW, bold = !row || s->rows[item->row].total;
    double x = MARGIN_PT;
    set_ink(cr, l, row && s->rows[item->row].depth ? 0.4 : 0.1);
    for (uint32_t k = 0; k < s->column_count; k++) {
        const char *text = table_page_cell_text(s, item, k);
        if (s->columns[k].shaded)
            paint_share(cr, l, item, x, y, widths[k]);
        text_cache_code(s->columns[k].code && !bold);
        double in = s->columns[k].right ? widths[k] - width_of(text, bold)
                    : row && !k         ? INDENT_PT * s->rows[item->row].depth
                                        : 0;
        text_cache_show(cr, x + in, y, text, LETTERS_PT, bold);
        text_cache_code(false);
        x += widths[k] + GAP_PT;
    }
}

static void paint_head(cairo_t *cr, const struct table_page_layout *l, uint32_t sheet, double y)
{
    struct table_page_item head = {.kind = ITEM_HEAD, .sheet = sheet};
    paint_cells(cr, l, &head, y);
    paint_rule(cr, l, &head, y + ROW_PT);
}

static void paint_item(cairo_t *cr, const struct table_page_layout *l,
                       const struct table_page_item *item)
{
    const struct text_table *s = &l->sheets[item->sheet];
    switch (item->kind) {
    case ITEM_TITLE:
        set_ink(cr, l, 0.1);
        text_cache_show(cr, MARGIN_PT, item->y, s->title, title_letters(s), true);
        break;
    case ITEM_HEAD:
        paint_head(cr, l, item->sheet, item->y);
        break;
    case ITEM_ROW:
        if (s->rows[item->row].total)
            paint_rule(cr, l, item, item->y + 1);
        paint_cells(cr, l, item, item->y + (s->rows[item->row].total ? 4 : 0));
        break;
    case ITEM_NOTE:
        set_ink(cr, l, 0.35);
        text_cache_show(cr, MARGIN_PT, item->y + 2, item->text, NOTE_LETTERS_PT, false);
        break;
    default:
        break;
    }
}

static void paint_number(cairo_t *cr, const struct table_page_layout *l)
{
    char text[40];
    snprintf(text, sizeof text, "%u / %u", l->page + 1, l->pages);
    set_ink(cr, l, 0.35);
    text_cache_show(cr,
                    l->width_pt - MARGIN_PT - text_cache_width(NULL, text, NOTE_LETTERS_PT, false),
                    l->height_pt - MARGIN_PT + 3, text, NOTE_LETTERS_PT, false);
}

static void table_page_paint(void *context, cairo_t *cr)
{
    const struct table_page_layout *l = context;
    bool first = true;
    if (l->pages > 1)
        paint_number(cr, l);
    for (uint32_t i = 0; i < l->item_count; i++) {
        const struct table_page_item *item = &l->items[i];
        if (item->page != l->page)
            continue;
        if (first && item->kind == ITEM_ROW)
            paint_head(cr, l, item->sheet, MARGIN_PT);
        first = false;
        paint_item(cr, l, item);
    }
}

static void table_page_set_page(void *context, unsigned page)
{
    ((struct table_page_layout *)context)->page = page;
}

bool table_page_write(const struct text_table *sheets, uint32_t count,
                      const struct document_options *options, const char *path, const char **why)
{
    struct table_page_layout l = {.sheets = sheets, .dark = options->theme.dark};
    struct document_options o = *options;
    lay_out(&l, count, &o);
    if (o.paper_width_pt > 0 && o.format == DOCUMENT_PDF)
        o.width_pt = o.paper_width_pt;
    bool written = document_write_drawing(&(struct drawing){.width_pt = l.width_pt,
                                                            .height_pt = l.height_pt,
                                                            .paint = table_page_paint,
                                                            .context = &l,
                                                            .pages = l.pages,
                                                            .turn = table_page_set_page},
                                          &o, path, why);
    for (uint32_t i = 0; i < count; i++)
        free(l.widths[i]);
    free(l.widths);
    for (uint32_t i = 0; i < l.item_count; i++)
        free(l.items[i].text);
    free(l.items);
    text_cache_clear();
    return written;
}
