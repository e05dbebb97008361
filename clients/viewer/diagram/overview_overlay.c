#include "clients/viewer/diagram/overview_overlay.h"

#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/measured_states.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_coloring.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene_paint.h"
#include "render/text_cache.h"

#include <math.h>
#include <string.h>

/* The highlight of a function in the overview (function_highlight.h): the share of threads' time in
 * it. */

#define EVERY_US 250000 /* between requests, while the run grows */
#define VEIL 0.6 /* opacity of the background over the state bands */

struct overview_highlight {
    struct table_model table;
    char *of; /* of the last request: the function, */
    uint64_t serial; /* the serial of the state bands, */
    int64_t from, to; /* their range and pixels */
    uint32_t pixels;
    bool by_time;
    float *shares; /* by row and pixel; NULL: outdated */
    uint32_t rows;
    guint soon;
};

static const struct viewer_addon overview_highlight_addon = {"overview_highlight",
                                                             sizeof(struct overview_highlight)};

static struct overview_highlight *overview_highlight_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &overview_highlight_addon);
}

static void overview_highlight_on_table(void *user)
{
    struct view *view = user;
    struct overview_highlight *highlight = overview_highlight_find(view);
    if (!highlight->table.fresh)
        return;
    highlight->table.fresh = false;
    g_clear_pointer(&highlight->shares, g_free);
    gtk_widget_queue_draw(view->canvas);
}

static struct overview_highlight *overview_highlight_state(struct view *view)
{
    struct overview_highlight *state = overview_highlight_find(view);
    if (!state) {
        state = viewer_addons_add(&view->addons, &overview_highlight_addon);
        state->table = (struct table_model){
            .link = &view->server_link, .on_table = overview_highlight_on_table, .user = view};
    }
    return state;
}

static bool is_wanted(const struct view *view)
{
    return function_highlight_is_shown(view) && view->viewport.place.overview &&
           view->overview.strip.row_count && view->overview.strip.to > view->overview.strip.from;
}

/* ---- requests ---- */

static void overview_highlight_request(struct view *view, struct overview_highlight *l)
{
    const struct state_bands *s = &view->overview.strip;
    const struct {
        const char *key;
        long long value;
    } options[] = {{"begin", s->from}, {"end", s->to}, {"pixels", s->pixels}};
    struct table_request request = function_highlight_request(view, s->by_time ? "time" : "order");
    for (unsigned i = 0; i < G_N_ELEMENTS(options); i++) {
        char text[24];
        g_snprintf(text, sizeof text, "%lld", options[i].value);
        table_model_set_option(&request, options[i].key, text);
    }
    g_free(l->of);
    l->of = g_strdup(view->viewport.place.lit);
    l->serial = view->overview.serial;
    l->from = s->from;
    l->to = s->to;
    l->pixels = s->pixels;
    l->by_time = s->by_time;
    l->table.has_answer = false;
    table_model_send(&l->table, &request);
}

static bool overview_highlight_has_changed(const struct view *view,
                                           const struct overview_highlight *l)
{
    return g_strcmp0(l->of, view->viewport.place.lit) != 0;
}

static void overview_highlight_request_soon(void *user)
{
    struct view *view = user;
    struct overview_highlight *l = overview_highlight_state(view);
    bool another = overview_highlight_has_changed(view, l);
    gint64 since = g_get_monotonic_time() - l->table.asked_us;
    if (!is_wanted(view) || l->soon || !(another || l->serial != view->overview.serial) ||
        !view->server_link.connected || !view->server_link.has_run)
        return;
    if (another || (since >= EVERY_US && !table_model_is_running(&l->table)))
        overview_highlight_request(view, l);
    else
        request_slot_schedule(&l->soon, 20, overview_highlight_request_soon, view);
}

static void overview_highlight_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_DIAGRAM || what == NOTIFY_VISIBLE_PART ||
        what == NOTIFY_ROWS) /* the rows may be others */
        g_clear_pointer(&overview_highlight_state(view)->shares, g_free);
    overview_highlight_request_soon(view);
}

/* whether it is requested, and nothing has arrived yet */
static bool overview_highlight_is_running(struct view *view)
{
    return is_wanted(view) && !overview_highlight_state(view)->table.has_answer &&
           table_model_is_running(&overview_highlight_state(view)->table);
}

