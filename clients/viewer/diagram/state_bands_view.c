#include "clients/viewer/diagram/state_bands_view.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/diagram/measured_states.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/state/run_notes.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/text_cache.h"
#include "render/scene_paint.h"
#include "render/state_band_key.h"
#include "render/scene.h"

#include <math.h>

static struct state_band_style bands_view_state_look(struct view *view)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    const struct state_bands *lives = measured_states_of(view);
    return (struct state_band_style){
        .measured = lives ? lives->measured : BAND_MEASURED_NONE,
        .objects = (uint8_t)state_band_key_objects(view_metadata(view), &view->overview.strip),
        .names_pt = viewport_names_px(&view->viewport),
        .width_pt = overview_width_px(view),
        .row_pt = viewport_row_pt(&view->viewport),
        .pixels_per_pt = gtk_widget_get_scale_factor(view->canvas),
        .dark = theme.dark,
        .grey = theme.grey};
}

static double row_y(const struct view *view, uint32_t row)
{
    double scrolled = row < view->scene_cache.pinned ? 0 : view->viewport.place.rise_pt;
    return BANDS_VIEW_RULER_PX + 4 + row * viewport_row_pt(&view->viewport) - scrolled;
}

double bands_view_y_px(const struct view *view, uint32_t row)
{
    return row_y(view, row) + viewport_row_pt(&view->viewport) / 2;
}

double bands_view_key_px(struct view *view)
{
    struct state_band_style look = bands_view_state_look(view);
    return state_band_key_pt(&look);
}

/* The rows end above the key, and above that of overlays. */
double bands_view_bottom_px(struct view *view, int height)
{
    bool overlaid = view->viewer_settings.tints || view->viewer_settings.overview_path ||
                    function_highlight_is_shown(view);
    return height - bands_view_key_px(view) - (overlaid ? 20 : 2);
}

static double pinned_px(const struct view *view)
{
    uint32_t pinned = MIN(view->scene_cache.pinned, view->overview.strip.row_count);
    return BANDS_VIEW_RULER_PX + (pinned ? 4 + pinned * viewport_row_pt(&view->viewport) : 0);
}

bool bands_view_is_visible(struct view *view, uint32_t row, int height)
{
    double above = row < view->scene_cache.pinned ? 0 : pinned_px(view),
           y = bands_view_y_px(view, row);
    return y >= above &&
           y - viewport_row_pt(&view->viewport) / 2 < bands_view_bottom_px(view, height);
}

cairo_rectangle_t bands_view_row_box(struct view *view, uint32_t row)
{
    struct state_band_style look = bands_view_state_look(view);
    return state_band_row_box(row_y(view, row), &look);
}

/* Covers what rows have drawn below their end, where the key follows. */
static void paint_background_below(struct view *view, cairo_t *cr, double y_px, int height)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    cairo_save(cr);
    cairo_rectangle(cr, 0, y_px, viewport_along_px(&view->viewport), height - y_px);
    cairo_clip(cr);
    painter_fill_background(cr, &theme);
    cairo_restore(cr);
}

static void paint_measured(struct view *view, cairo_t *cr, uint32_t row,
                           const struct state_band_style *look)
{
    const struct state_bands *s = &view->overview.strip;
    struct state_band_cell *measured = measured_states_cells(measured_states_of(view), s, row);
    state_band_paint_measured(cr, s->cells + (size_t)row * s->pixels, measured, s->pixels,
                              row_y(view, row), look);
    g_free(measured);
}

