/* The critical path in the overview: a thick line along the row of its thread, in proportion to its
 * share if a pixel has several; and between rows where one thread unblocked another, a translucent
 * area if there are too many to be distinguished. */
#include "clients/viewer/diagram/overview_overlay.h"

#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewport.h"
#include "render/coverage_mask.h"

#include <math.h>

#define EVERY_US 1000000 /* between requests, while the run grows */
#define MOVED_US 250000 /* after the visible range changed */
#define WIDE_PX 4.0

/* The range of a request, in ns or positions, and the number of pixels that divide it. */
struct overview_path_range {
    bool by_time;
    int64_t from, to;
    uint32_t pixels;
};

struct overview_path_piece { /* row -1: its line is not displayed */
    int row, after; /* after: the row that the path came from; -1: none */
    uint32_t first, end, hops;
    bool alone; /* it begins with one hop, and no other is near */
    double share;
};

struct overview_path {
    struct table_model path;
    struct overview_path_range asked, shown;
    uint64_t of; /* serial of the state bands of the last request */
    uint64_t made_of; /* serial of the state bands that the pieces are for */
    bool stale; /* the run has grown since the request */
    GArray *pieces;
    double hidden, all; /* pixels on the path: on rows that are not displayed; all */
    guint soon;
};

static const struct viewer_addon overview_path_addon = {"overview_path",
                                                        sizeof(struct overview_path)};

static struct overview_path *overview_path_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &overview_path_addon);
}

/* ---- requests ---- */

static void overview_path_on_table(void *user)
{
    struct view *view = user;
    struct overview_path *t = overview_path_find(view);
    if (!t->path.fresh)
        return;
    t->path.fresh = false;
    t->shown = t->asked;
    t->made_of = 0;
    if (t->path.table.problem)
        status_line_show(&view->status_line, "No critical path in the overview: %s",
                         t->path.table.problem);
    gtk_widget_queue_draw(view->canvas);
}

static struct overview_path *overview_path_state(struct view *view)
{
    struct overview_path *state = overview_path_find(view);
    if (!state) {
        state = viewer_addons_add(&view->addons, &overview_path_addon);
        state->pieces = g_array_new(FALSE, FALSE, sizeof(struct overview_path_piece));
        state->path = (struct table_model){
            .link = &view->server_link, .on_table = overview_path_on_table, .user = view};
    }
    return state;
}

static void overview_path_set_number_option(struct table_request *request, const char *key,
                                            int64_t value)
{
    char text[24];
    g_snprintf(text, sizeof text, "%lld", (long long)value);
    table_model_set_option(request, key, text);
}

static void overview_path_request(struct view *view, struct overview_path *t)
{
    const struct state_bands *s = &view->overview.strip;
    struct table_request request =
        table_model_request("path_intervals", s->by_time ? "time" : "order");
    overview_path_set_number_option(&request, "begin", s->from);
    overview_path_set_number_option(&request, "end", s->to);
    overview_path_set_number_option(&request, "pixels", s->pixels);
    t->asked = (struct overview_path_range){s->by_time, s->from, s->to, s->pixels};
    t->of = view->overview.serial;
    t->stale = false;
    table_model_send(&t->path, &request);
}

static bool overview_path_is_needed(const struct view *view)
{
    return view->viewer_settings.overview_path && view->viewport.place.overview &&
           view->overview.strip.row_count;
}

/* Returns whether the visible range is not that of the answer. */
static bool has_moved(const struct view *view, const struct overview_path *t)
{
    const struct state_bands *s = &view->overview.strip;
    return !t->path.has_answer || t->shown.from != s->from || t->shown.to != s->to ||
           t->shown.by_time != s->by_time;
}

static void overview_path_request_soon(void *user)
{
    struct view *view = user;
    struct overview_path *t = overview_path_state(view);
    gint64 since = g_get_monotonic_time() - t->path.asked_us;
    if ((!t->stale && t->of == view->overview.serial) || t->soon ||
        !overview_path_is_needed(view) || !view->server_link.connected ||
        !view->server_link.has_run)
        return;
    bool runs = table_model_is_running(&t->path);
    if (!runs && since >= (has_moved(view, t) ? MOVED_US : EVERY_US))
        overview_path_request(view, t);
    else
        request_slot_schedule(&t->soon, 50, overview_path_request_soon, view);
}

