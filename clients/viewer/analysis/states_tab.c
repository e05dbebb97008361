#include "clients/viewer/analysis/states_tab.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/analysis/state_details.h"
#include "clients/viewer/analysis/state_intervals.h"
#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/diagram/letters.h"
#include "clients/viewer/diagram/measured_states.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene_paint.h"
#include "render/state_row_paint.h"
#include "render/text_cache.h"

#include <math.h>

#define ROW_PX 22
#define BAND_PX 14

bool overview_states_are_shown(const struct view *view)
{
    return view->viewport.place.overview && view->overview.strip.row_count;
}

/* ---- rows ---- */

/* Returns the row of the state bands that is drawn as the n-th, from 0; -1: none. */
static int row_at(const struct state_bands *lives, int n)
{
    for (uint32_t row = 0; n >= 0 && row < lives->row_count; row++)
        if (measured_states_has_row(lives, row) && n-- == 0)
            return (int)row;
    return -1;
}

/* Sets the shares of a pixel, by state. */
static void overview_states_states_at(const struct state_bands *lives,
                                      const struct state_bands *seen, uint32_t row, uint32_t pixel,
                                      float *shares)
{
    int at = measured_states_find_pixel(lives, seen, pixel);
    for (unsigned i = 0; i < THREAD_STATES_DRAWN; i++)
        shares[i] = 0;
    for (unsigned i = 0; at >= 0 && i < BAND_LIVINGS; i++) {
        enum thread_state_code code = band_thread_state_code(i);
        shares[code == THREAD_STATE_UNATTRIBUTED ? THREAD_STATE_BLOCKED : code] +=
            (float)lives->cells[(size_t)row * lives->pixels + (size_t)at].share[i] / 255;
    }
}

/* ---- drawing ---- */

static void draw_name(struct view *view, cairo_t *cr, const char *name, double y, double names)
{
    double v = viewer_settings_theme(&view->viewer_settings).dark ? 0.85 : 0.2;
    cairo_save(cr);
    cairo_rectangle(cr, 0, y, names - 4, ROW_PX);
    cairo_clip(cr);
    cairo_set_source_rgb(cr, v, v, v);
    text_cache_show(cr, 8, y + 4, name, 10, false);
    cairo_restore(cr);
}

static void draw_row(struct view *view, cairo_t *cr, const struct state_bands *lives, uint32_t row,
                     double y)
{
    const struct state_bands *s = &view->overview.strip;
    double names = viewport_names_px(&view->viewport);
    float *all = g_new(float, (size_t)s->pixels *THREAD_STATES_DRAWN);
    for (uint32_t i = 0; i < s->pixels; i++)
        overview_states_states_at(lives, s, row, i, all + (size_t)i * THREAD_STATES_DRAWN);
    char *name = overview_label(view, row);
    draw_name(view, cr, name, y, names);
    g_free(name);
    state_row_paint(
        cr, all, (int)s->pixels,
        (cairo_rectangle_t){names, y + (ROW_PX - BAND_PX) / 2.0, overview_width_px(view), BAND_PX},
        (struct state_row_style){view->viewer_settings.look.grey,
                                 gtk_widget_get_scale_factor(view->canvas)});
    g_free(all);
}

/* Returns whether the off-CPU time that no wait accounts for is known for any thread. */
static bool overview_states_has_off_cpu(const struct state_bands *s)
{
    for (size_t i = 0; i < (size_t)s->row_count * s->pixels; i++)
        if (s->cells[i].share[BAND_LIVING_SYSTEM])
            return true;
    return false;
}

static void draw_key(cairo_t *cr, double x, const struct paint_theme *theme, bool system)
{
    const char *sentence = system ? "" : "(running: time not covered by a traced wait)";
    double v = theme->dark ? 0.75 : 0.35;
    double wide = state_interval_draw_key(cr, x, 2, theme->dark, theme->grey);
    cairo_set_source_rgb(cr, v, v, v);
    text_cache_show(cr, x + wide, 3, sentence, 8, false);
}

