/* Placement bands: the tasks on each worker thread, below the bands of threads, on the same axis.
 *
 * Intervals narrower than a pixel are drawn as a share of it. */
#include "clients/viewer/analysis/band_rows.h"

#include "base/lower_bound.h"
#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene_rows.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdlib.h>

#define LETTERS_PX 9.0

struct placement_bands {
    struct view *view; /* borrowed */
    void (*changed)(void *user);
    struct table_model placements;
    struct worker_rows workers;
};

static void placement_bands_on_table(void *user)
{
    struct placement_bands *r = user;
    if (!r->placements.fresh)
        return;
    r->placements.fresh = false;
    if (r->placements.table.problem)
        worker_rows_free(&r->workers);
    else
        worker_rows_read(&r->workers, &r->placements.table);
    r->changed(r->view);
}

struct placement_bands *placement_bands_new(struct view *view, void (*changed)(void *user))
{
    struct placement_bands *r = g_new0(struct placement_bands, 1);
    r->view = view;
    r->changed = changed;
    r->placements = (struct table_model){
        .link = &view->server_link, .on_table = placement_bands_on_table, .user = r};
    return r;
}

void placement_bands_request(struct placement_bands *r, int64_t from_ns, int64_t to_ns)
{
    struct table_request request = table_model_request("placement", "");
    request.from = (struct table_end){.is = TABLE_AT_NS, .at = from_ns};
    request.to = (struct table_end){.is = TABLE_AT_NS, .at = to_ns};
    table_model_send(&r->placements, &request);
}

bool placement_bands_is_pending(const struct placement_bands *r)
{
    return table_model_is_running(&r->placements);
}

void placement_bands_clear(struct placement_bands *r)
{
    table_model_clear(&r->placements);
    worker_rows_free(&r->workers);
}

int placement_bands_count(const struct placement_bands *r) { return (int)r->workers.count; }

/* ---- positions ---- */

/* Sets the placements of a worker thread: first to end - 1. */
static void placement_bands_find_placements(const struct placement_bands *r, uint32_t carrier,
                                            uint32_t *first, uint32_t *end)
{
    uint32_t low =
        LOWER_BOUND(i, 0, r->workers.placement_count, r->workers.placements[i].carrier < carrier);
    *first = *end = low;
    while (*end < r->workers.placement_count && r->workers.placements[*end].carrier == carrier)
        ++*end;
}

static double screen_x(const struct placement_bands *r, const struct time_axis *axis, int64_t ns)
{
    return time_axis_screen_x(r->view, time_axis_x_pt(axis, ns));
}

/* ---- drawing ---- */

static void draw_name(const struct placement_bands *r, cairo_t *cr, int n, double y, double row_px)
{
    const struct worker_row *c = &r->workers.items[n];
    double v = viewer_settings_theme(&r->view->viewer_settings).dark ? 0.7 : 0.35;
    char *name = *c->cluster ? g_strdup_printf("%s (%s)", c->name, c->cluster) : g_strdup(c->name);
    cairo_save(cr);
    cairo_rectangle(cr, 0, y, viewport_names_px(&r->view->viewport) - 4, row_px);
    cairo_clip(cr);
    cairo_set_source_rgb(cr, v, v, v);
    text_cache_show(cr, 8, y + 3, name, 10.5, false);
    cairo_restore(cr);
    g_free(name);
}

/* Sets the color of a task: tasks with adjacent line numbers differ. */
static void set_fill(const struct placement_bands *r, cairo_t *cr, uint32_t task)
{
    static const double lights[][3] = {{0.62, 0.77, 0.91}, {0.98, 0.80, 0.58}, {0.72, 0.87, 0.68},
                                       {0.93, 0.71, 0.73}, {0.80, 0.75, 0.89}, {0.87, 0.83, 0.62},
                                       {0.65, 0.87, 0.86}, {0.88, 0.75, 0.85}};
    const double *c = lights[task % G_N_ELEMENTS(lights)];
    struct paint_theme theme = viewer_settings_theme(&r->view->viewer_settings);
    double less = theme.dark ? 0.5 : 1, grey = less * (0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2]);
    if (theme.grey)
        cairo_set_source_rgb(cr, grey, grey, grey);
    else
        cairo_set_source_rgb(cr, less * c[0], less * c[1], less * c[2]);
}