void overview_path_on_notification(struct view *view, enum notification what)
{
    struct overview_path *t = overview_path_state(view);
    t->stale |= what == NOTIFY_RUN_UPDATED || what == NOTIFY_QUIET;
    overview_path_request_soon(view);
}

void overview_path_clear(struct view *view)
{
    struct overview_path *t = overview_path_state(view);
    table_model_clear(&t->path);
    g_clear_handle_id(&t->soon, g_source_remove);
    t->of = t->made_of = 0;
    t->stale = false;
}

bool overview_path_is_busy(struct view *view)
{
    struct overview_path *t = overview_path_state(view);
    return overview_path_is_needed(view) &&
           (table_model_is_running(&t->path) || (t->soon && has_moved(view, t)));
}

bool overview_path_is_running(struct view *view)
{
    struct overview_path *t = overview_path_state(view);
    return overview_path_is_needed(view) && !t->path.has_answer && table_model_is_running(&t->path);
}

/* ---- pieces by row ---- */

struct overview_path_columns {
    uint32_t thread, from, until, share, hops, after;
};

static bool overview_path_find_columns(const struct result_table *table,
                                       struct overview_path_columns *c)
{
    uint32_t n = table->column_count;
    *c = (struct overview_path_columns){
        result_table_find_column(table, "thread"), result_table_find_column(table, "from"),
        result_table_find_column(table, "until"),  result_table_find_column(table, "share"),
        result_table_find_column(table, "hops"),   result_table_find_column(table, "from_thread")};
    return c->thread < n && c->from < n && c->until < n && c->share < n && c->hops < n &&
           c->after < n;
}

static int row_of(const GArray *rows, const struct table_cell *cell)
{
    if (cell->is != CELL_LINE || cell->line >= rows->len)
        return -1;
    return (int)g_array_index(rows, guint, cell->line) - 1;
}

static void overview_path_add_piece(struct overview_path *t, const GArray *rows,
                                    const struct table_cell *cells,
                                    const struct overview_path_columns *c)
{
    struct overview_path_piece p = {.row = row_of(rows, &cells[c->thread]),
                                    .after = row_of(rows, &cells[c->after]),
                                    .first = (uint32_t)cells[c->from].number,
                                    .end = (uint32_t)cells[c->until].number,
                                    .hops = (uint32_t)cells[c->hops].number,
                                    .share = cells[c->share].real};
    double pixels = p.share * (p.end - p.first);
    t->all += pixels;
    t->hidden += p.row < 0 ? pixels : 0;
    g_array_append_val(t->pieces, p);
}

#define NEAR_PX 5u

static void find_lone_hops(GArray *pieces)
{
    struct overview_path_piece *before = NULL;
    for (guint i = 0; i < pieces->len; i++) {
        struct overview_path_piece *p = &g_array_index(pieces, struct overview_path_piece, i);
        if (!p->hops)
            continue;
        bool close = before && p->first - before->first < NEAR_PX;
        p->alone = p->hops == 1 && !close;
        if (close)
            before->alone = false;
        before = p;
    }
}

/* Returns the pieces on the current rows; NULL: unknown. */
static const GArray *pieces_of(struct view *view)
{
    struct overview_path *t = overview_path_state(view);
    struct overview_path_columns c;
    if (!overview_path_is_needed(view) || !t->path.has_answer ||
        t->shown.by_time != view->overview.strip.by_time)
        return NULL;
    if (t->made_of == view->overview.serial)
        return t->pieces;
    t->made_of = view->overview.serial;
    t->all = t->hidden = 0;
    g_array_set_size(t->pieces, 0);
    if (!overview_path_find_columns(&t->path.table, &c))
        return t->pieces;
    GArray *rows = overview_rows_of_lines(view);
    for (uint32_t i = 0; i < t->path.table.row_count; i++)
        overview_path_add_piece(t, rows, result_table_cells(&t->path.table, i), &c);
    g_array_free(rows, TRUE);
    find_lone_hops(t->pieces);
    return t->pieces;
}

/* ---- drawing ---- */

/* Returns where a pixel of the answer begins on the canvas, which may have another range since. */
static double x_of(struct view *view, uint32_t pixel)
{
    const struct overview_path_range *r = &overview_path_state(view)->shown;
    const struct state_bands *s = &view->overview.strip;
    double at = (double)r->from + pixel * (double)(r->to - r->from) / r->pixels,
           share = (at - (double)s->from) / (double)(s->to - s->from);
    return viewport_names_px(&view->viewport) + share * overview_width_px(view);
}

