#include "render/state_chart.h"

#include "base/alloc.h"
#include "render/palette.h"
#include "render/scene_times.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_PT (CHART_PIXELS / PIXELS_PER_PT) /* default width of the rows */
#define WIDTH_LEAST_PT 140.0
#define PIXELS_PER_PT 2.0
#define MARGIN_PT 12.0
#define TITLE_PT 24.0
#define RULER_PT 20.0
#define WORD_PT 13.0 /* height of a line of the legend */
#define NAMES_MOST_PT 180.0
#define TICK_PT 100.0 /* minimum distance of ticks; if the rows are narrow: */
#define TICK_NARROW_PT 48.0
#define BELOW_PT 10.0 /* height of a line of notes */
#define BELOW_LETTERS_PT 7.5
#define NARROW_PT 400.0 /* if the rows are narrower, legend and notes begin at the left margin */
#define AGAIN_PT 700.0 /* minimum height of the rows from which a second ruler is below them */
#define SEEN_PT 0.7 /* minimum height of a state that occurs */
#define PAGE_SHAPE (210.0 / 297.0) /* width of a page / its height */

#define BELOW_MOST 12u

struct state_chart_page {
    const struct state_chart *chart;
    double names_pt, rows_pt, row_pt, width_pt, height_pt; /* rows_pt: width of the rows */
    struct state_chart_word { /* of the legend */
        const char *text;
        double x, y; /* y: from the top of the legend */
        uint8_t state; /* THREAD_STATES_DRAWN: the path */
    } words[THREAD_STATES_DRAWN + 1];
    unsigned word_count;
    double left_pt; /* left edge of the legend and of the notes below it */
    char *below[BELOW_MOST]; /* lines of the notes */
    unsigned below_count;
    uint32_t rows; /* of a page */
    unsigned page, pages; /* page: the one that is being painted */
    bool grey, dark;
};

/* Fills the current path in the style of a state. */
static void state_chart_fill_path(cairo_t *cr, const struct state_chart_page *d, unsigned state,
                                  cairo_rectangle_t box)
{
    if (d->chart->overview)
        palette_fill_work(cr, state, d->grey, box);
    else
        palette_fill(cr, state, d->grey, box);
}

static void set_ink(cairo_t *cr, const struct state_chart_page *d, double light)
{
    double v = d->dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
}

/* ---- shares of the states ---- */

/* Merges all states but created and exited into running. */
static void state_shares_add_work(uint8_t *share)
{
    unsigned work = 0;
    for (unsigned s = 0; s < THREAD_STATES_DRAWN; s++)
        if (s != THREAD_STATE_CREATED && s != THREAD_STATE_EXITED) {
            work += share[s];
            share[s] = 0;
        }
    share[THREAD_STATE_RUNNING] = (uint8_t)(work < 255 ? work : 255);
}

float (*state_shares_of(const struct state_chart *c, uint32_t row))[THREAD_STATES_DRAWN]
{
    float(*shares)[THREAD_STATES_DRAWN] = xcalloc(c->pixels, sizeof *shares);
    for (uint32_t i = 0; i < c->pixels; i++) {
        struct chart_pixel pixel = c->rows[row].pixels[i];
        if (c->overview)
            state_shares_add_work(pixel.share);
        for (unsigned s = 0; s < THREAD_STATES_DRAWN; s++)
            shares[i][s] = (float)pixel.share[s] / 255;
    }
    return shares;
}

void state_shares_visible(float *share, float least)
{
    float all = 0, raised = 0;
    for (unsigned s = 0; s < THREAD_STATES_DRAWN; s++) {
        all += share[s];
        raised += share[s] > 0 ? fmaxf(share[s], least) : 0;
    }
    if (raised <= all)
        return;
    float goal = fmaxf(all, fminf(raised, 1));
    for (unsigned s = 0; s < THREAD_STATES_DRAWN; s++)
        if (share[s] > 0)
            share[s] = fmaxf(share[s], least) * goal / raised;
}

/* ---- rows ---- */

/* Adds the rectangles of one state to the path, stacked on those of lower states; equal adjacent
 * pixels are one rectangle. Returns whether there are any. */
static bool state_chart_trace_state(cairo_t *cr, float (*shares)[THREAD_STATES_DRAWN],
                                    uint32_t pixels, unsigned state, cairo_rectangle_t box)
{
    double wide = box.width / pixels;
    bool any = false;
    for (uint32_t i = 0, end; i < pixels; i = end) {
        double below = 0, share = (double)shares[i][state];
        for (unsigned k = 0; k < state; k++)
            below += (double)shares[i][k];
        for (end = i + 1; end < pixels; end++) /* states above this one do not matter */
            if (memcmp(shares[end], shares[i], (state + 1) * sizeof **shares) != 0)
                break;
        if (share <= 0)
            continue;
        cairo_rectangle(cr, box.x + i * wide, box.y + box.height * (1 - below - share),
                        (end - i) * wide, box.height * share);
        any = true;
    }
    return any;
}

