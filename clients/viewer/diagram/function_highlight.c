#include "clients/viewer/diagram/function_highlight.h"

#include "base/alloc.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_coloring.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/viewport.h"
#include "render/text_cache.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_US 250000
#define STRETCHES_MOST 5000u /* in one request */
#define NAME_CHARS 40 /* longest name in the key */

struct function_highlight_stretch {
    int row;
    double share, from_pt, to_pt;
};

struct function_highlight {
    struct table_model table; /* of the time span of the scene */
    char *of; /* function of the last request */
    GArray *drawn;
    bool made, stale;
    guint soon;
};

static const struct viewer_addon function_highlight_addon = {"function_highlight",
                                                             sizeof(struct function_highlight)};

static struct function_highlight *function_highlight_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &function_highlight_addon);
}

/* ---- the function ---- */

void function_highlight_set(struct view *view, const char *lit, bool marks)
{
    struct view_state *p = &view->viewport.place;
    if (g_strcmp0(p->lit, lit) == 0)
        return;
    if (marks)
        history_mark(&view->history, "function");
    free(p->lit);
    p->lit = lit ? xstrdup(lit) : NULL;
    notifier_emit(&view->notifier, NOTIFY_VISIBLE_PART);
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}

bool function_highlight_is_shown(const struct view *view)
{
    return view->viewport.place.lit && view->viewer_settings.drawer;
}

/* Shortens a name that is too long for the key in its middle. */
char *function_highlight_name(const struct view *view)
{
    const char *lit = view->viewport.place.lit;
    char *name = g_strndup(lit ? lit : "", lit ? strcspn(lit, "\n") : 0);
    glong chars = g_utf8_strlen(name, -1);
    if (chars <= NAME_CHARS)
        return name;
    char *head = g_utf8_substring(name, 0, NAME_CHARS / 2),
         *tail = g_utf8_substring(name, chars - NAME_CHARS / 2 + 1, chars),
         *cut = g_strdup_printf("%s…%s", head, tail);
    g_free(head);
    g_free(tail);
    g_free(name);
    return cut;
}

struct table_request function_highlight_request(const struct view *view, const char *by)
{
    struct table_request request = table_model_request("function_time", by);
    char **lines = g_strsplit(view->viewport.place.lit, "\n", -1);
    for (guint i = 1; lines[0] && lines[i]; i++) {
        char *value = strchr(lines[i], ' ');
        if (!value)
            continue;
        *value++ = 0;
        if (strcmp(lines[i], "line") == 0) {
            request.lines = g_renew(uint32_t, request.lines, request.line_count + 1);
            request.lines[request.line_count++] = (uint32_t)strtoul(value, NULL, 10);
        } else {
            table_model_set_option(&request, lines[i], value);
        }
    }
    g_strfreev(lines);
    return request;
}

/* ---- requests ---- */

static void function_highlight_on_table(void *user)
{
    struct view *view = user;
    struct function_highlight *highlight = function_highlight_find(view);
    if (!highlight->table.fresh)
        return;
    highlight->table.fresh = highlight->made = false;
    gtk_widget_queue_draw(view->canvas);
}

static struct function_highlight *function_highlight_state(struct view *view)
{
    struct function_highlight *state = function_highlight_find(view);
    if (!state) {
        state = viewer_addons_add(&view->addons, &function_highlight_addon);
        state->drawn = g_array_new(FALSE, FALSE, sizeof(struct function_highlight_stretch));
        state->table = (struct table_model){
            .link = &view->server_link, .on_table = function_highlight_on_table, .user = view};
    }
    return state;
}

static bool is_wanted(const struct view *view)
{
    return function_highlight_is_shown(view) && !view->viewport.place.overview &&
           view->scene_cache.scene;
}

static void function_highlight_set_ns_option(struct table_request *request, const char *key,
                                             int64_t ns)
{
    char text[24];
    g_snprintf(text, sizeof text, "%lld", (long long)ns);
    table_model_set_option(request, key, text);
}

