#include "clients/viewer/diagram/wait_coloring.h"

#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/viewport.h"
#include "render/text_cache.h"

#include <string.h>

#define EVERY_US 250000
#define WAITS_MOST 5000u /* in one request: the longest */

static const struct class
{
    const char *name;
    double red, green, blue;
    bool hatched;
} classes[WAIT_COLORING_CLASSES] = {{"rendezvous", 0, 0.45, 0.7, false},
                                    {"contention", 0.84, 0.37, 0, false},
                                    {"timeout", 0, 0.62, 0.45, false},
                                    {"unattributed", 0.4, 0.4, 0.4, true}};
enum { UNATTRIBUTED = 3, CLASSES = WAIT_COLORING_CLASSES };

struct wait_coloring_wait {
    unsigned class;
    int row;
    double from_pt, to_pt;
};

struct wait_coloring {
    struct table_model waits; /* of the time span of the scene */
    GArray *drawn;
    bool made, stale;
    guint soon;
};

static const struct viewer_addon wait_coloring_addon = {"wait_coloring",
                                                        sizeof(struct wait_coloring)};

static struct wait_coloring *wait_coloring_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &wait_coloring_addon);
}

static void wait_coloring_on_table(void *user)
{
    struct view *view = user;
    struct wait_coloring *coloring = wait_coloring_find(view);
    if (!coloring->waits.fresh)
        return;
    coloring->waits.fresh = coloring->made = false;
    gtk_widget_queue_draw(view->canvas);
}

static struct wait_coloring *wait_coloring_state(struct view *view)
{
    struct wait_coloring *state = wait_coloring_find(view);
    if (!state) {
        state = viewer_addons_add(&view->addons, &wait_coloring_addon);
        state->drawn = g_array_new(FALSE, FALSE, sizeof(struct wait_coloring_wait));
        state->waits = (struct table_model){
            .link = &view->server_link, .on_table = wait_coloring_on_table, .user = view};
    }
    return state;
}

/* ---- requests ---- */

static void wait_coloring_request(struct view *view, struct wait_coloring *t)
{
    const struct time_axis *axis = time_axis_of(view);
    int64_t from, to;
    if (!axis)
        return;
    time_axis_span(axis, &from, &to);
    struct table_request request = table_model_request("waits", "wait");
    request.top = WAITS_MOST;
    request.from = (struct table_end){.is = TABLE_AT_NS, .at = from};
    request.to = (struct table_end){.is = TABLE_AT_NS, .at = to};
    t->stale = false;
    table_model_send(&t->waits, &request);
}

static void wait_coloring_request_soon(void *user)
{
    struct view *view = user;
    struct wait_coloring *t = wait_coloring_state(view);
    gint64 since = g_get_monotonic_time() - t->waits.asked_us;
    if (!t->stale || t->soon || !view->server_link.connected || !view->server_link.has_run)
        return;
    if (since >= EVERY_US && !table_model_is_running(&t->waits))
        wait_coloring_request(view, t);
    else
        request_slot_schedule(&t->soon, EVERY_US / 1000, wait_coloring_request_soon, view);
}

void wait_coloring_on_notification(struct view *view, enum notification what)
{
    struct wait_coloring *t = wait_coloring_state(view);
    if (what == NOTIFY_DIAGRAM)
        t->made = false;
    t->stale |= what == NOTIFY_DIAGRAM || what == NOTIFY_RUN_UPDATED || what == NOTIFY_QUIET;
    if (view->viewer_settings.tints)
        wait_coloring_request_soon(view);
}

void wait_coloring_clear(struct view *view)
{
    struct wait_coloring *t = wait_coloring_state(view);
    table_model_clear(&t->waits);
    g_clear_handle_id(&t->soon, g_source_remove);
    t->made = false;
    t->stale = true;
}

/* ---- waits in the scene ---- */

struct wait_coloring_columns {
    uint32_t waited, thread, class, unattributed, from, until;
};

static unsigned class_of(const struct table_cell *cells, const struct wait_coloring_columns *c)
{
    const struct table_cell *unattributed = &cells[c->unattributed], *class = &cells[c->class];
    if (unattributed->is == CELL_NUMBER && unattributed->number > 0)
        return UNATTRIBUTED;
    for (unsigned i = 0; class->is == CELL_TEXT && i < UNATTRIBUTED; i++)
        if (strcmp(class->text, classes[i].name) == 0)
            return i;
    return UNATTRIBUTED;
}