/* whether visible parts of it are still missing */
static bool overview_highlight_is_busy(struct view *view)
{
    struct overview_highlight *l = overview_highlight_state(view);
    return is_wanted(view) && (table_model_is_running(&l->table) || l->soon ||
                               overview_highlight_has_changed(view, l));
}

/* another run */
static void overview_highlight_clear(struct view *view)
{
    struct overview_highlight *l = overview_highlight_state(view);
    table_model_clear(&l->table);
    g_clear_pointer(&l->shares, g_free);
    g_clear_pointer(&l->of, g_free);
    g_clear_handle_id(&l->soon, g_source_remove);
}

/* ---- shares by row and pixel ---- */

enum overview_highlight_column { THREAD, FROM, UNTIL, SHARE, COLUMNS };

/* Returns the number of lines of each row, by 1 + row. */
static uint32_t *count_lines(const GArray *row_of, uint32_t rows)
{
    uint32_t *lines = g_new0(uint32_t, rows + 1);
    for (guint i = 0; i < row_of->len; i++)
        lines[MIN(g_array_index(row_of, guint, i), rows)]++;
    return lines;
}

static void overview_highlight_add_share(struct overview_highlight *l, const struct table_cell *c,
                                         const GArray *row_of, const uint32_t *lines)
{
    if (c[THREAD].is != CELL_LINE || c[FROM].is != CELL_NUMBER || c[UNTIL].is != CELL_NUMBER ||
        c[SHARE].is != CELL_REAL || c[THREAD].line >= row_of->len)
        return;
    guint row = g_array_index(row_of, guint, c[THREAD].line);
    int64_t from = CLAMP(c[FROM].number, 0, l->pixels), to = CLAMP(c[UNTIL].number, 0, l->pixels);
    if (!row || row > l->rows)
        return;
    for (int64_t x = from; x < to; x++)
        l->shares[(size_t)(row - 1) * l->pixels + (size_t)x] +=
            (float)(c[SHARE].real / MAX(lines[row], 1));
}

/* Returns false if there is nothing to draw. */
static bool overview_highlight_build(struct view *view)
{
    struct overview_highlight *l = overview_highlight_state(view);
    const struct result_table *t = &l->table.table;
    if (!is_wanted(view) || !l->table.has_answer || overview_highlight_has_changed(view, l) ||
        l->by_time != view->overview.strip.by_time)
        return false;
    if (l->shares)
        return true;
    GArray *row_of = overview_rows_of_lines(view);
    l->rows = view->overview.strip.row_count;
    uint32_t *lines = count_lines(row_of, l->rows);
    l->shares = g_new0(float, (size_t)l->rows * l->pixels + 1);
    for (uint32_t i = 0; t->column_count >= COLUMNS && i < t->row_count; i++)
        overview_highlight_add_share(l, result_table_cells(t, i), row_of, lines);
    g_array_free(row_of, TRUE);
    g_free(lines);
    return true;
}

/* ---- drawing ---- */

/* Returns where a pixel of the answer begins on the canvas. */
static double x_of(struct view *view, const struct overview_highlight *l, uint32_t pixel)
{
    const struct state_bands *s = &view->overview.strip;
    double at = (double)l->from + (double)pixel * (double)(l->to - l->from) / l->pixels,
           share = (at - (double)s->from) / (double)(s->to - s->from);
    return viewport_names_px(&view->viewport) + CLAMP(share, 0, 1) * overview_width_px(view);
}

static void paint_row(struct view *view, cairo_t *cr, uint32_t row)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    const struct overview_highlight *l = overview_highlight_find(view);
    const float *shares = l->shares + (size_t)row * l->pixels;
    cairo_rectangle_t box = bands_view_row_box(view, row);
    double ground = painter_brightness(theme.dark);
    cairo_set_source_rgba(cr, ground, ground, ground, VEIL);
    cairo_rectangle(cr, box.x, box.y, box.width, box.height);
    cairo_fill(cr);
    for (uint32_t i = 0, end; i < l->pixels; i = end) {
        for (end = i + 1; end < l->pixels && fabsf(shares[end] - shares[i]) < 0.002f;)
            end++;
        double x0 = round(x_of(view, l, i)), x1 = round(x_of(view, l, end));
        if (shares[i] < 0.002f || x1 <= x0)
            continue;
        function_highlight_fill_color(cr, MIN((double)shares[i], 1), true, &theme);
        cairo_rectangle(cr, x0, box.y, x1 - x0, box.height);
        cairo_fill(cr);
    }
}

