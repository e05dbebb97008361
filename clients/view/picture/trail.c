#include "clients/view/picture/trail.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/status.h"
#include "clients/view/parts/tabled.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/strips.h"
#include "clients/view/picture/thick.h"
#include "clients/view/picture/view.h"

#include <math.h>

#define EVERY_US 1000000 /* of a run that grows */
#define MOVED_US 250000  /* where another part of it is seen */
#define WIDE_PX 4.0

/* What its pixels are of. */
struct range {
    bool by_time;
    int64_t from, to;
    uint32_t pixels;
};

struct piece { /* of a row, or of none that is seen: row -1 */
    int row, after; /* after: the row of whom it came from; -1: none */
    uint32_t first, end, hops;
    bool alone; /* no other hop is near the one that it begins with */
    double share;
};

struct trail {
    struct tabled path;
    struct range asked, shown;
    uint64_t of; /* the serial of the strip that it was asked for */
    uint64_t made_of; /* the same, of which the pieces are */
    bool stale; /* of the run there is more */
    GArray *pieces;
    double hidden, all; /* pixels of it: on rows that are not there; of all */
    guint soon;
};

/* ---- asking ---- */

static void on_told(void *user)
{
    struct view *view = user;
    struct trail *t = view->trail;
    if (!t->path.fresh)
        return;
    t->path.fresh = false;
    t->shown = t->asked;
    t->made_of = 0;
    if (t->path.table.problem)
        status_say(&view->status, "The critical path cannot be shown from afar: %s",
                   t->path.table.problem);
    gtk_widget_queue_draw(view->canvas);
}

static struct trail *trail_of(struct view *view)
{
    if (!view->trail) {
        view->trail = g_new0(struct trail, 1);
        view->trail->pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));
        view->trail->path = (struct tabled){.link = &view->link, .told = on_told, .user = view};
    }
    return view->trail;
}

static void say_number(struct table_request *request, const char *key, int64_t value)
{
    char text[24];
    g_snprintf(text, sizeof text, "%lld", (long long)value);
    tabled_option(request, key, text);
}

static void ask(struct view *view, struct trail *t)
{
    const struct shown_strip *s = &view->far.strip;
    struct table_request request = tabled_request("trail", s->by_time ? "time" : "order");
    say_number(&request, "begin", s->from);
    say_number(&request, "end", s->to);
    say_number(&request, "pixels", s->pixels);
    t->asked = (struct range){s->by_time, s->from, s->to, s->pixels};
    t->of = view->far.serial;
    t->stale = false;
    tabled_ask(&t->path, &request);
}

static bool wanted(const struct view *view)
{
    return view->settings.path && view->camera.place.far && view->far.strip.row_count;
}

/* Is another part seen than that which is here? */
static bool has_moved(const struct view *view, const struct trail *t)
{
    const struct shown_strip *s = &view->far.strip;
    return !t->path.here || t->shown.from != s->from || t->shown.to != s->to ||
           t->shown.by_time != s->by_time;
}

static gboolean on_soon(gpointer data);

static void ask_soon(struct view *view, struct trail *t)
{
    gint64 since = g_get_monotonic_time() - t->path.asked_us;
    if ((!t->stale && t->of == view->far.serial) || t->soon || !wanted(view) ||
        !view->link.connected || !view->link.has_run)
        return;
    bool runs = tabled_runs(&t->path);
    if (!runs && since >= (has_moved(view, t) ? MOVED_US : EVERY_US))
        ask(view, t);
    else
        t->soon = g_timeout_add(50, on_soon, view);
}

static gboolean on_soon(gpointer data)
{
    struct view *view = data;
    view->trail->soon = 0;
    ask_soon(view, view->trail);
    return G_SOURCE_REMOVE;
}

void trail_take(struct view *view, enum news news)
{
    struct trail *t = trail_of(view);
    t->stale |= news == NEWS_GROWN || news == NEWS_QUIET;
    ask_soon(view, t);
}

void trail_clear(struct view *view)
{
    struct trail *t = trail_of(view);
    tabled_clear(&t->path);
    if (t->soon)
        g_source_remove(t->soon);
    t->soon = 0;
    t->of = t->made_of = 0;
    t->stale = false;
}

bool trail_busy(struct view *view)
{
    struct trail *t = trail_of(view);
    return wanted(view) && (tabled_runs(&t->path) || (t->soon && has_moved(view, t)));
}

bool trail_runs(struct view *view)
{
    struct trail *t = trail_of(view);
    return wanted(view) && !t->path.here && tabled_runs(&t->path);
}

/* ---- on which rows ---- */

struct columns {
    uint32_t thread, from, until, share, hops, after;
};

static bool find(const struct shown_table *table, struct columns *c)
{
    uint32_t n = table->column_count;
    *c = (struct columns){table_find(table, "thread"), table_find(table, "from"),
                          table_find(table, "until"),  table_find(table, "share"),
                          table_find(table, "hops"),   table_find(table, "after")};
    return c->thread < n && c->from < n && c->until < n && c->share < n && c->hops < n &&
           c->after < n;
}

static int row_of(const GArray *rows, const struct table_cell *cell)
{
    if (cell->is != CELL_LINE || cell->line >= rows->len)
        return -1;
    return (int)g_array_index(rows, guint, cell->line) - 1;
}

