#include "clients/viewer/diagram/canvas.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/pointer_input.h"
#include "clients/viewer/diagram/range_view.h"
#include "clients/viewer/diagram/row_search.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/status_card.h"
#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/diagram/wait_coloring.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/state/viewport.h"

#include <math.h>

/* ---- tiles ---- */

struct paint_selection canvas_selection(const struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    return (struct paint_selection){
        .selected = p->selected,
        .second = p->second,
        .relations = p->color_relations && p->selected.line && view->scene_cache.colored,
        .past = !(p->hide & HIDE_PAST),
        .future = !(p->hide & HIDE_FUTURE),
        .concurrent = !(p->hide & HIDE_CONCURRENT),
        .found = view->search.hits,
        .found_count = view->search.hit_count,
        .marked = view->highlights.events,
        .marked_count = view->highlights.event_count,
        .stops = view->breakpoint_marks.events,
        .stop_count = view->breakpoint_marks.event_count,
        .chain = view->selection_relations.chain,
        .chain_count = view->selection_relations.chain_count,
        .stuck = view->selection_relations.stuck,
        .stuck_count = view->selection_relations.stuck_count,
    };
}

/* What a tile belongs to: the scrolling rows, or the pinned ones above them. */
struct canvas_layer {
    bool pinned;
    double above_pt; /* y in the scene of the top of the canvas */
    int height;
};

static bool canvas_tile_is_valid(const struct view *view, const struct tile *t, int index,
                                 const struct canvas_layer *layer)
{
    return t->surface && t->index == index && t->serial == view->scene_cache.serial &&
           t->pinned == layer->pinned && t->rise_pt == layer->above_pt &&
           t->zoom == view->viewport.place.zoom;
}

/* Sets the visible rows of the layer. */
static void layer_rows(const struct view *view, const struct canvas_layer *layer,
                       struct paint_part *part)
{
    const struct scene *s = view->scene_cache.scene;
    double row_pt = viewport_row_pt(&view->viewport),
           high = layer->height / view->viewport.place.zoom;
    double first = floor((layer->above_pt - s->top_pt) / row_pt),
           last = ceil((layer->above_pt + high - s->top_pt) / row_pt);
    uint32_t pinned = view->scene_cache.pinned;
    part->first_row = layer->pinned ? 0 : (uint32_t)CLAMP(first, pinned, s->row_count);
    part->last_row = layer->pinned ? pinned : (uint32_t)CLAMP(last, 0, s->row_count);
}

static int height_on_screen(const struct canvas_layer *layer, double scale)
{
    return (int)ceil(layer->height * scale);
}

/* Paints TILE_PX pixels of the zoomed scene, from pixel index * TILE_PX. */
static void paint_tile(struct view *view, struct tile *t, int index,
                       const struct canvas_layer *layer, double scale)
{
    const struct scene *s = view->scene_cache.scene;
    double zoom = view->viewport.place.zoom, from = index * (double)TILE_PX / zoom;
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    struct paint_selection selection = canvas_selection(view);
    struct paint_part part = {.from_pt = from, .to_pt = from + TILE_PX / zoom, .sticks = true};
    layer_rows(view, layer, &part);
    if (t->surface)
        cairo_surface_destroy(t->surface);
    t->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(TILE_PX * scale),
                                            height_on_screen(layer, scale));
    cairo_surface_set_device_scale(t->surface, scale, scale);
    t->index = index;
    t->serial = view->scene_cache.serial;
    t->rise_pt = layer->above_pt;
    t->pinned = layer->pinned;
    t->zoom = zoom;
    cairo_t *cr = cairo_create(t->surface);
    painter_fill_background(cr, &theme);
    cairo_scale(cr, zoom, zoom);
    cairo_translate(cr, -from, -layer->above_pt);
    scene_paint(cr, s, &theme, &part, &selection);
    cairo_destroy(cr);
}

static struct tile *canvas_get_tile(struct view *view, int index, const struct canvas_layer *layer,
                                    double scale)
{
    struct scene_cache *stage = &view->scene_cache;
    for (unsigned i = 0; i < TILES; i++) {
        struct tile *t = &stage->tiles[i];
        if (canvas_tile_is_valid(view, t, index, layer) &&
            cairo_image_surface_get_height(t->surface) == height_on_screen(layer, scale))
            return t;
    }
    struct tile *t = &stage->tiles[stage->next_tile++ % TILES];
    paint_tile(view, t, index, layer, scale);
    return t;
}

