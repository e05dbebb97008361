#include "clients/viewer/analysis/band_rows.h"

#include "clients/viewer/analysis/state_details.h"
#include "clients/viewer/analysis/state_intervals.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/letters.h"
#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene_paint.h"
#include "render/state_row_paint.h"
#include "render/text_cache.h"

#include <stdlib.h>

#define EVERY_US 250000
#define ROW_PX 22
#define BAND_PX 14
#define KEY_PX 40

struct band_rows {
    GtkWidget *area, *scrolled;
    struct table_model spells; /* of the time span of the scene */
    struct placement_bands *carried; /* of worker threads, below the threads */
    gint64 asked_us; /* time of the last request */
    GArray *rows; /* of struct band_row, from top to bottom */
    bool stale;
    bool made; /* the rows are those of the current diagram */
    guint soon;
};

static const struct viewer_addon band_rows_addon = {"band_rows", sizeof(struct band_rows)};

static struct band_rows *band_rows_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &band_rows_addon);
}

/* A row of the diagram that is a thread, and its state intervals: rows first to end - 1 of their
 * table. */
struct band_row {
    int row;
    uint32_t first, end;
};

bool band_rows_are_shown(const struct view *view)
{
    return view->viewport.place.column_ns > 0 && !view->viewport.place.overview &&
           view->scene_cache.scene && !viewport_vertical(&view->viewport);
}

/* ---- requests ---- */

/* Requests the intervals of visible rows: those of all threads may be too many for a table. */
static void band_rows_request_intervals(struct view *view, struct band_rows *b)
{
    const struct time_axis *axis = time_axis_of(view);
    const struct scene *s = view->scene_cache.scene;
    int64_t from, to;
    if (!axis)
        return;
    time_axis_span(axis, &from, &to);
    struct table_request request = table_model_request("intervals", "");
    request.from = (struct table_end){.is = TABLE_AT_NS, .at = from};
    request.to = (struct table_end){.is = TABLE_AT_NS, .at = to};
    request.lines = g_new(uint32_t, s->row_count + 1);
    for (; request.line_count < s->row_count; request.line_count++)
        request.lines[request.line_count] = s->rows[request.line_count].line;
    table_model_send(&b->spells, &request);
}

static void band_rows_request_placement(struct view *view, struct band_rows *b)
{
    const struct time_axis *axis = time_axis_of(view);
    int64_t from, to;
    if (!axis)
        return;
    time_axis_span(axis, &from, &to);
    placement_bands_request(b->carried, from, to);
}

static void band_rows_request(struct view *view, struct band_rows *b)
{
    b->stale = false;
    b->asked_us = g_get_monotonic_time();
    band_rows_request_intervals(view, b);
    band_rows_request_placement(view, b);
}

static bool band_rows_is_pending(const struct view *view)
{
    struct band_rows *bands = band_rows_find(view);
    return table_model_is_running(&bands->spells) || placement_bands_is_pending(bands->carried);
}

bool band_rows_are_busy(const struct view *view)
{
    struct band_rows *bands = band_rows_find(view);
    return bands && band_rows_are_shown(view) && (band_rows_is_pending(view) || bands->soon);
}

static void band_rows_request_soon(void *user)
{
    struct view *view = user;
    struct band_rows *b = band_rows_find(view);
    gint64 since = g_get_monotonic_time() - b->asked_us;
    if (!b->stale || b->soon || !band_rows_are_shown(view) || !view->server_link.connected)
        return;
    if (since >= EVERY_US && !band_rows_is_pending(view))
        band_rows_request(view, b);
    else
        request_slot_schedule(&b->soon, EVERY_US / 1000, band_rows_request_soon, view);
}

static void add_band(struct view *view, struct band_rows *b, uint32_t first, uint32_t end,
                     uint32_t line)
{
    struct band_row band = {time_axis_row_of_line(view, line), first, end};
    if (band.row >= 0)
        g_array_append_val(b->rows, band);
}

static int band_rows_compare_row(const void *a, const void *b)
{
    return ((const struct band_row *)a)->row - ((const struct band_row *)b)->row;
}