/* Adds a bar of WIDE_PX times its share of the path, at least one pixel high. */
static void add_along(struct view *view, struct coverage_mask *mask,
                      const struct overview_path_piece *p, int height)
{
    double x = x_of(view, p->first), to = x_of(view, p->end);
    double high = p->share > 0.999 ? WIDE_PX : MAX(1, WIDE_PX * p->share);
    if (p->row >= 0 && bands_view_is_visible(view, (uint32_t)p->row, height))
        coverage_mask_add(mask,
                          (cairo_rectangle_t){x, bands_view_y_px(view, (uint32_t)p->row) - high / 2,
                                              to - x, high});
}

static void add_hop(struct view *view, struct coverage_mask *mask,
                    const struct overview_path_piece *p)
{
    double from = bands_view_y_px(view, (uint32_t)p->after),
           to = bands_view_y_px(view, (uint32_t)p->row), wide = p->alone ? WIDE_PX - 1.5 : 1;
    coverage_mask_add(mask, (cairo_rectangle_t){x_of(view, p->first) - wide / 2, MIN(from, to),
                                                wide, fabs(to - from)});
}

static bool is_hop(const struct overview_path_piece *p)
{
    return p->hops && p->row >= 0 && p->after >= 0 && p->after != p->row;
}

/* Draws hops that are too close to be distinguished as a translucent area, behind the rest. */
static void draw_veil(struct view *view, cairo_t *cr, const GArray *pieces, cairo_rectangle_t area)
{
    struct coverage_mask mask = coverage_mask_new(area, gtk_widget_get_scale_factor(view->canvas));
    for (guint i = 0; i < pieces->len; i++) {
        const struct overview_path_piece *p = &g_array_index(pieces, struct overview_path_piece, i);
        if (is_hop(p) && !p->alone)
            add_hop(view, &mask, p);
    }
    path_overlay_set_color(view, cr, 0.13);
    coverage_mask_paint(&mask, cr);
}

void overview_path_draw(struct view *view, cairo_t *cr, int height)
{
    const GArray *pieces = pieces_of(view);
    cairo_rectangle_t area = {viewport_names_px(&view->viewport), BANDS_VIEW_RULER_PX,
                              overview_width_px(view),
                              bands_view_bottom_px(view, height) - BANDS_VIEW_RULER_PX};
    if (!pieces || area.width < 1 || area.height < 1)
        return;
    cairo_save(cr);
    cairo_rectangle(cr, area.x, area.y, area.width, area.height);
    cairo_clip(cr);
    draw_veil(view, cr, pieces, area);
    struct coverage_mask mask = coverage_mask_new(area, gtk_widget_get_scale_factor(view->canvas));
    for (guint i = 0; i < pieces->len; i++) {
        const struct overview_path_piece *p = &g_array_index(pieces, struct overview_path_piece, i);
        add_along(view, &mask, p, height);
        if (is_hop(p) && p->alone)
            add_hop(view, &mask, p);
    }
    path_overlay_set_color(view, cr, 0.95);
    coverage_mask_paint(&mask, cr);
    cairo_restore(cr);
}

double overview_path_share(struct view *view, uint32_t row, double share)
{
    const GArray *pieces = pieces_of(view);
    double x = viewport_names_px(&view->viewport) + share * overview_width_px(view);
    for (guint i = 0; pieces && i < pieces->len; i++) {
        const struct overview_path_piece *p = &g_array_index(pieces, struct overview_path_piece, i);
        if (p->row == (int)row && x_of(view, p->first) <= x && x_of(view, p->end) > x)
            return p->share;
    }
    return 0;
}

double overview_path_hidden_share(struct view *view)
{
    struct overview_path *t = overview_path_state(view);
    return pieces_of(view) && t->all > 0 ? t->hidden / t->all : 0;
}

void overview_path_print(struct view *view, FILE *f)
{
    const GArray *pieces = pieces_of(view);
    if (pieces)
        fprintf(f, "trail of %u pixels, hidden %.4f\n", overview_path_state(view)->shown.pixels,
                overview_path_hidden_share(view));
    for (guint i = 0; pieces && i < pieces->len; i++) {
        const struct overview_path_piece *p = &g_array_index(pieces, struct overview_path_piece, i);
        fprintf(f, "path %d %u %u %.4f hops %u after %d\n", p->row, p->first, p->end, p->share,
                p->hops, p->after);
    }
}
