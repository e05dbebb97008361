#include "clients/view/picture/farlit.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/tabled.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/lit.h"
#include "clients/view/picture/strips.h"
#include "clients/view/picture/view.h"
#include "render/paint.h"

#include <math.h>
#include <string.h>

#define EVERY_US 250000 /* of a run that grows */
#define VEIL 0.6 /* how much paler the strips are below it */

struct farlit {
    struct tabled table;
    char *of; /* what was asked about, */
    uint64_t serial; /* and for which strip; */
    int64_t from, to; /* its range, */
    uint32_t pixels;
    bool by_time;
    float *shares; /* by row and pixel of it; NULL: not made */
    uint32_t rows;
    guint soon;
};

static void on_told(void *user)
{
    struct view *view = user;
    if (!view->farlit->table.fresh)
        return;
    view->farlit->table.fresh = false;
    g_clear_pointer(&view->farlit->shares, g_free);
    gtk_widget_queue_draw(view->canvas);
}

static struct farlit *here(struct view *view)
{
    if (!view->farlit) {
        view->farlit = g_new0(struct farlit, 1);
        view->farlit->table = (struct tabled){.link = &view->link, .told = on_told, .user = view};
    }
    return view->farlit;
}

static bool is_wanted(const struct view *view)
{
    return lit_is(view) && view->camera.place.far && view->far.strip.row_count &&
           view->far.strip.to > view->far.strip.from;
}

/* ---- asking ---- */

static void ask(struct view *view, struct farlit *l)
{
    const struct shown_strip *s = &view->far.strip;
    const struct {
        const char *key;
        long long value;
    } options[] = {{"begin", s->from}, {"end", s->to}, {"pixels", s->pixels}};
    struct table_request request = lit_request(view, s->by_time ? "time" : "order");
    for (unsigned i = 0; i < G_N_ELEMENTS(options); i++) {
        char text[24];
        g_snprintf(text, sizeof text, "%lld", options[i].value);
        tabled_option(&request, options[i].key, text);
    }
    g_free(l->of);
    l->of = g_strdup(view->camera.place.lit);
    l->serial = view->far.serial;
    l->from = s->from;
    l->to = s->to;
    l->pixels = s->pixels;
    l->by_time = s->by_time;
    l->table.here = false;
    tabled_ask(&l->table, &request);
}

static bool is_another(const struct view *view, const struct farlit *l)
{
    return g_strcmp0(l->of, view->camera.place.lit) != 0;
}

static gboolean on_soon(gpointer data);

static void ask_soon(struct view *view, struct farlit *l)
{
    bool another = is_another(view, l);
    gint64 since = g_get_monotonic_time() - l->table.asked_us;
    if (!is_wanted(view) || l->soon || !(another || l->serial != view->far.serial) ||
        !view->link.connected || !view->link.has_run)
        return;
    if (another || (since >= EVERY_US && !tabled_runs(&l->table)))
        ask(view, l);
    else
        l->soon = g_timeout_add(20, on_soon, view);
}

static gboolean on_soon(gpointer data)
{
    struct view *view = data;
    view->farlit->soon = 0;
    ask_soon(view, view->farlit);
    return G_SOURCE_REMOVE;
}

void farlit_take(struct view *view, enum news news)
{
    if (news == NEWS_PICTURE || news == NEWS_SEEN ||
        news == NEWS_ROWS) /* there may be other rows */
        g_clear_pointer(&here(view)->shares, g_free);
    ask_soon(view, here(view));
}

bool farlit_runs(struct view *view)
{
    return is_wanted(view) && !here(view)->table.here && tabled_runs(&here(view)->table);
}

bool farlit_busy(struct view *view)
{
    struct farlit *l = here(view);
    return is_wanted(view) && (tabled_runs(&l->table) || l->soon || is_another(view, l));
}

void farlit_clear(struct view *view)
{
    struct farlit *l = here(view);
    tabled_clear(&l->table);
    g_clear_pointer(&l->shares, g_free);
    g_clear_pointer(&l->of, g_free);
    if (l->soon)
        g_source_remove(l->soon);
    l->soon = 0;
}

/* ---- by row and pixel ---- */

enum column { THREAD, FROM, UNTIL, SHARE, COLUMNS };