/* Paints rows first to end - 1, clipped: scrolling rows do not show through pinned ones. */
static void paint_rows(struct view *view, cairo_t *cr, uint32_t first, uint32_t end, double top_px,
                       double bottom_px)
{
    const struct state_bands *s = &view->overview.strip;
    struct state_band_style look = bands_view_state_look(view);
    cairo_save(cr);
    cairo_rectangle(cr, 0, top_px, viewport_along_px(&view->viewport), bottom_px - top_px);
    cairo_clip(cr);
    for (uint32_t i = first; i < end; i++)
        if (row_y(view, i) + look.row_pt > top_px && row_y(view, i) < bottom_px) {
            char *name = overview_label(view, i);
            look.name = name;
            state_band_paint_row(cr, s, view_metadata(view), i, row_y(view, i), &look);
            if (look.measured && measured_states_has_row(measured_states_of(view), i))
                paint_measured(view, cr, i, &look);
            g_free(name);
        }
    cairo_restore(cr);
}

static void paint_all_rows(struct view *view, cairo_t *cr, double height)
{
    uint32_t rows = view->overview.strip.row_count, pinned = MIN(view->scene_cache.pinned, rows);
    double band = pinned_px(view);
    if (pinned) {
        paint_rows(view, cr, 0, pinned, BANDS_VIEW_RULER_PX, band);
        cairo_set_source_rgb(cr, 0.5, 0.5, 0.55);
        cairo_rectangle(cr, 0, band - 1, viewport_along_px(&view->viewport), 2);
        cairo_fill(cr);
    }
    paint_rows(view, cr, pinned, rows, band + (pinned ? 1 : 0), height);
}

uint32_t bands_view_row_at(const struct view *view, double y_px)
{
    uint32_t rows = view->overview.strip.row_count, i = 0;
    while (i < rows &&
           (y_px < row_y(view, i) || y_px >= row_y(view, i) + viewport_row_pt(&view->viewport)))
        i++;
    return i;
}

/* ---- progress and hits ---- */

static void paint_unknown(struct view *view, cairo_t *cr, int height)
{
    const struct state_bands *s = &view->overview.strip;
    bool none =
        !s->row_count && request_slot_is_running(&view->server_link, &view->overview.counting);
    if (!none && (s->known >= s->count || !s->count))
        return;
    char *text = none ? g_strdup("Computing states…")
                      : g_strdup_printf("Computing states: %.0f %%",
                                        100.0 * (double)s->known / (double)s->count);
    cairo_set_source_rgb(cr, 0.6, 0.2, 0.6);
    text_cache_show(cr, 8, none ? 8 : height - 19, text, 9, false);
    g_free(text);
}

/* Draws a vertical line for each search hit. */
static void paint_hits(struct view *view, cairo_t *cr, double height)
{
    const struct viewer_search *f = &view->search;
    const struct state_bands *s = &view->overview.strip;
    double names = viewport_names_px(&view->viewport), span = (double)s->to - (double)s->from;
    if (s->by_time || span <= 0)
        return; /* hits are known by position only */
    cairo_set_source_rgba(cr, 0.6, 0.2, 0.6, 0.5);
    for (uint32_t i = 0; i < f->hit_count && i < 5000; i++) {
        double share = ((double)f->positions[i] - (double)s->from) / span;
        if (share >= 0 && share < 1)
            cairo_rectangle(cr, names + floor(share * overview_width_px(view)), 0, 1, height);
    }
    cairo_fill(cr);
}

void bands_view_draw(struct view *view, cairo_t *cr, int height)
{
    const struct state_bands *s = &view->overview.strip;
    struct state_band_style look = bands_view_state_look(view);
    paint_all_rows(view, cr, bands_view_bottom_px(view, height));
    if (!s->row_count) {
        paint_unknown(view, cr, height);
        return;
    }
    state_band_paint_ruler(cr, s, 0, &look);
    idle_end_draw(view, cr, look.names_pt + look.width_pt, bands_view_bottom_px(view, height));
    paint_background_below(view, cr, bands_view_bottom_px(view, height), height);
    state_band_paint_key(cr, height - bands_view_key_px(view) + 2, &look);
    paint_unknown(view, cr, height);
    paint_hits(view, cr, height);
    run_notes_draw_flags(&view->run_notes, cr,
                         &(struct run_notes_range){s->by_time, (double)s->from, (double)s->to},
                         viewport_names_px(&view->viewport), overview_width_px(view));
}