static void function_highlight_send_request(struct view *view, struct function_highlight *l)
{
    const struct time_axis *axis = time_axis_of(view);
    int64_t from, to;
    if (!axis)
        return;
    time_axis_span(axis, &from, &to);
    struct table_request request = function_highlight_request(view, "event");
    request.top = STRETCHES_MOST;
    function_highlight_set_ns_option(&request, "begin", from);
    function_highlight_set_ns_option(&request, "end", MAX(to, from + 1));
    l->stale = false;
    g_free(l->of);
    l->of = g_strdup(view->viewport.place.lit);
    table_model_send(&l->table, &request);
}

static bool function_highlight_has_changed(const struct view *view,
                                           const struct function_highlight *l)
{
    return g_strcmp0(l->of, view->viewport.place.lit) != 0;
}

static void function_highlight_request_soon(void *user)
{
    struct view *view = user;
    struct function_highlight *l = function_highlight_state(view);
    gint64 since = g_get_monotonic_time() - l->table.asked_us;
    bool another = function_highlight_has_changed(view, l);
    if (!(l->stale || another) || l->soon || !is_wanted(view) || !view->server_link.connected ||
        !view->server_link.has_run)
        return;
    if (another || (since >= EVERY_US && !table_model_is_running(&l->table)))
        function_highlight_send_request(view, l);
    else
        request_slot_schedule(&l->soon, 50, function_highlight_request_soon, view);
}

void function_highlight_on_notification(struct view *view, enum notification what)
{
    struct function_highlight *l = function_highlight_state(view);
    if (what == NOTIFY_DIAGRAM)
        l->made = false;
    l->stale |= what == NOTIFY_DIAGRAM || what == NOTIFY_RUN_UPDATED || what == NOTIFY_QUIET;
    function_highlight_request_soon(view);
}

bool function_highlight_is_busy(struct view *view)
{
    struct function_highlight *l = function_highlight_state(view);
    return is_wanted(view) && (table_model_is_running(&l->table) || l->soon ||
                               function_highlight_has_changed(view, l));
}

void function_highlight_clear(struct view *view)
{
    struct function_highlight *l = function_highlight_state(view);
    table_model_clear(&l->table);
    g_clear_handle_id(&l->soon, g_source_remove);
    g_clear_pointer(&l->of, g_free);
    l->made = false;
    l->stale = true;
}

/* ---- intervals in the scene ---- */

enum function_highlight_column { THREAD, FROM, UNTIL, SHARE, UNTIL_EVENT, COLUMNS };

/* Returns the x of an event; that of its time if it is not in the scene (its line is hidden). */
static double x_of(const struct time_axis *axis, struct event_id at, int64_t ns)
{
    const struct scene_mark *m = at.line ? time_axis_find_mark(axis, at) : NULL;
    return m ? m->x_pt : time_axis_x_pt(axis, ns);
}

static void function_highlight_add_stretch(struct view *view, struct function_highlight *l,
                                           const struct time_axis *axis, uint32_t row)
{
    const struct table_cell *c = result_table_cells(&l->table.table, row);
    if (c[THREAD].is != CELL_LINE || c[FROM].is != CELL_NUMBER || c[UNTIL].is != CELL_NUMBER ||
        c[SHARE].is != CELL_REAL)
        return;
    struct event_id until =
        c[UNTIL_EVENT].is == CELL_EVENT ? c[UNTIL_EVENT].event : (struct event_id){0};
    struct function_highlight_stretch s = {
        time_axis_row_of_line(view, c[THREAD].line), CLAMP(c[SHARE].real, 0, 1),
        x_of(axis, l->table.table.rows[row].event, c[FROM].number),
        x_of(axis, until, c[UNTIL].number)};
    if (s.row >= 0)
        g_array_append_val(l->drawn, s);
}

/* Returns false if there is nothing to draw. */
static bool function_highlight_build(struct view *view)
{
    struct function_highlight *l = function_highlight_state(view);
    const struct time_axis *axis = time_axis_of(view);
    const struct result_table *t = &l->table.table;
    if (!is_wanted(view) || !l->table.has_answer || function_highlight_has_changed(view, l))
        return false;
    if (l->made)
        return true;
    l->made = true;
    g_array_set_size(l->drawn, 0);
    for (uint32_t i = 0; axis && t->column_count >= COLUMNS && i < t->row_count; i++)
        function_highlight_add_stretch(view, l, axis, i);
    return true;
}

/* ---- drawing ---- */