/* Makes the rows from the table, in which the intervals of a thread are adjacent. */
static void band_rows_build_rows(struct view *view, struct band_rows *b)
{
    const struct result_table *t = &b->spells.table;
    struct state_interval spell, next;
    g_array_set_size(b->rows, 0);
    b->made = true;
    for (uint32_t first = 0, end; first < t->row_count && state_interval_read_row(t, first, &spell);
         first = end) {
        end = first + 1;
        while (end < t->row_count && state_interval_read_row(t, end, &next) &&
               next.line == spell.line)
            end++;
        add_band(view, b, first, end, spell.line);
    }
    g_array_sort(b->rows, band_rows_compare_row);
}

/* Returns the n-th row from the top; NULL: none. */
static const struct band_row *band_at(struct view *view, int n)
{
    struct band_rows *b = band_rows_find(view);
    if (!b->made && view->scene_cache.scene)
        band_rows_build_rows(view, b);
    return n >= 0 && (guint)n < b->rows->len ? &g_array_index(b->rows, struct band_row, n) : NULL;
}

static int count_rows(struct view *view)
{
    int n = 0;
    while (band_at(view, n))
        n++;
    return n;
}

static void band_rows_resize_area(struct view *view)
{
    struct band_rows *b = band_rows_find(view);
    int high = (count_rows(view) + placement_bands_count(b->carried)) * ROW_PX + KEY_PX;
    gtk_widget_set_size_request(b->area, -1, letters_px(view, high));
    gtk_widget_queue_draw(b->area);
}

static void band_rows_on_placement(void *user) { band_rows_resize_area(user); }

static void band_rows_on_table(void *user)
{
    struct view *view = user;
    struct band_rows *b = band_rows_find(view);
    if (!b->spells.fresh)
        return;
    b->spells.fresh = b->made = false;
    band_rows_resize_area(view);
}

void band_rows_on_notification(struct view *view, enum notification what)
{
    band_rows_widget(view);
    struct band_rows *b = band_rows_find(view);
    if (what == NOTIFY_DIAGRAM)
        b->made = false;
    b->stale |= what == NOTIFY_DIAGRAM || what == NOTIFY_RUN_UPDATED || what == NOTIFY_QUIET ||
                what == NOTIFY_TAB_SHOWN;
    band_rows_request_soon(view);
    if (what == NOTIFY_DIAGRAM || what == NOTIFY_VISIBLE_PART || what == NOTIFY_LOOK ||
        what == NOTIFY_SETTINGS || what == NOTIFY_PLACE)
        gtk_widget_queue_draw(b->area);
}

void band_rows_clear(struct view *view)
{
    band_rows_widget(view);
    struct band_rows *bands = band_rows_find(view);
    table_model_clear(&bands->spells);
    placement_bands_clear(bands->carried);
    bands->made = false;
    bands->stale = true;
}

/* ---- shares of pixels ---- */

/* Returns the share of each state in each pixel of the row; the caller frees it. */
static float *band_rows_state_shares(struct view *view, const struct band_row *band, int width)
{
    const struct result_table *t = &band_rows_find(view)->spells.table;
    const struct time_axis *axis = time_axis_of(view);
    float *shares = g_new0(float, (size_t)MAX(width, 1) * THREAD_STATES_DRAWN);
    struct state_interval spell;
    for (uint32_t i = band->first; axis && i < band->end; i++)
        if (state_interval_read_row(t, i, &spell))
            state_interval_add_share(
                shares, width, spell.state,
                time_axis_screen_x(view, time_axis_x_pt(axis, spell.from_ns)),
                time_axis_screen_x(view, time_axis_x_pt(axis, spell.from_ns + spell.took_ns)));
    return shares;
}

/* ---- drawing ---- */

static void draw_name(struct view *view, cairo_t *cr, const char *label, double y)
{
    double v = viewer_settings_theme(&view->viewer_settings).dark ? 0.85 : 0.2;
    cairo_save(cr);
    cairo_rectangle(cr, 0, y, viewport_names_px(&view->viewport) - 4, ROW_PX);
    cairo_clip(cr);
    cairo_set_source_rgb(cr, v, v, v);
    text_cache_show(cr, 8, y + 3, label, 10.5, false);
    cairo_restore(cr);
}