static double x_of(const struct time_axis *axis, struct event_id at, int64_t ns)
{
    const struct scene_mark *m = at.line ? time_axis_find_mark(axis, at) : NULL;
    return m ? m->x_pt : time_axis_x_pt(axis, ns);
}

static void wait_coloring_add_wait(struct view *view, struct wait_coloring *t,
                                   const struct time_axis *axis, uint32_t row,
                                   const struct wait_coloring_columns *c)
{
    const struct table_cell *cells = result_table_cells(&t->waits.table, row),
                            *end = &cells[c->until];
    if (t->waits.table.rows[row].depth || cells[c->from].is != CELL_NUMBER ||
        cells[c->thread].is != CELL_LINE)
        return;
    int64_t from = cells[c->from].number, to = from + cells[c->waited].number;
    struct event_id until = end->is == CELL_EVENT ? end->event : (struct event_id){0};
    struct event_id begin = t->waits.table.rows[row].event;
    bool timed = view->viewport.place.column_ns > 0,
         begins = begin.line && time_axis_find_mark(axis, begin),
         ends = until.line && time_axis_find_mark(axis, until);
    /* By order, columns have no times: an event outside of the scene is beyond its edge. */
    struct wait_coloring_wait w = {
        class_of(cells, c), time_axis_row_of_line(view, cells[c->thread].line),
        x_of(axis, begin, timed ? from : INT64_MIN), x_of(axis, until, timed ? to : INT64_MAX)};
    if (w.row >= 0 && (timed || begins || ends))
        g_array_append_val(t->drawn, w);
}

static void wait_coloring_build(struct view *view, struct wait_coloring *t)
{
    const struct time_axis *axis = time_axis_of(view);
    const struct result_table *table = &t->waits.table;
    struct wait_coloring_columns c = {result_table_find_column(table, "waited_ns"),
                                      result_table_find_column(table, "thread"),
                                      result_table_find_column(table, "wait_class"),
                                      result_table_find_column(table, "unattributed_ns"),
                                      result_table_find_column(table, "from_ns"),
                                      result_table_find_column(table, "end_event")};
    uint32_t n = table->column_count;
    t->made = true;
    g_array_set_size(t->drawn, 0);
    if (!axis || c.waited == n || c.thread == n || c.class == n || c.unattributed == n ||
        c.from == n || c.until == n)
        return;
    for (uint32_t i = 0; i < table->row_count; i++)
        wait_coloring_add_wait(view, t, axis, i, &c);
}

/* ---- drawing ---- */

static void wait_coloring_fill_box(cairo_t *cr, const struct class *class, double x, double y,
                                   double wide, double high, const struct paint_theme *theme)
{
    if (theme->grey)
        cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, 0.15 + 0.15 * (double)(class - classes));
    else
        cairo_set_source_rgba(cr, class->red, class->green, class->blue, theme->dark ? 0.55 : 0.3);
    cairo_rectangle(cr, x, y, wide, high);
    if (!class->hatched) {
        cairo_fill(cr);
        return;
    }
    cairo_save(cr);
    cairo_clip(cr);
    cairo_set_line_width(cr, 1.5);
    for (double at = -high; at < wide; at += 5) {
        cairo_move_to(cr, x + at, y + high);
        cairo_line_to(cr, x + at + high, y);
    }
    cairo_stroke(cr);
    cairo_restore(cr);
}

const char *wait_coloring_class_name(unsigned class) { return classes[class].name; }

/* Returns a repeated pattern of lines from lower left to upper right. */
static cairo_pattern_t *wait_coloring_new_hatch_pattern(double ink, double ground)
{
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 5, 5);
    cairo_t *cr = cairo_create(s);
    cairo_set_source_rgb(cr, ground, ground, ground);
    cairo_paint(cr);
    cairo_set_source_rgb(cr, ink, ink, ink);
    cairo_set_line_width(cr, 1.2);
    for (int i = -1; i <= 1; i++) {
        cairo_move_to(cr, -1 + 5 * i, 6);
        cairo_line_to(cr, 6 + 5 * i, -1);
    }
    cairo_stroke(cr);
    cairo_destroy(cr);
    cairo_pattern_t *pattern = cairo_pattern_create_for_surface(s);
    cairo_pattern_set_extend(pattern, CAIRO_EXTEND_REPEAT);
    cairo_surface_destroy(s);
    return pattern;
}