/* Draws as much of the task's name as fits. */
static void draw_task(const struct placement_bands *r, cairo_t *cr, uint32_t task,
                      cairo_rectangle_t box)
{
    double ink = viewer_settings_theme(&r->view->viewer_settings).dark ? 0.95 : 0.1;
    cairo_save(cr);
    cairo_rectangle(cr, box.x + 1, box.y, box.width - 2, box.height);
    cairo_clip(cr);
    cairo_set_source_rgb(cr, ink, ink, ink);
    text_cache_show(cr, box.x + 3, box.y + 1, metadata_label(view_metadata(r->view), task),
                    LETTERS_PX, false);
    cairo_restore(cr);
}

void placement_bands_draw(const struct placement_bands *r, cairo_t *cr, int n, double y,
                          double row_px, double band_px, int width)
{
    const struct time_axis *axis = time_axis_of(r->view);
    double at = y + (row_px - band_px) / 2, names = viewport_names_px(&r->view->viewport);
    float *narrow = g_new0(
        float, (size_t)MAX(width, 1)); /* sums of placements of less than a pixel, by pixel */
    uint32_t first, end;
    draw_name(r, cr, n, y, row_px);
    placement_bands_find_placements(r, (uint32_t)n, &first, &end);
    for (uint32_t i = first; axis && i < end; i++) {
        const struct worker_placement *s = &r->workers.placements[i];
        double from = MAX(screen_x(r, axis, s->from_ns), names),
               to = MIN(screen_x(r, axis, s->to_ns), width);
        if (to - from < 1 && from >= 0 && from < width && to >= from)
            narrow[(int)from] += (float)(to - from);
        if (to - from < 1)
            continue;
        cairo_rectangle_t box = {from, at, to - from, band_px};
        set_fill(r, cr, s->task);
        cairo_rectangle(cr, from, at, MAX(to - from - 0.5, 0.5), band_px);
        cairo_fill(cr);
        if (to - from > 14)
            draw_task(r, cr, s->task, box);
    }
    cairo_set_source_rgb(cr, 0.55, 0.55, 0.55);
    for (int x = (int)names; x < width; x++) {
        double high = band_px * fmin(1, (double)narrow[x]);
        if (high > 0)
            cairo_rectangle(cr, x, at + band_px - high, 1, high);
    }
    cairo_fill(cr);
    g_free(narrow);
}

/* ---- text ---- */

char *placement_bands_describe(const struct placement_bands *r, int n, double x)
{
    const struct time_axis *axis = time_axis_of(r->view);
    const struct worker_placement *best = NULL;
    double nearest = 3;
    uint32_t first, end;
    placement_bands_find_placements(r, (uint32_t)n, &first, &end);
    for (uint32_t i = first; axis && i < end; i++) {
        const struct worker_placement *s = &r->workers.placements[i];
        double from = screen_x(r, axis, s->from_ns), to = screen_x(r, axis, s->to_ns),
               away = x < from ? from - x
                      : x > to ? x - to
                               : 0;
        if (away < nearest) {
            nearest = away;
            best = s;
        }
    }
    if (!best)
        return NULL;
    const struct worker_row *c = &r->workers.items[n];
    return g_strdup_printf("%s, on %s%s%s\nsince %.3f ms, for %.3f ms%s",
                           metadata_label(view_metadata(r->view), best->task), c->name,
                           *c->cluster ? " of cluster " : "", c->cluster,
                           (double)best->from_ns / 1e6, (double)(best->to_ns - best->from_ns) / 1e6,
                           best->came ? "\nmigrated from another worker thread" : "");
}

void placement_bands_print(const struct placement_bands *r, FILE *f)
{
    for (int n = 0; n < placement_bands_count(r); n++) {
        uint32_t first, end;
        int64_t ns = 0;
        placement_bands_find_placements(r, (uint32_t)n, &first, &end);
        for (uint32_t i = first; i < end; i++)
            ns += r->workers.placements[i].to_ns - r->workers.placements[i].from_ns;
        fprintf(f, "processor %s of %s: %u stays, %.3f ms\n", r->workers.items[n].name,
                *r->workers.items[n].cluster ? r->workers.items[n].cluster : "none", end - first,
                (double)ns / 1e6);
    }
}