static void name_row(cairo_t *cr, const struct state_chart_page *d, uint32_t row, double y)
{
    unsigned every = (unsigned)ceil(8 / d->row_pt);
    double size = fmin(9, fmax(6.5, d->row_pt - 2));
    if (row % every)
        return;
    cairo_save(cr);
    cairo_rectangle(cr, 0, y - 2, d->names_pt - 6, every * d->row_pt + 4);
    cairo_clip(cr);
    set_ink(cr, d, 0.1);
    text_cache_show(cr, MARGIN_PT, y + d->row_pt / 2 - size * 0.65, d->chart->rows[row].name, size,
                    false);
    cairo_restore(cr);
}

static void paint_row(cairo_t *cr, const struct state_chart_page *d, uint32_t row, double y)
{
    uint32_t pixels = d->chart->pixels;
    float(*shares)[THREAD_STATES_DRAWN] = state_shares_of(d->chart, row);
    double margin = d->row_pt > 12 ? 2.5 : d->row_pt > 7 ? 1 : 0.5;
    cairo_rectangle_t box = {d->names_pt, y + margin, d->rows_pt, d->row_pt - 2 * margin};
    for (uint32_t i = 0; i < pixels; i++)
        state_shares_visible(shares[i], (float)fmin(0.3, SEEN_PT / box.height));
    set_ink(cr, d, 0.85);
    cairo_rectangle(cr, box.x, y + d->row_pt - 0.4, box.width, 0.4);
    cairo_fill(cr);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    for (unsigned state = 0; state < THREAD_STATES_DRAWN; state++)
        if (state_chart_trace_state(cr, shares, pixels, state, box))
            state_chart_fill_path(cr, d, state, box);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_DEFAULT);
    name_row(cr, d, row, y);
    free(shares);
}

static void paint_way(cairo_t *cr, const struct state_chart_page *d, double top)
{
    chart_path_paint(cr, d->chart,
                     &(struct chart_path_box){.x_pt = d->names_pt,
                                              .y_pt = top,
                                              .width_pt = d->rows_pt,
                                              .row_pt = d->row_pt,
                                              .first = d->page * d->rows,
                                              .rows = d->rows,
                                              .grey = d->grey});
}

/* ---- ruler and legend ---- */

/* Paints the label right of its tick, or left of it if it does not fit there. */
static void paint_tick(cairo_t *cr, const struct state_chart_page *d, double x, double y,
                       const char *text)
{
    double wide = text_cache_width(NULL, text, 8, false);
    bool right = x + 3 + wide <= d->names_pt + d->rows_pt + MARGIN_PT - 2;
    set_ink(cr, d, 0.3);
    if (right || x - 3 - wide >= d->names_pt)
        text_cache_show(cr, right ? x + 3 : x - 3 - wide, y + 3, text, 8, false);
}

static void paint_ruler(cairo_t *cr, const struct state_chart_page *d, double y, double bottom)
{
    const struct state_chart *c = d->chart;
    double all = (double)(c->to_ns - c->from_ns);
    double tick = fmin(TICK_PT, fmax(TICK_NARROW_PT, d->rows_pt / 6));
    int64_t step = time_columns_round((int64_t)(all * tick / d->rows_pt) + 1);
    for (int64_t at = (c->from_ns / step) * step; at < c->to_ns; at += step) {
        char text[40];
        double x = d->names_pt + (double)(at - c->from_ns) / all * d->rows_pt;
        if (at < c->from_ns)
            continue;
        time_columns_print(at, step, text, sizeof text);
        set_ink(cr, d, 0.8);
        cairo_rectangle(cr, x, y + 2, 0.5, bottom - y - 2);
        cairo_fill(cr);
        paint_tick(cr, d, x, y, text);
    }
}

/* If the rows are high, there is a second ruler below them, since their lower end is far from the
 * first. */
static bool has_two_rulers(const struct state_chart_page *d)
{
    return d->row_pt * d->rows > AGAIN_PT;
}

static void paint_times(cairo_t *cr, const struct state_chart_page *d, double top, double bottom)
{
    paint_ruler(cr, d, top, bottom);
    if (has_two_rulers(d))
        paint_ruler(cr, d, bottom, bottom + RULER_PT);
}