/* Draws over the tiles, not into them: these labels move with the left edge. */
static void canvas_draw_sticky_labels(struct view *view, cairo_t *cr,
                                      const struct canvas_layer *layer, int width)
{
    double zoom = view->viewport.place.zoom, names = viewport_names_px(&view->viewport),
           left = MAX(viewport_left_pt(&view->viewport), view->scene_cache.scene->names_pt);
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    struct paint_part part = {.from_pt = left, .to_pt = left + (width - names) / zoom};
    layer_rows(view, layer, &part);
    cairo_translate(cr, names, 0);
    cairo_scale(cr, zoom, zoom);
    cairo_translate(cr, -viewport_left_pt(&view->viewport), -layer->above_pt);
    sticky_labels_paint(cr, view->scene_cache.scene, &theme, &part);
}

static void draw_layer(struct view *view, cairo_t *cr, int width, const struct canvas_layer *layer,
                       double top_px)
{
    double names = viewport_names_px(&view->viewport),
           left = viewport_left_pt(&view->viewport) * view->viewport.place.zoom;
    double begin =
        view->scene_cache.scene->names_pt * view->viewport.place.zoom; /* of the columns */
    double scale = gtk_widget_get_scale_factor(view->canvas) * view->viewport.unit_px;
    int first = (int)floor(left / TILE_PX), last = (int)floor((left + width - names) / TILE_PX);
    cairo_save(cr);
    cairo_rectangle(cr, names + MAX(0, begin - left), top_px, width - names,
                    layer->height - top_px);
    cairo_clip(cr);
    for (int i = first; i <= last && i - first < TILES; i++) {
        struct tile *t = canvas_get_tile(view, i, layer, scale);
        double x = round((names + i * TILE_PX - left) * scale) / scale;
        cairo_set_source_surface(cr, t->surface, x, 0);
        cairo_paint(cr);
    }
    canvas_draw_sticky_labels(view, cr, layer, width);
    cairo_restore(cr);
}

/* Draws the pinned rows over the scrolling ones. */
static void draw_columns(struct view *view, cairo_t *cr, int width, int height)
{
    double band = viewport_band_px(&view->viewport);
    struct canvas_layer all = {.above_pt =
                                   view->viewport.place.rise_pt -
                                   view->scene_cache.row_base * viewport_row_pt(&view->viewport),
                               .height = height},
                        pinned = {.pinned = true, .height = (int)ceil(MIN(band, height))};
    draw_layer(view, cr, width, &all, band);
    if (band > 0)
        draw_layer(view, cr, width, &pinned, 0);
}

/* ---- names ---- */

static void draw_pin(cairo_t *cr, double x, double y)
{
    cairo_set_source_rgb(cr, 0.45, 0.45, 0.5);
    cairo_arc(cr, x, y - 3.5, 3, 0, 2 * G_PI);
    cairo_fill(cr);
    cairo_rectangle(cr, x - 0.7, y - 1, 1.4, 6);
    cairo_fill(cr);
}

static void draw_arrow(cairo_t *cr, double x, double y, int direction)
{
    cairo_move_to(cr, x + direction * 3.5, y);
    cairo_line_to(cr, x - direction * 3.5, y - 4.5);
    cairo_line_to(cr, x - direction * 3.5, y + 4.5);
    cairo_close_path(cr);
    cairo_fill(cr);
}

/* Draws the arrows that slide the line under the pointer, at the right of its name. */
static void draw_line_arrows(struct view *view, cairo_t *cr, double names, int row)
{
    double y = viewport_y_px(&view->viewport, (uint32_t)row);
    cairo_set_source_rgb(cr, 0.45, 0.45, 0.5);
    draw_arrow(cr, names - 13, y - 0.5, -1);
    draw_arrow(cr, names - 4, y - 0.5, 1);
}

static void draw_drop(struct view *view, cairo_t *cr, double names)
{
    int row = viewport_row_at(&view->viewport, view->pointer.y);
    if (row < 0)
        return;
    double y = viewport_y_px(&view->viewport, (uint32_t)row) -
               viewport_line_pt(&view->viewport) * view->viewport.place.zoom;
    cairo_set_source_rgb(cr, 0.9, 0.62, 0);
    cairo_rectangle(cr, 0, y - 1, names, 2);
    cairo_fill(cr);
}

