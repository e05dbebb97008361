#include "clients/viewer/diagram/overview_highlight.h"

#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/table_model.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene_paint.h"

#include <math.h>
#include <string.h>

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

static gboolean on_soon(gpointer data);

static void overview_highlight_request_soon(struct view *view, struct overview_highlight *l)
{
    bool another = overview_highlight_has_changed(view, l);
    gint64 since = g_get_monotonic_time() - l->table.asked_us;
    if (!is_wanted(view) || l->soon || !(another || l->serial != view->overview.serial) ||
        !view->server_link.connected || !view->server_link.has_run)
        return;
    if (another || (since >= EVERY_US && !table_model_is_running(&l->table)))
        overview_highlight_request(view, l);
    else
        l->soon = g_timeout_add(20, on_soon, view);
}

static gboolean on_soon(gpointer data)
{
    struct view *view = data;
    struct overview_highlight *highlight = overview_highlight_find(view);
    highlight->soon = 0;
    overview_highlight_request_soon(view, highlight);
    return G_SOURCE_REMOVE;
}

void overview_highlight_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_DIAGRAM || what == NOTIFY_VISIBLE_PART ||
        what == NOTIFY_ROWS) /* the rows may be others */
        g_clear_pointer(&overview_highlight_state(view)->shares, g_free);
    overview_highlight_request_soon(view, overview_highlight_state(view));
}

bool overview_highlight_is_running(struct view *view)
{
    return is_wanted(view) && !overview_highlight_state(view)->table.has_answer &&
           table_model_is_running(&overview_highlight_state(view)->table);
}

bool overview_highlight_is_busy(struct view *view)
{
    struct overview_highlight *l = overview_highlight_state(view);
    return is_wanted(view) && (table_model_is_running(&l->table) || l->soon ||
                               overview_highlight_has_changed(view, l));
}

void overview_highlight_clear(struct view *view)
{
    struct overview_highlight *l = overview_highlight_state(view);
    table_model_clear(&l->table);
    g_clear_pointer(&l->shares, g_free);
    g_clear_pointer(&l->of, g_free);
    if (l->soon)
        g_source_remove(l->soon);
    l->soon = 0;
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

void overview_highlight_draw(struct view *view, cairo_t *cr, int height)
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

double overview_highlight_share(struct view *view, uint32_t row, double share)
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

void overview_highlight_print(struct view *view, FILE *f)
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