static void overview_highlight_draw(struct view *view, cairo_t *cr, int height)
{
    if (!overview_highlight_build(view))
        return;
    cairo_save(cr);
    cairo_rectangle(cr, 0, BANDS_VIEW_RULER_PX, viewport_along_px(&view->viewport),
                    bands_view_bottom_px(view, height) - BANDS_VIEW_RULER_PX);
    cairo_clip(cr);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    uint32_t rows = overview_highlight_find(view)->rows;
    for (uint32_t row = 0; row < rows; row++)
        if (bands_view_is_visible(view, row, height))
            paint_row(view, cr, row);
    cairo_restore(cr);
}

/* Returns the share of a row at a fraction of the width; negative: unknown, or not requested. */
static double overview_highlight_share(struct view *view, uint32_t row, double share)
{
    if (!overview_highlight_build(view))
        return -1;
    const struct overview_highlight *l = overview_highlight_find(view);
    if (row >= l->rows)
        return -1;
    const struct state_bands *s = &view->overview.strip;
    double at = (double)s->from + share * (double)(s->to - s->from),
           pixel = (at - (double)l->from) / (double)(l->to - l->from) * l->pixels;
    return pixel >= 0 && pixel < l->pixels
               ? (double)l->shares[(size_t)row * l->pixels + (size_t)pixel]
               : -1;
}

/* "lit 3 0.2500": row, share of the visible part; for tests */
static void overview_highlight_print(struct view *view, FILE *f)
{
    if (!overview_highlight_build(view))
        return;
    struct overview_highlight *highlight = overview_highlight_find(view);
    for (uint32_t row = 0; row < highlight->rows; row++) {
        double sum = 0;
        for (uint32_t i = 0; i < highlight->pixels; i++)
            sum += (double)highlight->shares[(size_t)row * highlight->pixels + i];
        if (sum > 0)
            fprintf(f, "lit %u %.4f\n", row, sum / highlight->pixels);
    }
}

/* ---- waits by class ---- */

/* States by wait class (wait_coloring.h). */
static const uint8_t wait_kinds_states[WAIT_COLORING_CLASSES] = {
    BAND_LIVING_MEETING, BAND_LIVING_EXCLUSION, BAND_LIVING_TIMER, BAND_LIVING_UNKNOWN};

/* Shares of a pixel of a row, of 255: of each wait class, and of the other states below them. */
struct wait_kind_shares {
    uint8_t below, share[WAIT_COLORING_CLASSES];
};

static struct wait_kind_shares wait_kinds_shares_at(const struct state_bands *seen,
                                                    const struct state_bands *lives, uint32_t row,
                                                    uint32_t pixel)
{
    struct wait_kind_shares f = {0};
    int at = measured_states_find_pixel(lives, seen, pixel);
    const struct state_band_cell *cell = &seen->cells[(size_t)row * seen->pixels + pixel];
    if (at < 0)
        return f;
    const uint8_t *share = lives->cells[(size_t)row * lives->pixels + (size_t)at].share;
    unsigned below = cell->share[BAND_RUNS] + cell->share[BAND_INSIDE], all = 0;
    for (unsigned i = 0; i < WAIT_COLORING_CLASSES; i++)
        all += f.share[i] = share[wait_kinds_states[i]];
    f.below =
        (uint8_t)MIN(below, 255 - MIN(all, 255)); /* due to rounding, the sum may exceed 255 */
    return f;
}

/* Adds the part of a class to the path, one box for adjacent equal pixels. */
static void wait_kinds_add_class(const struct wait_kind_shares *filled, uint32_t pixels,
                                 unsigned class, cairo_t *cr, cairo_rectangle_t box)
{
    double wide = box.width / pixels;
    for (uint32_t i = 0, end; i < pixels; i = end) {
        double below = filled[i].below, high = box.height * filled[i].share[class] / 255;
        for (end = i + 1; end < pixels && memcmp(&filled[end], &filled[i], sizeof *filled) == 0;)
            end++;
        for (unsigned k = 0; k < class; k++)
            below += filled[i].share[k];
        double x = round(box.x + i * wide);
        if (filled[i].share[class])
            cairo_rectangle(cr, x, box.y + box.height * (1 - below / 255) - high,
                            round(box.x + end * wide) - x, high);
    }
}