/* Draws the names of rows first to end - 1, clipped to y from top_px to height. */
static void draw_some_names(struct view *view, cairo_t *cr, uint32_t first, uint32_t end,
                            double top_px, double height)
{
    const struct scene_cache *stage = &view->scene_cache;
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double names = viewport_names_px(&view->viewport), zoom = MIN(view->viewport.place.zoom, 1.6);
    const struct scene *s = stage->scene;
    cairo_save(cr);
    cairo_rectangle(cr, 0, top_px, names, height - top_px);
    cairo_clip(cr);
    painter_fill_background(cr, &theme);
    for (uint32_t i = first; i < end; i++) {
        double high = viewport_row_pt(&view->viewport) * view->viewport.place.zoom;
        double y = viewport_y_px(&view->viewport, i) + high / 2 -
                   viewport_line_pt(&view->viewport) * view->viewport.place.zoom;
        if (y < -high || y > height + high)
            continue;
        if (theme.tint && i % 4 == 0) {
            cairo_set_source_rgba(cr, 0.2, 0.4, 0.8, theme.dark ? 0.16 : 0.06);
            cairo_rectangle(cr, 0, y - high / 2, names, high);
            cairo_fill(cr);
        }
        if (row_search_is_hit(view, s->rows[i].line) ||
            highlights_has_line(&view->highlights, s->rows[i].line)) {
            cairo_set_source_rgba(cr, 0.6, 0.2, 0.6, 0.25);
            cairo_rectangle(cr, 0, y - high / 2, names, high);
            cairo_fill(cr);
        }
        if (i < stage->pinned)
            draw_pin(cr, names - VIEWPORT_GAP_PX / 2.0, y);
        if (view->viewport.place.selected.line &&
            s->rows[i].line == view->viewport.place.selected.line) {
            cairo_set_source_rgb(cr, 0.9, 0.62, 0);
            cairo_rectangle(cr, 0, y - high / 2, 3, high);
            cairo_fill(cr);
        }
    }
    cairo_rectangle(cr, 0, top_px, names - VIEWPORT_GAP_PX, height - top_px);
    cairo_clip(cr);
    for (uint32_t i = first; i < end; i++) {
        double y = viewport_y_px(&view->viewport, i);
        if (y < -200 || y > height + 200)
            continue;
        cairo_save(cr);
        cairo_translate(cr, 0, y);
        cairo_scale(cr, zoom, zoom);
        scene_paint_name(cr, s, i, &theme);
        cairo_restore(cr);
    }
    cairo_restore(cr);
}

static void draw_names(struct view *view, cairo_t *cr, int width, int height)
{
    double names = viewport_names_px(&view->viewport), band = viewport_band_px(&view->viewport);
    uint32_t pinned = view->scene_cache.pinned;
    draw_some_names(view, cr, pinned, view->scene_cache.scene->row_count, band, height);
    draw_some_names(view, cr, 0, pinned, 0, MIN(band, height));
    cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, 0.5);
    cairo_rectangle(cr, names - 0.5, 0, 1, height);
    cairo_fill(cr);
    cairo_set_source_rgb(cr, 0.5, 0.5, 0.55);
    cairo_rectangle(cr, 0, band - 1, width, band > 0 ? 2 : 0);
    cairo_fill(cr);
    int row = view->pointer.x >= 0 && view->pointer.x < names
                  ? viewport_row_at(&view->viewport, view->pointer.y)
                  : -1;
    if (view->pointer.drag.what == DRAG_ROW)
        draw_drop(view, cr, names);
    else if (row >= 0)
        draw_line_arrows(view, cr, names, row);
}

/* ---- the whole canvas ---- */

static void draw_all(struct view *view, cairo_t *cr, int width, int height)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    painter_fill_background(cr, &theme);
    if (viewport_vertical(&view->viewport)) {
        int across = width;
        painter_rotate(cr);
        width = height;
        height = across;
    }
    if (view->viewport.place.overview) {
        bands_view_draw(view, cr, height);
        overview_overlay_draw(view, cr, height);
        range_view_draw(view, cr, width, height);
        return;
    }
    if (!view->scene_cache.scene)
        return;
    draw_columns(view, cr, width, height);
    function_highlight_draw(view, cr, width, height);
    wait_coloring_draw(view, cr, width, height);
    path_overlay_draw(view, cr, width, height);
    range_view_draw(view, cr, width, height);
    draw_names(view, cr, width, height);
}

void canvas_draw(struct view *view, cairo_t *cr, int width, int height)
{
    double unit = view->viewport.unit_px;
    cairo_save(cr);
    cairo_scale(cr, unit, unit);
    draw_all(view, cr, (int)ceil(width / unit), (int)ceil(height / unit));
    cairo_restore(cr);
}