static void band_rows_draw_intervals(struct view *view, cairo_t *cr, const struct band_row *band,
                                     double y, int width)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    float *shares = band_rows_state_shares(view, band, width);
    int first = (int)viewport_names_px(&view->viewport);
    state_row_paint(cr, shares + (size_t)first * THREAD_STATES_DRAWN, width - first,
                    (cairo_rectangle_t){first, y, width - first, BAND_PX},
                    (struct state_row_style){.grey = theme.grey});
    g_free(shares);
}

static void draw_row(struct view *view, cairo_t *cr, int n, int width)
{
    double y = n * ROW_PX, at = y + (ROW_PX - BAND_PX) / 2.0;
    const struct band_row *band = band_at(view, n);
    draw_name(view, cr, view->scene_cache.scene->rows[band->row].label, y);
    band_rows_draw_intervals(view, cr, band, at,
                             MIN(width, (int)viewport_along_px(&view->viewport)));
}

/* Draws the key of colors and the notes of the table; or why there is none. */
static void draw_key(struct view *view, cairo_t *cr, double y)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    const struct result_table *t = &band_rows_find(view)->spells.table;
    double names = viewport_names_px(&view->viewport), grey = theme.dark ? 0.7 : 0.4;
    if (t->problem)
        cairo_set_source_rgb(cr, 0.7, 0.2, 0.2);
    else
        state_interval_draw_key(cr, names, y + 2, theme.dark, theme.grey);
    if (!t->problem)
        cairo_set_source_rgb(cr, grey, grey, grey);
    if (t->problem || t->note_count)
        text_cache_show(cr, names + 8, t->problem ? y + 3 : y + ROW_PX,
                        t->problem ? t->problem : t->notes[0], 8, false);
}

void band_rows_draw(struct view *view, cairo_t *cr, int width)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double names = viewport_names_px(&view->viewport), above, below, x0, x1;
    painter_fill_background(cr, &theme);
    if (!band_rows_are_shown(view))
        return;
    struct band_rows *bands = band_rows_find(view);
    int count = count_rows(view), more = placement_bands_count(bands->carried);
    cairo_clip_extents(cr, &x0, &above, &x1, &below);
    for (int n = 0; n < count; n++)
        if (n * ROW_PX < below && (n + 1) * ROW_PX > above)
            draw_row(view, cr, n, width);
    for (int n = 0; n < more; n++)
        if ((count + n) * ROW_PX < below && (count + n + 1) * ROW_PX > above)
            placement_bands_draw(bands->carried, cr, n, (count + n) * ROW_PX, ROW_PX, BAND_PX,
                                 MIN(width, (int)viewport_along_px(&view->viewport)));
    count += more;
    draw_key(view, cr, count * ROW_PX);
    cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, 0.5);
    cairo_rectangle(cr, names - 0.5, 0, 1, count * ROW_PX);
    cairo_fill(cr);
}

static void band_rows_draw_area(GtkDrawingArea *area, cairo_t *cr, int width, int height,
                                gpointer data)
{
    (void)area;
    letters_scale(data, cr, &width, &height);
    band_rows_draw(data, cr, width);
}

/* ---- tooltips and clicks ---- */

static bool band_rows_interval_at(struct view *view, double x, double y,
                                  struct state_interval *spell)
{
    const struct result_table *t = &band_rows_find(view)->spells.table;
    const struct time_axis *axis = band_rows_are_shown(view) ? time_axis_of(view) : NULL;
    const struct band_row *band = axis ? band_at(view, (int)(y / ROW_PX)) : NULL;
    bool found = false;
    double best = 3;
    for (uint32_t i = band ? band->first : 0; band && i < band->end; i++) {
        struct state_interval s;
        if (!state_interval_read_row(t, i, &s))
            continue;
        double from = time_axis_screen_x(view, time_axis_x_pt(axis, s.from_ns)),
               to = time_axis_screen_x(view, time_axis_x_pt(axis, s.from_ns + s.took_ns));
        double away = x < from ? from - x : x > to ? x - to : 0;
        if (away < best) {
            best = away;
            *spell = s;
            found = true;
        }
    }
    return found;
}