static void add(struct trail *t, const GArray *rows, const struct table_cell *cells,
                const struct columns *c)
{
    struct piece p = {.row = row_of(rows, &cells[c->thread]),
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
    struct piece *before = NULL;
    for (guint i = 0; i < pieces->len; i++) {
        struct piece *p = &g_array_index(pieces, struct piece, i);
        if (!p->hops)
            continue;
        bool close = before && p->first - before->first < NEAR_PX;
        p->alone = p->hops == 1 && !close;
        if (close)
            before->alone = false;
        before = p;
    }
}

/* The pieces of the strip that is seen. */
static const GArray *pieces_of(struct view *view)
{
    struct trail *t = trail_of(view);
    struct columns c;
    if (!wanted(view) || !t->path.here || t->shown.by_time != view->far.strip.by_time)
        return NULL;
    if (t->made_of == view->far.serial)
        return t->pieces;
    t->made_of = view->far.serial;
    t->all = t->hidden = 0;
    g_array_set_size(t->pieces, 0);
    if (!find(&t->path.table, &c))
        return t->pieces;
    GArray *rows = far_rows_of_lines(view);
    for (uint32_t i = 0; i < t->path.table.row_count; i++)
        add(t, rows, table_cells(&t->path.table, i), &c);
    g_array_free(rows, TRUE);
    find_lone_hops(t->pieces);
    return t->pieces;
}

/* ---- drawing ---- */

/* Where a border of its pixels is on the canvas; the strips may have moved on meanwhile. */
static double x_of(struct view *view, uint32_t pixel)
{
    const struct range *r = &trail_of(view)->shown;
    const struct shown_strip *s = &view->far.strip;
    double at = (double)r->from + pixel * (double)(r->to - r->from) / r->pixels,
           share = (at - (double)s->from) / (double)(s->to - s->from);
    return camera_names_px(&view->camera) + share * far_width_px(view);
}

/* All of it is thick; of a pixel that several have, each has its share of that, and a hair at least. */
static void add_along(struct view *view, cairo_t *cr, const struct piece *p, int height)
{
    double x = x_of(view, p->first), to = x_of(view, p->end);
    double high = p->share > 0.999 ? WIDE_PX : MAX(1, WIDE_PX * p->share);
    if (p->row >= 0 && strips_seen(view, (uint32_t)p->row, height))
        cairo_rectangle(cr, x, strips_y_px(view, (uint32_t)p->row) - high / 2, to - x, high);
}

static void add_hop(struct view *view, cairo_t *cr, const struct piece *p)
{
    double from = strips_y_px(view, (uint32_t)p->after), to = strips_y_px(view, (uint32_t)p->row),
           wide = p->alone ? WIDE_PX - 1.5 : 1;
    cairo_rectangle(cr, x_of(view, p->first) - wide / 2, MIN(from, to), wide, fabs(to - from));
}

static bool is_hop(const struct piece *p)
{
    return p->hops && p->row >= 0 && p->after >= 0 && p->after != p->row;
}

/* Where hops stand close together they are a veil over all the rows that they cross, behind the rest. */
static void draw_veil(struct view *view, cairo_t *cr, const GArray *pieces)
{
    for (guint i = 0; i < pieces->len; i++) {
        const struct piece *p = &g_array_index(pieces, struct piece, i);
        if (is_hop(p) && !p->alone)
            add_hop(view, cr, p);
    }
    thick_colour(view, cr, 0.13);
    cairo_fill(cr);
}

void trail_draw(struct view *view, cairo_t *cr, int height)
{
    const GArray *pieces = pieces_of(view);
    double names = camera_names_px(&view->camera);
    if (!pieces)
        return;
    cairo_save(cr);
    cairo_rectangle(cr, names, STRIPS_RULER_PX, far_width_px(view),
                    strips_bottom_px(view, height) - STRIPS_RULER_PX);
    cairo_clip(cr);
    draw_veil(view, cr, pieces);
    for (guint i = 0; i < pieces->len; i++) {
        const struct piece *p = &g_array_index(pieces, struct piece, i);
        add_along(view, cr, p, height);
        if (is_hop(p) && p->alone)
            add_hop(view, cr, p);
    }
    thick_colour(view, cr, 0.95);
    cairo_fill(cr);
    cairo_restore(cr);
}

double trail_share(struct view *view, uint32_t row, double share)
{
    const GArray *pieces = pieces_of(view);
    double x = camera_names_px(&view->camera) + share * far_width_px(view);
    for (guint i = 0; pieces && i < pieces->len; i++) {
        const struct piece *p = &g_array_index(pieces, struct piece, i);
        if (p->row == (int)row && x_of(view, p->first) <= x && x_of(view, p->end) > x)
            return p->share;
    }
    return 0;
}

double trail_hidden(struct view *view)
{
    struct trail *t = trail_of(view);
    return pieces_of(view) && t->all > 0 ? t->hidden / t->all : 0;
}

void trail_print(struct view *view, FILE *f)
{
    const GArray *pieces = pieces_of(view);
    if (pieces)
        fprintf(f, "trail of %u pixels, hidden %.4f\n", trail_of(view)->shown.pixels,
                trail_hidden(view));
    for (guint i = 0; pieces && i < pieces->len; i++) {
        const struct piece *p = &g_array_index(pieces, struct piece, i);
        fprintf(f, "path %d %u %u %.4f hops %u after %d\n", p->row, p->first, p->end, p->share,
                p->hops, p->after);
    }
}