static bool state_chart_state_occurs(const struct state_chart *c, unsigned state)
{
    for (uint32_t i = 0; i < c->row_count; i++)
        for (uint32_t k = 0; k < c->pixels; k++)
            if (c->rows[i].pixels[k].share[state])
                return true;
    return false;
}

static void add_word(struct state_chart_page *d, unsigned state, const char *text)
{
    const struct state_chart_word *last = d->word_count ? &d->words[d->word_count - 1] : NULL;
    double x = last ? last->x + 34 + text_cache_width(NULL, last->text, 8.5, false) : d->left_pt,
           y = last ? last->y : 0;
    if (last && x + 18 + text_cache_width(NULL, text, 8.5, false) > d->width_pt - 4) {
        x = d->left_pt;
        y += WORD_PT;
    }
    d->words[d->word_count++] = (struct state_chart_word){text, x, y, (uint8_t)state};
}

static void make_key(struct state_chart_page *d)
{
    static const uint8_t shown[] = {THREAD_STATE_RUNNABLE, THREAD_STATE_RUNNING,
                                    THREAD_STATE_OFF_CPU, THREAD_STATE_BLOCKED,
                                    THREAD_STATE_UNATTRIBUTED};
    const struct state_chart *c = d->chart;
    add_word(d, THREAD_STATE_CREATED,
             c->overview ? "not started" : thread_state_name(THREAD_STATE_CREATED));
    add_word(d, THREAD_STATE_EXITED, thread_state_name(THREAD_STATE_EXITED));
    if (c->overview)
        add_word(d, THREAD_STATE_RUNNING, "active");
    for (unsigned i = 0; !c->overview && i < sizeof shown; i++)
        if (state_chart_state_occurs(c, shown[i]))
            add_word(d, shown[i], thread_state_name(shown[i]));
    if (c->way_count)
        add_word(d, THREAD_STATES_DRAWN, c->way_name);
}

static double key_height(const struct state_chart_page *d)
{
    return d->words[d->word_count - 1].y + WORD_PT + 3;
}

static void paint_key(cairo_t *cr, const struct state_chart_page *d, double top)
{
    for (unsigned i = 0; i < d->word_count; i++) {
        const struct state_chart_word *w = &d->words[i];
        cairo_rectangle_t box = {w->x, top + w->y + 1, 14, 9};
        if (w->state == THREAD_STATES_DRAWN) {
            chart_path_sample(cr, box.x, box.y + 4.5, box.width, d->grey);
        } else {
            cairo_rectangle(cr, box.x, box.y, box.width, box.height);
            state_chart_fill_path(cr, d, w->state, box);
        }
        set_ink(cr, d, 0.2);
        text_cache_show(cr, w->x + 18, top + w->y, w->text, 8.5, false);
    }
}

/* ---- notes below the legend ---- */

static void make_below(struct state_chart_page *d)
{
    const char *text = d->chart->below ? d->chart->below : "";
    for (size_t n; *text && d->below_count < BELOW_MOST; text += n + (text[n] == ' ')) {
        n = text_cache_line(text, d->width_pt - d->left_pt - 4, BELOW_LETTERS_PT);
        d->below[d->below_count++] = xstrndup(text, n);
    }
}

static void paint_below(cairo_t *cr, const struct state_chart_page *d, double y)
{
    set_ink(cr, d, 0.35);
    for (unsigned i = 0; i < d->below_count; i++)
        text_cache_show(cr, d->left_pt, y + i * BELOW_PT, d->below[i], BELOW_LETTERS_PT, false);
}

/* ---- layout and pages ---- */

static double measure_names(const struct state_chart *c, const struct document_options *o)
{
    double names = 40, most = NAMES_MOST_PT;
    if (o->width_pt > 0)
        most = fmin(most, fmax(60, 0.35 * o->width_pt));
    for (uint32_t i = 0; i < c->row_count; i++)
        names = fmax(names, text_cache_width(NULL, c->rows[i].name, 9, false));
    return ceil(fmin(names, most) + MARGIN_PT + 10);
}

/* Returns the width of the rows that makes the page as wide as requested. If that is below the
 * minimum, the page is scaled down when it is written. */
static double measure_rows(const struct document_options *o, double names_pt)
{
    double rows = o->width_pt > 0 ? o->width_pt - names_pt - MARGIN_PT : WIDTH_PT;
    return floor(fmin(fmax(rows, WIDTH_LEAST_PT), PAGE_LIMIT_PT));
}