/* ---- text ---- */

/* Returns the text of an empty pixel of a row. */
static const char *bands_view_empty_text(struct view *view, uint32_t row, uint32_t pixel)
{
    const struct state_bands *s = &view->overview.strip, *lives = measured_states_of(view);
    unsigned object = state_band_key_object(view_metadata(view), s->rows[row]);
    int at = lives ? measured_states_find_pixel(lives, s, pixel) : -1;
    bool created =
        at >= 0 && lives->cells[row * (size_t)lives->pixels + (size_t)at].share[BAND_LIVING_START];
    return s->known < s->count ? "not computed yet"
           : created           ? "created, not started"
           : object            ? state_band_object_name(BAND_CLASSES, object)
                               : "does not exist then";
}

/* Returns whether there are any. */
static bool bands_view_append_shares(struct view *view, GString *text,
                                     const struct state_band_cell *cell, unsigned object)
{
    bool any = false;
    for (unsigned class = 0; class < BAND_CLASSES; class ++) {
        double percent = 100 * cell->share[class] / 255.0;
        if (percent < 0.5)
            continue;
        bool lock = class == BAND_INSIDE && !object && cell->about &&
                    state_band_key_object(view_metadata(view), cell->about) == BAND_KEY_LOCKS;
        g_string_append_printf(text, "%s%s", any ? ", " : " ",
                               object ? state_band_object_name(class, object)
                               : lock ? "holding"
                                      : state_band_name(class));
        if (class == BAND_INSIDE && !object && cell->about)
            g_string_append_printf(text, " %s", metadata_label(view_metadata(view), cell->about));
        g_string_append_printf(text, " %.0f %%", percent);
        any = true;
    }
    return any;
}

/* Values of enum band_thread_state. */
static const uint8_t measured_classes[] = {BAND_LIVING_RUNNING, BAND_LIVING_READY,
                                           BAND_LIVING_SYSTEM, BAND_LIVING_START};
#define MEASURED_CLASSES (sizeof measured_classes / sizeof *measured_classes)

static const char *measured_class_name(size_t i)
{
    return thread_state_words[band_thread_state_code(measured_classes[i])].short_name;
}

/* Appends how the running time of a thread was measured, where that is known. */
static void bands_view_append_measured(struct view *view, GString *text, uint32_t row,
                                       uint32_t pixel)
{
    const struct state_bands *lives = measured_states_of(view);
    int at = lives && lives->measured
                 ? measured_states_find_pixel(lives, &view->overview.strip, pixel)
                 : -1;
    const char *before = "\nmeasured: ";
    for (size_t i = 0; at >= 0 && i < MEASURED_CLASSES; i++) {
        double percent =
            lives->cells[row * (size_t)lives->pixels + (size_t)at].share[measured_classes[i]] /
            2.55;
        if (percent < 0.5)
            continue;
        g_string_append_printf(text, "%s%s %.0f %%", before, measured_class_name(i), percent);
        before = ", ";
    }
}

char *bands_view_describe(struct view *view, double x_px, double y_px)
{
    const struct state_bands *s = &view->overview.strip;
    double at = (x_px - viewport_names_px(&view->viewport)) / overview_width_px(view) * s->pixels;
    uint32_t row = bands_view_row_at(view, y_px);
    if (!s->row_count || at < 0 || at >= s->pixels || row >= s->row_count ||
        y_px < BANDS_VIEW_RULER_PX)
        return NULL;
    const struct state_band_cell *cell = &s->cells[row * (size_t)s->pixels + (size_t)at];
    unsigned object = state_band_key_object(view_metadata(view), s->rows[row]);
    char *name = overview_label(view, row);
    GString *text = g_string_new(name);
    g_free(name);
    g_string_append_c(text, ':');
    if (!bands_view_append_shares(view, text, cell, object))
        g_string_append_printf(text, " %s", bands_view_empty_text(view, row, (uint32_t)at));
    bands_view_append_measured(view, text, row, (uint32_t)at);
    if (cell->about && (object || cell->share[BAND_WAITS]))
        g_string_append_printf(text, "\nmostly %s %s", object ? "held by" : "waiting for",
                               metadata_label(view_metadata(view), cell->about));
    g_string_append(text, "\nClick to go there");
    return g_string_free(text, FALSE);
}