static gboolean on_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip,
                           gpointer data)
{
    struct view *view = data;
    struct table_names names = {view_metadata(view), view->server_link.sites};
    struct state_interval spell;
    (void)widget;
    x = (int)(x / view->viewport.unit_px);
    y = (int)(y / view->viewport.unit_px);
    if (keyboard || !band_rows_are_shown(view))
        return FALSE;
    if (x < viewport_names_px(&view->viewport)) {
        gtk_tooltip_set_text(tooltip, "Click for the states of this thread");
        return band_at(view, y / ROW_PX) != NULL;
    }
    int n = y / ROW_PX - count_rows(view);
    struct band_rows *bands = band_rows_find(view);
    char *text = band_rows_interval_at(view, x, y, &spell) ? state_interval_describe(&names, &spell)
                 : n >= 0 && n < placement_bands_count(bands->carried)
                     ? placement_bands_describe(bands->carried, n, x)
                     : NULL;
    if (!text)
        return FALSE;
    gtk_tooltip_set_text(tooltip, text);
    free(text);
    return TRUE;
}

static void on_click(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    struct state_interval spell;
    double unit = view->viewport.unit_px;
    const struct band_row *band =
        band_rows_are_shown(view) ? band_at(view, (int)(y / unit) / ROW_PX) : NULL;
    (void)gesture;
    (void)presses;
    if (band && x / unit < viewport_names_px(&view->viewport))
        state_details_show(view, view->scene_cache.scene->rows[band->row].line);
    else if (band_rows_interval_at(data, x / unit, y / unit, &spell) && spell.event.line)
        go_to_event(data, spell.event, NO_POSITION);
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct band_rows *b = data;
    (void)widget;
    g_clear_handle_id(&b->soon, g_source_remove);
    table_model_clear(&b->spells);
    placement_bands_clear(b->carried);
}

static void band_rows_create(struct view *view)
{
    struct band_rows *b = viewer_addons_add(&view->addons, &band_rows_addon);
    b->spells = (struct table_model){
        .link = &view->server_link, .on_table = band_rows_on_table, .user = view};
    b->carried = placement_bands_new(view, band_rows_on_placement);
    b->stale = true;
    b->rows = g_array_new(FALSE, FALSE, sizeof(struct band_row));
    b->area = gtk_drawing_area_new();
    b->scrolled = gtk_scrolled_window_new();
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(b->area), band_rows_draw_area, view, NULL);
    gtk_widget_set_has_tooltip(b->area, TRUE);
    accessible_name_set(b->area, "Thread states on the time axis; as a table in logical order");
    g_signal_connect(b->area, "query-tooltip", G_CALLBACK(on_tooltip), view);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(on_click), view);
    gtk_widget_add_controller(b->area, GTK_EVENT_CONTROLLER(click));
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(b->scrolled), b->area);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(b->scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    g_signal_connect(b->scrolled, "destroy", G_CALLBACK(on_destroy), b);
}

GtkWidget *band_rows_widget(struct view *view)
{
    if (!band_rows_find(view))
        band_rows_create(view);
    return band_rows_find(view)->scrolled;
}

void band_rows_print(struct view *view, FILE *f)
{
    int width = (int)viewport_along_px(&view->viewport);
    const struct band_row *band;
    int names = (int)viewport_names_px(&view->viewport);
    band_rows_widget(view);
    for (int n = 0; band_rows_are_shown(view) && (band = band_at(view, n)) != NULL; n++) {
        const struct scene_row *r = &view->scene_cache.scene->rows[band->row];
        float *shares = band_rows_state_shares(view, band, width);
        fprintf(f, "row %u %s", r->line, r->label);
        for (unsigned state = 0; state < THREAD_STATES_DRAWN; state++) {
            double sum = 0;
            for (int x = names; x < width; x++)
                sum += (double)shares[(size_t)x * THREAD_STATES_DRAWN + state];
            fprintf(f, " %s %.1f", thread_state_words[state].key, sum);
        }
        fprintf(f, "\n");
        g_free(shares);
    }
    if (band_rows_are_shown(view))
        placement_bands_print(band_rows_find(view)->carried, f);
}