static void wait_kinds_paint_row(struct view *view, cairo_t *cr, const struct state_bands *lives,
                                 uint32_t row)
{
    const struct state_bands *s = &view->overview.strip;
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    struct wait_kind_shares *filled = g_new(struct wait_kind_shares, s->pixels);
    for (uint32_t i = 0; i < s->pixels; i++)
        filled[i] = wait_kinds_shares_at(s, lives, row, i);
    for (unsigned class = 0; class < WAIT_COLORING_CLASSES; class ++) {
        wait_kinds_add_class(filled, s->pixels, class, cr, bands_view_row_box(view, row));
        wait_coloring_fill_class(cr, class, &theme);
    }
    g_free(filled);
}

static void wait_kinds_draw(struct view *view, cairo_t *cr, int height)
{
    const struct state_bands *lives = view->viewer_settings.tints ? measured_states_of(view) : NULL;
    if (!lives)
        return;
    cairo_save(cr);
    cairo_rectangle(cr, 0, BANDS_VIEW_RULER_PX, viewport_along_px(&view->viewport),
                    bands_view_bottom_px(view, height) - BANDS_VIEW_RULER_PX);
    cairo_clip(cr);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    for (uint32_t row = 0; row < lives->row_count; row++)
        if (bands_view_is_visible(view, row, height))
            wait_kinds_paint_row(view, cr, lives, row);
    cairo_restore(cr);
}

/* Returns the shares of a pixel of a row as text; the caller frees it; NULL: unknown. */
static char *wait_kinds_describe(struct view *view, uint32_t row, double share)
{
    const struct state_bands *lives = view->viewer_settings.tints ? measured_states_of(view) : NULL;
    const struct state_bands *s = &view->overview.strip;
    int at = lives ? measured_states_find_pixel(lives, s, (uint32_t)(share * s->pixels)) : -1;
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; at >= 0 && i < WAIT_COLORING_CLASSES; i++) {
        const struct state_band_cell *cell =
            &lives->cells[(size_t)row * lives->pixels + (size_t)at];
        double percent = 100 * cell->share[wait_kinds_states[i]] / 255.0;
        if (percent >= 0.5)
            g_string_append_printf(text, "%s%s %.0f %%", text->len ? ", " : "",
                                   wait_coloring_class_name(i), percent);
    }
    return g_string_free(text, text->len == 0);
}

/* Prints the shares of whole rows, line by line. */
static void wait_kinds_print(struct view *view, FILE *f)
{
    const struct state_bands *lives = view->viewer_settings.tints ? measured_states_of(view) : NULL;
    for (uint32_t row = 0; lives && row < lives->row_count; row++) {
        const struct state_band_cell *cells = lives->cells + (size_t)row * lives->pixels;
        if (!measured_states_has_row(lives, row))
            continue;
        fprintf(f, "kinds %u", row);
        for (unsigned i = 0; i < WAIT_COLORING_CLASSES; i++) {
            double sum = 0;
            for (uint32_t p = 0; p < lives->pixels; p++)
                sum += cells[p].share[wait_kinds_states[i]] / 255.0 / lives->pixels;
            fprintf(f, " %s %.4f", wait_coloring_class_name(i), sum);
        }
        fprintf(f, "\n");
    }
}

/* ---- the key ---- */

static void overlay_set_ink(struct view *view, cairo_t *cr)
{
    double ink = viewer_settings_theme(&view->viewer_settings).dark ? 0.85 : 0.2;
    cairo_set_source_rgb(cr, ink, ink, ink);
}

/* Returns which enabled overlay is still computed, or unavailable; the caller frees it; NULL:
 * none. */
static char *overlay_missing_text(struct view *view)
{
    const char *problem = view->viewer_settings.tints ? measured_states_problem(view) : NULL;
    if (problem)
        return g_strdup_printf("no wait classes: %s", problem);
    if (view->viewer_settings.tints && measured_states_is_running(view))
        return g_strdup("computing waits...");
    if (view->viewer_settings.overview_path && overview_path_is_running(view))
        return g_strdup("computing the critical path...");
    return NULL;
}