/* Draws a text in place of bands: the problem, or that they are being computed. */
static void draw_word(struct view *view, cairo_t *cr)
{
    const char *problem = measured_states_problem(view);
    double v = viewer_settings_theme(&view->viewer_settings).dark ? 0.75 : 0.35;
    cairo_set_source_rgb(cr, v, v, v);
    text_cache_show(cr, 12, 10, problem ? problem : "Computing thread states...", 10, false);
}

static void overview_states_draw(struct view *view, cairo_t *cr, int width)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    const struct state_bands *lives = measured_states_of(view);
    double above, below, x0, x1, names = viewport_names_px(&view->viewport);
    int n = 1; /* below the key */
    (void)width;
    painter_fill_background(cr, &theme);
    if (!lives) {
        draw_word(view, cr);
        return;
    }
    cairo_clip_extents(cr, &x0, &above, &x1, &below);
    for (uint32_t row = 0; row < lives->row_count; row++) {
        if (!measured_states_has_row(lives, row))
            continue;
        if (n * ROW_PX < below && (n + 1) * ROW_PX > above)
            draw_row(view, cr, lives, row, n * ROW_PX);
        n++;
    }
    draw_key(cr, names, &theme, overview_states_has_off_cpu(lives));
    cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, 0.5);
    cairo_rectangle(cr, names - 0.5, ROW_PX, 1, (n - 1) * ROW_PX);
    cairo_fill(cr);
}

static void overview_states_draw_area(GtkDrawingArea *area, cairo_t *cr, int width, int height,
                                      gpointer data)
{
    (void)area;
    letters_scale(data, cr, &width, &height);
    overview_states_draw(data, cr, width);
}

/* ---- tooltips and clicks ---- */

static gboolean on_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip,
                           gpointer data)
{
    struct view *view = data;
    const struct state_bands *lives = measured_states_of(view), *s = &view->overview.strip;
    double unit = view->viewport.unit_px;
    int row = lives && !keyboard ? row_at(lives, (int)(y / unit) / ROW_PX - 1) : -1;
    double at =
        (x / unit - viewport_names_px(&view->viewport)) / overview_width_px(view) * s->pixels;
    float shares[THREAD_STATES_DRAWN];
    (void)widget;
    if (row < 0 || at < 0 || at >= s->pixels)
        return FALSE;
    overview_states_states_at(lives, s, (uint32_t)row, (uint32_t)at, shares);
    char *name = overview_label(view, (uint32_t)row);
    GString *text = g_string_new(name);
    g_free(name);
    const char *before = ": ";
    for (unsigned i = 0; i < THREAD_STATES_DRAWN; i++) {
        if (shares[i] < 0.005f)
            continue;
        g_string_append_printf(text, "%s%s %.0f %%", before, state_interval_state_name(i),
                               100 * (double)shares[i]);
        before = ", ";
    }
    g_string_append(text, *before == ':' ? " not running" : "\nClick to go there");
    gtk_tooltip_set_text(tooltip, text->str);
    g_string_free(text, TRUE);
    return TRUE;
}

static void on_click(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    const struct state_bands *lives = measured_states_of(view);
    int row = lives ? row_at(lives, (int)(y / view->viewport.unit_px) / ROW_PX - 1) : -1;
    (void)gesture;
    (void)presses;
    x /= view->viewport.unit_px;
    if (overview_states_are_shown(view) && x >= viewport_names_px(&view->viewport))
        overview_zoom_into_marks(view, x);
    else if (row >= 0)
        state_details_show(view, lives->rows[row]);
}

/* ---- construction ---- */

static GtkWidget *overview_states_create(struct view *view)
{
    GtkWidget *area = gtk_drawing_area_new(), *scrolled = gtk_scrolled_window_new();
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), overview_states_draw_area, view, NULL);
    gtk_widget_set_has_tooltip(area, TRUE);
    gtk_widget_set_focusable(area, TRUE);
    accessible_name_set(area, "Thread states as shares of time; zoomed in: a table");
    g_signal_connect(area, "query-tooltip", G_CALLBACK(on_tooltip), view);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(on_click), view);
    gtk_widget_add_controller(area, GTK_EVENT_CONTROLLER(click));
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), area);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    g_object_set_data(G_OBJECT(scrolled), "area", area);
    g_object_set_data(G_OBJECT(view->window), "shares", scrolled);
    return scrolled;
}