/* Uses lighter colors than running states have, also on a dark background. */
void wait_coloring_fill_class(cairo_t *cr, unsigned class, const struct paint_theme *theme)
{
    const struct class *c = &classes[class];
    double grey = theme->dark ? 0.35 + 0.15 * class : 0.85 - 0.15 * class,
           ground = painter_brightness(theme->dark), light = 0.27;
    if (c->hatched) {
        double v = theme->dark ? 0.75 : 0.4;
        cairo_pattern_t *pattern = wait_coloring_new_hatch_pattern(v, ground);
        cairo_set_source(cr, pattern);
        cairo_pattern_destroy(pattern);
    } else if (theme->grey) {
        cairo_set_source_rgb(cr, grey, grey, grey);
    } else {
        cairo_set_source_rgb(cr, (1 - light) * c->red + light, (1 - light) * c->green + light,
                             (1 - light) * c->blue + light);
    }
    cairo_fill(cr);
}

double wait_coloring_draw_key(cairo_t *cr, double x, double y, const struct paint_theme *theme)
{
    double ink = theme->dark ? 0.85 : 0.2;
    for (unsigned i = 0; i < CLASSES; i++) {
        cairo_rectangle(cr, x, y + 1, 12, 10);
        wait_coloring_fill_class(cr, i, theme);
        cairo_set_source_rgb(cr, ink, ink, ink);
        text_cache_show(cr, x + 17, y, classes[i].name, 9, false);
        x += text_cache_width(NULL, classes[i].name, 9, false) + 35;
    }
    return x;
}

static void draw_wait(struct view *view, cairo_t *cr, const struct wait_coloring_wait *w, int width)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double names = viewport_names_px(&view->viewport),
           y = viewport_y_px(&view->viewport, (uint32_t)w->row),
           x0 = time_axis_screen_x(view, w->from_pt), x1 = time_axis_screen_x(view, w->to_pt);
    double high = CLAMP(viewport_row_pt(&view->viewport) * view->viewport.place.zoom * 0.5, 6, 18);
    bool pinned = (uint32_t)w->row < view->scene_cache.pinned;
    x0 = MAX(x0, names);
    x1 = MIN(x1, width);
    if (x1 > x0 && (pinned || y >= viewport_band_px(&view->viewport)))
        wait_coloring_fill_box(cr, &classes[w->class], x0, y - high / 2, x1 - x0, high, &theme);
}

#define KEY_SIGN_PX 28 /* beside a name in the key */

double wait_coloring_key_px(void)
{
    double wide = 8;
    for (unsigned i = 0; i < CLASSES; i++)
        wide += text_cache_width(NULL, classes[i].name, 8, false) + KEY_SIGN_PX;
    return wide;
}

/* Draws the key of the tints in the lower right corner. */
static void draw_key(struct view *view, cairo_t *cr, int width, int height)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double x = width - 8, ground = painter_brightness(theme.dark);
    for (unsigned i = CLASSES; i-- > 0;) {
        double wide = text_cache_width(NULL, classes[i].name, 8, false) + KEY_SIGN_PX;
        x -= wide;
        cairo_set_source_rgba(cr, ground, ground, ground, 0.85);
        cairo_rectangle(cr, x - 4, height - 18, wide + 4, 16);
        cairo_fill(cr);
        wait_coloring_fill_box(cr, &classes[i], x, height - 15, 12, 10, &theme);
        cairo_set_source_rgb(cr, 0.5, 0.5, 0.55);
        text_cache_show(cr, x + 16, height - 17, classes[i].name, 8, false);
    }
}

void wait_coloring_draw(struct view *view, cairo_t *cr, int width, int height)
{
    struct wait_coloring *t = wait_coloring_state(view);
    if (!view->viewer_settings.tints || !t->waits.has_answer)
        return;
    if (!t->made)
        wait_coloring_build(view, t);
    for (guint i = 0; i < t->drawn->len; i++)
        draw_wait(view, cr, &g_array_index(t->drawn, struct wait_coloring_wait, i), width);
    if (!viewport_vertical(&view->viewport))
        draw_key(view, cr, width, height);
}

void wait_coloring_print(struct view *view, FILE *f)
{
    struct wait_coloring *t = wait_coloring_state(view);
    if (!view->viewer_settings.tints || !t->waits.has_answer)
        return;
    if (!t->made)
        wait_coloring_build(view, t);
    for (guint i = 0; i < t->drawn->len; i++) {
        const struct wait_coloring_wait *w = &g_array_index(t->drawn, struct wait_coloring_wait, i);
        fprintf(f, "wait %s %d %.0f %.0f\n", classes[w->class].name, w->row, w->from_pt, w->to_pt);
    }
}