static double overlay_path_key(struct view *view, cairo_t *cr, double x, double y)
{
    double hidden = overview_path_hidden_share(view);
    char *text = hidden < 0.005
                     ? g_strdup("critical path")
                     : g_strdup_printf("critical path (%.0f %% on hidden rows)", 100 * hidden);
    path_overlay_set_color(view, cr, 0.95);
    cairo_rectangle(cr, x, y + 4, 12, 4);
    cairo_fill(cr);
    overlay_set_ink(view, cr);
    text_cache_show(cr, x + 17, y, text, 9, false);
    x += text_cache_width(NULL, text, 9, false) + 35;
    g_free(text);
    return x;
}

/* Draws the key above that of the state bands. */
static void overlay_draw_key(struct view *view, cairo_t *cr, int height)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double x = viewport_names_px(&view->viewport), y = height - bands_view_key_px(view) - 16;
    char *not_here = overlay_missing_text(view);
    if (view->viewer_settings.tints)
        x = wait_coloring_draw_key(cr, x, y, &theme);
    if (view->viewer_settings.overview_path)
        x = overlay_path_key(view, cr, x, y);
    if (function_highlight_is_shown(view))
        x = function_highlight_key(view, cr, x, y,
                                   overview_highlight_is_running(view) ? "computing..." : NULL);
    if (not_here) {
        cairo_set_source_rgb(cr, theme.dark ? 0.85 : 0.6, theme.dark ? 0.5 : 0.2, 0.6);
        text_cache_show(cr, x, y, not_here, 9, false);
    }
    g_free(not_here);
}

void overview_overlay_draw(struct view *view, cairo_t *cr, int height)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    if (!view->overview.strip.row_count ||
        !(view->viewer_settings.tints || view->viewer_settings.overview_path ||
          function_highlight_is_shown(view)))
        return;
    overview_highlight_draw(view, cr, height);
    wait_kinds_draw(view, cr, height);
    overview_path_draw(view, cr, height);
    double bottom = bands_view_bottom_px(view, height);
    cairo_save(cr);
    cairo_rectangle(cr, 0, bottom, viewport_along_px(&view->viewport),
                    height - bands_view_key_px(view) - bottom);
    cairo_clip(cr);
    painter_fill_background(cr, &theme);
    overlay_draw_key(view, cr, height);
    cairo_restore(cr);
}

/* ---- text ---- */

char *overview_overlay_describe(struct view *view, double x, double y)
{
    char *sentence = bands_view_describe(view, x, y),
         *last = sentence ? strrchr(sentence, '\n') : NULL;
    double share = (x - viewport_names_px(&view->viewport)) / overview_width_px(view);
    uint32_t row = bands_view_row_at(view, y);
    if (!last)
        return sentence;
    GString *text = g_string_new_len(sentence, last - sentence);
    char *kinds = wait_kinds_describe(view, row, share);
    double path = overview_path_share(view, row, share),
           lit = overview_highlight_share(view, row, share);
    if (kinds)
        g_string_append_printf(text, "\nwaits: %s", kinds);
    if (path > 0)
        g_string_append_printf(text, "\non the critical path %.3g %%", 100 * path);
    if (lit >= 0) {
        char *name = function_highlight_name(view);
        g_string_append_printf(text, "\nin %s %.3g %%", name, 100 * lit);
        g_free(name);
    }
    g_string_append(text, last);
    g_free(kinds);
    g_free(sentence);
    return g_string_free(text, FALSE);
}

void overview_overlay_print(struct view *view, FILE *f)
{
    overview_path_print(view, f);
    wait_kinds_print(view, f);
    overview_highlight_print(view, f);
}

/* ---- notifications ---- */

void overview_overlay_on_notification(struct view *view, enum notification what)
{
    measured_states_on_notification(view, what);
    overview_path_on_notification(view, what);
    overview_highlight_on_notification(view, what);
}

bool overview_overlay_is_busy(struct view *view)
{
    return measured_states_is_busy(view) || overview_path_is_busy(view) ||
           overview_highlight_is_busy(view);
}

void overview_overlay_clear(struct view *view)
{
    measured_states_clear(view);
    overview_path_clear(view);
    overview_highlight_clear(view);
}