uint32_t state_chart_pixels(const struct state_chart *c, const struct document_options *o)
{
    double pixels = measure_rows(o, measure_names(c, o)) * PIXELS_PER_PT;
    text_cache_clear();
    return (uint32_t)fmin(pixels, 4.0 * CHART_PIXELS);
}

static void paint_number(cairo_t *cr, const struct state_chart_page *d)
{
    char text[40];
    snprintf(text, sizeof text, "%u / %u", d->page + 1, d->pages);
    set_ink(cr, d, 0.35);
    text_cache_show(cr, d->width_pt - MARGIN_PT - text_cache_width(NULL, text, 7.5, false),
                    MARGIN_PT, text, 7.5, false);
}

static void state_chart_paint(void *context, cairo_t *cr)
{
    const struct state_chart_page *d = context;
    const struct state_chart *c = d->chart;
    uint32_t first = d->page * d->rows, rows = c->row_count - first;
    rows = rows < d->rows ? rows : d->rows;
    double y = MARGIN_PT + TITLE_PT, bottom = y + RULER_PT + d->row_pt * rows;
    set_ink(cr, d, 0.1);
    double wide = text_cache_width(NULL, c->title, 11, true), most = d->width_pt - 2 * MARGIN_PT;
    text_cache_show(cr, MARGIN_PT, MARGIN_PT, c->title, wide > most ? 11 * most / wide : 11, true);
    if (d->pages > 1)
        paint_number(cr, d);
    paint_times(cr, d, y, bottom);
    y += RULER_PT;
    for (uint32_t i = 0; i < rows; i++)
        paint_row(cr, d, first + i, y + d->row_pt * i);
    if (c->way_count)
        paint_way(cr, d, y);
    bottom += has_two_rulers(d) ? RULER_PT : 0;
    paint_key(cr, d, bottom + 8);
    paint_below(cr, d, bottom + 8 + key_height(d));
}

static void state_chart_set_page(void *context, unsigned page)
{
    ((struct state_chart_page *)context)->page = page;
}

/* Returns the height of everything above and below the rows. */
static double state_chart_frame_height(const struct state_chart_page *d)
{
    return 2 * MARGIN_PT + TITLE_PT + RULER_PT + 8 + key_height(d) + d->below_count * BELOW_PT;
}

/* Puts all rows on one page, or divides them evenly among as many pages as they need. */
static void cut_pages(struct state_chart_page *d, bool cut)
{
    uint32_t count = d->chart->row_count;
    double most = d->width_pt * PAGE_SHAPE - state_chart_frame_height(d);
    d->rows = count;
    d->pages = 1;
    if (cut && d->row_pt * count > most) {
        d->pages = (unsigned)ceil(count / floor(most / d->row_pt));
        d->rows = (count + d->pages - 1) / d->pages;
    }
    d->height_pt =
        state_chart_frame_height(d) + d->row_pt * d->rows + (has_two_rulers(d) ? RULER_PT : 0);
}

static double row_height(const struct state_chart_page *d, bool cut)
{
    uint32_t count = d->chart->row_count;
    double row = count <= 50 ? 18 : count <= 100 ? 12 : 9;
    double most = (PAGE_LIMIT_PT - RULER_PT - state_chart_frame_height(d)) / count;
    return cut ? row : fmin(row, most);
}

static void lay_out(struct state_chart_page *d, const struct document_options *o)
{
    bool cut = o->format == DOCUMENT_PDF && o->width_pt <= 0;
    d->names_pt = measure_names(d->chart, o);
    d->rows_pt = measure_rows(o, d->names_pt);
    d->width_pt = d->names_pt + d->rows_pt + MARGIN_PT;
    d->left_pt = d->rows_pt < NARROW_PT ? MARGIN_PT : d->names_pt;
    make_key(d);
    make_below(d);
    d->row_pt = row_height(d, cut);
    cut_pages(d, cut);
}

bool state_chart_write(const struct state_chart *c, const struct document_options *o,
                       const char *path, const char **why)
{
    struct state_chart_page d = {.chart = c, .grey = o->theme.grey, .dark = o->theme.dark};
    struct document_options options = *o;
    lay_out(&d, o);
    if (o->format == DOCUMENT_PNG && fabs(o->width_pt - d.width_pt) < 1)
        options.width_pt = 0; /* so that one pixel of the image is one of the rows */
    bool written = document_write_drawing(&(struct drawing){.width_pt = d.width_pt,
                                                            .height_pt = d.height_pt,
                                                            .paint = state_chart_paint,
                                                            .context = &d,
                                                            .pages = d.pages,
                                                            .turn = state_chart_set_page},
                                          &options, path, why);
    for (unsigned i = 0; i < d.below_count; i++)
        free(d.below[i]);
    text_cache_clear();
    return written;
}