void function_highlight_fill_color(cairo_t *cr, double share, bool overview,
                                   const struct paint_theme *theme)
{
    double opaque = share > 0 ? 0.12 + (overview ? 0.78 : 0.5) * share : 0;
    if (theme->grey)
        cairo_set_source_rgba(cr, theme->dark, theme->dark, theme->dark, opaque);
    else
        cairo_set_source_rgba(cr, 0.6, 0.2, 0.6, opaque);
}

static void draw_stretch(struct view *view, cairo_t *cr, const struct function_highlight_stretch *s,
                         int width)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double y = viewport_y_px(&view->viewport, (uint32_t)s->row),
           x0 = MAX(time_axis_screen_x(view, s->from_pt), viewport_names_px(&view->viewport)),
           x1 = MIN(time_axis_screen_x(view, s->to_pt), width),
           high = CLAMP(viewport_row_pt(&view->viewport) * view->viewport.place.zoom * 0.6, 7, 22);
    bool pinned = (uint32_t)s->row < view->scene_cache.pinned;
    if (x1 <= x0 || !(pinned || y >= viewport_band_px(&view->viewport)))
        return;
    function_highlight_fill_color(cr, s->share, false, &theme);
    cairo_rectangle(cr, x0, y - high / 2, x1 - x0, high);
    cairo_fill(cr);
}

#define SHADES 5 /* in the key: shares 0.2 to 1 */
#define SHADE_PX 9

static char *key_text(const struct view *view, const char *about)
{
    char *name = function_highlight_name(view),
         *text = g_strdup_printf("0–100 %% of the time in %s%s%s", name, about ? ": " : "",
                                 about ? about : "");
    g_free(name);
    return text;
}

double function_highlight_key(struct view *view, cairo_t *cr, double x, double y, const char *about)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double ink = theme.dark ? 0.85 : 0.2;
    char *text = key_text(view, about);
    for (unsigned i = 1; i <= SHADES; i++, x += SHADE_PX) {
        cairo_rectangle(cr, x, y + 1, SHADE_PX, 10);
        function_highlight_fill_color(cr, (double)i / SHADES, view->viewport.place.overview,
                                      &theme);
        cairo_fill(cr);
    }
    cairo_set_source_rgb(cr, ink, ink, ink);
    text_cache_show(cr, x + 5, y, text, 9, false);
    x += text_cache_width(NULL, text, 9, false) + 23;
    g_free(text);
    return x;
}

/* Draws the key in the lower right corner, left of those of the path and of waits. */
static void draw_key(struct view *view, cairo_t *cr, int width, int height)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    const char *about =
        function_highlight_state(view)->table.table.row_count ? NULL : "not in the visible part";
    char *text = key_text(view, about);
    double ground = painter_brightness(theme.dark),
           wide = text_cache_width(NULL, text, 9, false) + SHADES * SHADE_PX + 14,
           x = width - 8 - wide - (view->viewer_settings.tints ? wait_coloring_key_px() : 0) -
               (view->viewer_settings.path ? path_overlay_key_px() : 0);
    g_free(text);
    cairo_set_source_rgba(cr, ground, ground, ground, 0.85);
    cairo_rectangle(cr, x - 4, height - 18, wide + 4, 16);
    cairo_fill(cr);
    function_highlight_key(view, cr, x, height - 17, about);
}

void function_highlight_draw(struct view *view, cairo_t *cr, int width, int height)
{
    if (!function_highlight_build(view))
        return;
    struct function_highlight *highlight = function_highlight_find(view);
    for (guint i = 0; i < highlight->drawn->len; i++)
        draw_stretch(view, cr,
                     &g_array_index(highlight->drawn, struct function_highlight_stretch, i), width);
    if (!viewport_vertical(&view->viewport))
        draw_key(view, cr, width, height);
}

void function_highlight_print(struct view *view, FILE *f)
{
    if (!function_highlight_build(view))
        return;
    struct function_highlight *highlight = function_highlight_find(view);
    for (guint i = 0; i < highlight->drawn->len; i++) {
        const struct function_highlight_stretch *s =
            &g_array_index(highlight->drawn, struct function_highlight_stretch, i);
        fprintf(f, "lit %d %.3f %.0f %.0f\n", s->row, s->share, s->from_pt, s->to_pt);
    }
}