static void canvas_on_draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    (void)area;
    canvas_draw(data, cr, width, height);
}

void canvas_resized(struct view *view, int width, int height)
{
    view->viewport.width_px = (int)(width / view->viewport.unit_px);
    view->viewport.height_px = (int)(height / view->viewport.unit_px);
    row_scrollbar_update(view);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
}

static void on_resize(GtkDrawingArea *area, int width, int height, gpointer data)
{
    (void)area;
    canvas_resized(data, width, height);
}

static GtkWidget *new_area(struct view *view)
{
    GtkWidget *area = gtk_drawing_area_new();
    gtk_widget_set_hexpand(area, TRUE);
    gtk_widget_set_vexpand(area, TRUE);
    gtk_widget_set_focusable(area, TRUE);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), canvas_on_draw, view, NULL);
    g_signal_connect(area, "resize", G_CALLBACK(on_resize), view);
    accessible_name_set(area, "Event diagram; the Description tab has it as text");
    return area;
}

static void canvas_on_outdated(struct view *view, enum notification what)
{
    (void)what;
    scene_cache_invalidate(&view->scene_cache);
}

static void canvas_on_changed(struct view *view, enum notification what)
{
    if (what != NOTIFY_LOOK || !view->diagram_view.leaving)
        gtk_widget_queue_draw(view->canvas);
}

/* Connects what the canvas draws. */
static void canvas_connect(struct notifier *to)
{
    const uint32_t look = NOTIFY_BIT(NOTIFY_LOOK) | NOTIFY_BIT(NOTIFY_HITS) |
                          NOTIFY_BIT(NOTIFY_NOTES) | NOTIFY_BIT(NOTIFY_SETTINGS);
    notifier_connect(to, NOTIFY_FIRST, NOTIFY_BIT(NOTIFY_DIAGRAM), time_axis_on_notification);
    notifier_connect(to, NOTIFY_FIRST, look, canvas_on_outdated);
    notifier_connect(to, NOTIFY_MIDDLE, NOTIFY_BIT(NOTIFY_SELECTION) | NOTIFY_BIT(NOTIFY_DIAGRAM),
                     wait_cause_on_notification);
    notifier_connect(to, NOTIFY_MIDDLE, NOTIFY_ALL, path_overlay_on_notification);
    notifier_connect(to, NOTIFY_MIDDLE, NOTIFY_ALL, wait_coloring_on_notification);
    notifier_connect(to, NOTIFY_MIDDLE, NOTIFY_ALL, function_highlight_on_notification);
    notifier_connect(to, NOTIFY_MIDDLE, NOTIFY_BIT(NOTIFY_DIAGRAM), breakpoints_on_notification);
    notifier_connect(to, NOTIFY_MIDDLE, NOTIFY_ALL, overview_overlay_on_notification);
    notifier_connect(to, NOTIFY_MIDDLE,
                     NOTIFY_BIT(NOTIFY_SELECTION) | NOTIFY_BIT(NOTIFY_DIAGRAM) |
                         NOTIFY_BIT(NOTIFY_SELECTION_RELATIONS) | NOTIFY_BIT(NOTIFY_WAIT_CAUSE),
                     status_card_on_notification);
    notifier_connect(to, NOTIFY_LAST,
                     NOTIFY_BIT(NOTIFY_PLACE) | NOTIFY_BIT(NOTIFY_ROWS) |
                         NOTIFY_BIT(NOTIFY_ACTIONS),
                     diagram_view_on_notification);
    notifier_connect(to, NOTIFY_LAST, NOTIFY_BIT(NOTIFY_RESTORED), scroll_on_restored);
    notifier_connect(to, NOTIFY_LAST, NOTIFY_BIT(NOTIFY_RESTORED), selection_on_restored);
    notifier_connect(to, NOTIFY_LAST,
                     look | NOTIFY_BIT(NOTIFY_VISIBLE_PART) | NOTIFY_BIT(NOTIFY_DIAGRAM) |
                         NOTIFY_BIT(NOTIFY_RANGE),
                     canvas_on_changed);
}

GtkWidget *canvas_new(struct view *view)
{
    canvas_connect(&view->notifier);
    view->canvas = new_area(view);
    GtkWidget *grid = row_scrollbar_new(view);
    pointer_input_watch(view, view->canvas);
    return grid;
}