static GtkWidget *overview_states_widget(struct view *view)
{
    GtkWidget *made = g_object_get_data(G_OBJECT(view->window), "shares");
    return made ? made : overview_states_create(view);
}

static void overview_states_on_notification(struct view *view, enum notification what)
{
    const struct state_bands *lives = measured_states_of(view);
    int n = 0;
    if (!overview_states_are_shown(view) ||
        (what != NOTIFY_VISIBLE_PART && what != NOTIFY_DIAGRAM && what != NOTIFY_LOOK &&
         what != NOTIFY_SETTINGS && what != NOTIFY_TAB_SHOWN))
        return;
    GtkWidget *area = g_object_get_data(G_OBJECT(overview_states_widget(view)), "area");
    for (uint32_t row = 0; lives && row < lives->row_count; row++)
        n += measured_states_has_row(lives, row);
    gtk_widget_set_size_request(area, -1, letters_px(view, (n + 1) * ROW_PX));
    gtk_widget_queue_draw(area);
}

void overview_states_print(struct view *view, FILE *f)
{
    const struct state_bands *lives = measured_states_of(view), *s = &view->overview.strip;
    float shares[THREAD_STATES_DRAWN];
    for (uint32_t row = 0; lives && row < lives->row_count; row++) {
        double sums[THREAD_STATES_DRAWN] = {0};
        if (!measured_states_has_row(lives, row))
            continue;
        for (uint32_t i = 0; i < s->pixels; i++) {
            overview_states_states_at(lives, s, row, i, shares);
            for (unsigned k = 0; k < THREAD_STATES_DRAWN; k++)
                sums[k] += (double)shares[k];
        }
        fprintf(f, "row %u %s", lives->rows[row],
                metadata_label(view_metadata(view), lives->rows[row]));
        for (unsigned k = 0; k < THREAD_STATES_DRAWN; k++)
            fprintf(f, " %s %.1f", thread_state_words[k].key, sums[k]);
        fprintf(f, "\n");
    }
}

/* ---- the tab ---- */

/* Returns the bands that are shown in place of the table; NULL: none. A selected range is a table,
 * which has its sums. */
static GtkWidget *states_tab_replacement_widget(struct view *view)
{
    return time_range_is_set(view)           ? NULL
           : overview_states_are_shown(view) ? overview_states_widget(view)
           : band_rows_are_shown(view)       ? band_rows_widget(view)
                                             : NULL;
}

static void states_tab_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    uint32_t thread = result_table_find_column(t, "thread");
    const struct table_cell *cell = row < 0 ? NULL : &result_table_cells(t, (uint32_t)row)[thread];
    if (cell && thread < t->column_count && cell->is == CELL_LINE)
        state_details_show(view, cell->line);
}

static void states_tab_on_notification(struct view *view, enum notification what)
{
    band_rows_on_notification(view, what);
    overview_states_on_notification(view, what);
    state_details_follow_selection(view);
}

static void states_tab_on_table(struct view *view, const struct result_table *t)
{
    (void)t;
    state_details_refresh(view);
}

static void states_tab_clear(struct view *view)
{
    band_rows_clear(view);
    state_details_show(view, 0);
}

static const struct tab_aside states_tab_details = {.share = 0.68,
                                                    .widget = state_details_widget,
                                                    .is_busy = state_details_are_busy,
                                                    .print = state_details_print};

const struct tab page_states = {
    .name = "states",
    .title = "Thread States",
    .preset = "states",
    .row_kind = "",
    .empty_text = "No threads yet.",
    .tooltip = "Time per thread state: runnable, running, blocked; a row leads to the states of "
               "its thread",
    .replacement = states_tab_replacement_widget,
    .selected = states_tab_on_row_selected,
    .aside = &states_tab_details,
    .on_notification = states_tab_on_notification,
    .on_table = states_tab_on_table,
    .clear = states_tab_clear,
};