/* ---- as text: a line per row, a letter per interval ---- */

#define TEXT_WIDTH_LEAST 20u
#define TEXT_NAMES_MOST 30u
#define TEXT_MIXED 0.6f /* share of time that a state needs to give a letter; else '%' */

static char state_chart_text_letter(const float *share)
{
    unsigned most = 0;
    float all = 0;
    for (unsigned s = 0; s < THREAD_STATES_DRAWN; s++) {
        all += share[s];
        if (share[s] > share[most])
            most = s;
    }
    if (all <= 0)
        return ' ';
    return share[most] < TEXT_MIXED * all ? '%' : thread_state_words[most].letter;
}

/* Returns by letter which share of its time the critical path is in this row, 0 to 1. The caller
 * frees it. */
static double *state_chart_text_path_shares(const struct state_chart *c, uint32_t row)
{
    double *on = xcalloc(c->pixels, sizeof *on);
    double each = (double)(c->to_ns - c->from_ns) / c->pixels;
    for (uint32_t i = 0; i < c->way_count; i++) {
        double from = (double)(c->way[i].from_ns - c->from_ns) / each,
               to = (double)(c->way[i].to_ns - c->from_ns) / each;
        unsigned letter = from > 0 ? (unsigned)from : 0;
        for (; c->way[i].row == row && letter < c->pixels && letter < to; letter++) {
            double begin = from > letter ? from : letter, end = to < letter + 1 ? to : letter + 1;
            on[letter] += end - begin;
        }
    }
    return on;
}

static void state_chart_text_print_row(const struct state_chart *c, uint32_t row, size_t names,
                                       FILE *f)
{
    float(*shares)[THREAD_STATES_DRAWN] = state_shares_of(c, row);
    double *on = state_chart_text_path_shares(c, row);
    fprintf(f, "%-*.*s  ", (int)names, (int)names, c->rows[row].name);
    for (unsigned i = 0; i < c->pixels; i++)
        fputc(on[i] > 0.5 ? '@' : state_chart_text_letter(shares[i]), f);
    fputc('\n', f);
    free(on);
    free(shares);
}

static size_t state_chart_text_name_width(const struct state_chart *c)
{
    size_t names = 0;
    for (uint32_t i = 0; i < c->row_count; i++)
        names = strlen(c->rows[i].name) > names ? strlen(c->rows[i].name) : names;
    return names > TEXT_NAMES_MOST ? TEXT_NAMES_MOST : names;
}

unsigned state_chart_text_width(const struct state_chart *c, unsigned width)
{
    size_t names = state_chart_text_name_width(c);
    return width > names + 2 + TEXT_WIDTH_LEAST ? width - (unsigned)names - 2 : TEXT_WIDTH_LEAST;
}

/* Prints the letters: states with one letter together, in an overview those at work. */
static void state_chart_text_print_key(const struct state_chart *c, FILE *f)
{
    static const uint8_t shown[] = {THREAD_STATE_RUNNING, THREAD_STATE_RUNNABLE,
                                    THREAD_STATE_BLOCKED, THREAD_STATE_UNATTRIBUTED,
                                    THREAD_STATE_OFF_CPU};
    char ended = thread_state_words[THREAD_STATE_EXITED].letter;
    if (c->overview) {
        fprintf(f, "%c active  %c not started or exited\n",
                thread_state_words[THREAD_STATE_RUNNING].letter, ended);
        return;
    }
    for (size_t i = 0; i < sizeof shown; i++)
        fprintf(f, "%c %s  ", thread_state_words[shown[i]].letter, thread_state_name(shown[i]));
    fprintf(f, "%c %s, %s  %% mixed\n", ended, thread_state_name(THREAD_STATE_CREATED),
            thread_state_name(THREAD_STATE_EXITED));
}

void state_chart_text_print(const struct state_chart *c, FILE *f)
{
    size_t names = state_chart_text_name_width(c);
    char from[40], to[40];
    time_columns_print(c->from_ns, 1, from, sizeof from);
    time_columns_print(c->to_ns, 1, to, sizeof to);
    fprintf(f, "%s\nfrom %s to %s\n", c->title, from, to);
    for (uint32_t i = 0; i < c->row_count; i++)
        state_chart_text_print_row(c, i, names, f);
    state_chart_text_print_key(c, f);
    if (c->way_count)
        fprintf(f, "@ %s\n", c->way_name);
    if (c->below)
        fprintf(f, "note: %s\n", c->below);
}