static void bands_view_print_measured(struct view *view, FILE *f)
{
    const struct state_bands *lives = measured_states_of(view);
    for (uint32_t row = 0; lives && lives->measured && row < lives->row_count; row++) {
        const struct state_band_cell *cells = lives->cells + (size_t)row * lives->pixels;
        if (!measured_states_has_row(lives, row))
            continue;
        fprintf(f, "measured %s", metadata_label(view_metadata(view), lives->rows[row]));
        for (size_t k = 0; k < MEASURED_CLASSES; k++) {
            double sum = 0;
            for (uint32_t i = 0; i < lives->pixels; i++)
                sum += cells[i].share[measured_classes[k]] / 255.0 / lives->pixels;
            fprintf(f, " %s %.4f", measured_class_name(k), sum);
        }
        fprintf(f, "\n");
    }
}

/* Prints the thread that held an object in most of the pixels that have one. */
static void bands_view_print_holder(struct view *view, FILE *f, uint32_t row)
{
    const struct state_bands *s = &view->overview.strip;
    const struct state_band_cell *cells = s->cells + (size_t)row * s->pixels;
    GHashTable *counts = g_hash_table_new(NULL, NULL);
    unsigned most = 0, line = 0;
    for (uint32_t i = 0; i < s->pixels; i++) {
        gpointer about = GUINT_TO_POINTER(cells[i].about);
        unsigned count =
            cells[i].about ? GPOINTER_TO_UINT(g_hash_table_lookup(counts, about)) + 1 : 0;
        g_hash_table_insert(counts, about, GUINT_TO_POINTER(count));
        if (count > most) {
            most = count;
            line = cells[i].about;
        }
    }
    g_hash_table_destroy(counts);
    if (line)
        fprintf(f, "holder %s %s\n", metadata_label(view_metadata(view), s->rows[row]),
                metadata_label(view_metadata(view), line));
}

void bands_view_print(struct view *view, FILE *f)
{
    const struct state_bands *s = &view->overview.strip;
    uint32_t count;
    struct state_band_tick *ticks = state_band_ticks(s, overview_width_px(view), &count);
    fprintf(f, "strips by %s, %lld to %lld, %u rows\n", s->by_time ? "time" : "order",
            (long long)s->from, (long long)s->to, s->row_count);
    for (uint32_t i = 0; i < count; i++)
        fprintf(f, "tick %.4f %s\n", ticks[i].share, ticks[i].text);
    for (uint32_t row = 0; row < s->row_count; row++) {
        double shares[BAND_CLASSES] = {0};
        for (size_t i = 0; i < s->pixels; i++)
            for (unsigned k = 0; k < BAND_CLASSES; k++)
                shares[k] += s->cells[row * (size_t)s->pixels + i].share[k] / 255.0 / s->pixels;
        fprintf(f, "row %u", s->rows[row]);
        for (unsigned k = 0; k < BAND_CLASSES; k++)
            fprintf(f, " %.3f", shares[k]);
        fprintf(f, " %s\n", metadata_label(view_metadata(view), s->rows[row]));
    }
    free(ticks);
    idle_end_print(view, f);
    for (uint32_t row = 0; row < s->row_count; row++)
        if (state_band_key_object(view_metadata(view), s->rows[row]))
            bands_view_print_holder(view, f, row);
    bands_view_print_measured(view, f);
}