/* How many lines a row stands for. */
static uint32_t *count_lines(const GArray *row_of, uint32_t rows)
{
    uint32_t *lines = g_new0(uint32_t, rows + 1);
    for (guint i = 0; i < row_of->len; i++)
        lines[MIN(g_array_index(row_of, guint, i), rows)]++;
    return lines; /* by 1 + row */
}

static void add(struct farlit *l, const struct table_cell *c, const GArray *row_of,
                const uint32_t *lines)
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

/* False: there is nothing to be drawn. */
static bool make(struct view *view)
{
    struct farlit *l = here(view);
    const struct shown_table *t = &l->table.table;
    if (!is_wanted(view) || !l->table.here || is_another(view, l) ||
        l->by_time != view->far.strip.by_time)
        return false;
    if (l->shares)
        return true;
    GArray *row_of = far_rows_of_lines(view);
    l->rows = view->far.strip.row_count;
    uint32_t *lines = count_lines(row_of, l->rows);
    l->shares = g_new0(float, (size_t)l->rows * l->pixels + 1);
    for (uint32_t i = 0; t->column_count >= COLUMNS && i < t->row_count; i++)
        add(l, table_cells(t, i), row_of, lines);
    g_array_free(row_of, TRUE);
    g_free(lines);
    return true;
}

/* ---- drawing ---- */

/* Where a pixel of what was asked for is on the canvas. */
static double x_of(struct view *view, const struct farlit *l, uint32_t pixel)
{
    const struct shown_strip *s = &view->far.strip;
    double at = (double)l->from + (double)pixel * (double)(l->to - l->from) / l->pixels,
           share = (at - (double)s->from) / (double)(s->to - s->from);
    return camera_names_px(&view->camera) + CLAMP(share, 0, 1) * far_width_px(view);
}

static void paint_row(struct view *view, cairo_t *cr, uint32_t row)
{
    struct paint_theme theme = settings_theme(&view->settings);
    const struct farlit *l = view->farlit;
    const float *shares = l->shares + (size_t)row * l->pixels;
    cairo_rectangle_t box = strips_box(view, row);
    double ground = paint_brightness(theme.dark);
    cairo_set_source_rgba(cr, ground, ground, ground, VEIL);
    cairo_rectangle(cr, box.x, box.y, box.width, box.height);
    cairo_fill(cr);
    for (uint32_t i = 0, end; i < l->pixels; i = end) {
        for (end = i + 1; end < l->pixels && fabsf(shares[end] - shares[i]) < 0.002f;)
            end++;
        double x0 = round(x_of(view, l, i)), x1 = round(x_of(view, l, end));
        if (shares[i] < 0.002f || x1 <= x0)
            continue;
        lit_colour(cr, MIN((double)shares[i], 1), true, &theme);
        cairo_rectangle(cr, x0, box.y, x1 - x0, box.height);
        cairo_fill(cr);
    }
}

void farlit_draw(struct view *view, cairo_t *cr, int height)
{
    if (!make(view))
        return;
    cairo_save(cr);
    cairo_rectangle(cr, 0, STRIPS_RULER_PX, camera_along_px(&view->camera),
                    strips_bottom_px(view, height) - STRIPS_RULER_PX);
    cairo_clip(cr);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    for (uint32_t row = 0; row < view->farlit->rows; row++)
        if (strips_seen(view, row, height))
            paint_row(view, cr, row);
    cairo_restore(cr);
}

double farlit_share(struct view *view, uint32_t row, double share)
{
    if (!make(view) || row >= view->farlit->rows)
        return -1;
    const struct farlit *l = view->farlit;
    const struct shown_strip *s = &view->far.strip;
    double at = (double)s->from + share * (double)(s->to - s->from),
           pixel = (at - (double)l->from) / (double)(l->to - l->from) * l->pixels;
    return pixel >= 0 && pixel < l->pixels
               ? (double)l->shares[(size_t)row * l->pixels + (size_t)pixel]
               : -1;
}

void farlit_print(struct view *view, FILE *f)
{
    if (!make(view))
        return;
    for (uint32_t row = 0; row < view->farlit->rows; row++) {
        double sum = 0;
        for (uint32_t i = 0; i < view->farlit->pixels; i++)
            sum += (double)view->farlit->shares[(size_t)row * view->farlit->pixels + i];
        if (sum > 0)
            fprintf(f, "lit %u %.4f\n", row, sum / view->farlit->pixels);
    }
}
