#include "clients/view/picture/lit.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/tabled.h"
#include "clients/view/picture/axis.h"
#include "clients/view/picture/thick.h"
#include "clients/view/picture/tint.h"
#include "clients/view/picture/view.h"
#include "memory/memory.h"
#include "render/lettering.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_US 250000
#define STRETCHES_MOST 5000u /* in one picture */
#define NAME_CHARS 40 /* in the key */

struct stretch {
    int row;
    double share, from_pt, to_pt;
};

struct lit {
    struct tabled table; /* of what is in the scene */
    char *of; /* what was asked about */
    GArray *drawn;
    bool made, stale;
    guint soon;
};

/* ---- which function ---- */

void lit_set(struct view *view, const char *lit, bool marks)
{
    struct place *p = &view->camera.place;
    if (g_strcmp0(p->lit, lit) == 0)
        return;
    if (marks)
        history_mark(&view->history, "function");
    free(p->lit);
    p->lit = lit ? memory_copied(lit) : NULL;
    news_tell(&view->news, NEWS_SEEN);
    news_tell(&view->news, NEWS_SWITCHES);
}

bool lit_is(const struct view *view) { return view->camera.place.lit && view->settings.drawer; }

/* One that is too long for the key is cut in its middle, as names are. */
char *lit_name(const struct view *view)
{
    const char *lit = view->camera.place.lit;
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

struct table_request lit_request(const struct view *view, const char *by)
{
    struct table_request request = tabled_request("inside", by);
    char **lines = g_strsplit(view->camera.place.lit, "\n", -1);
    for (guint i = 1; lines[0] && lines[i]; i++) {
        char *value = strchr(lines[i], ' ');
        if (!value)
            continue;
        *value++ = 0;
        if (strcmp(lines[i], "line") == 0) {
            request.lines = g_renew(uint32_t, request.lines, request.line_count + 1);
            request.lines[request.line_count++] = (uint32_t)strtoul(value, NULL, 10);
        } else {
            tabled_option(&request, lines[i], value);
        }
    }
    g_strfreev(lines);
    return request;
}

/* ---- asking ---- */

static void on_told(void *user)
{
    struct view *view = user;
    if (!view->lit->table.fresh)
        return;
    view->lit->table.fresh = view->lit->made = false;
    gtk_widget_queue_draw(view->canvas);
}

static struct lit *here(struct view *view)
{
    if (!view->lit) {
        view->lit = g_new0(struct lit, 1);
        view->lit->drawn = g_array_new(FALSE, FALSE, sizeof(struct stretch));
        view->lit->table = (struct tabled){.link = &view->link, .told = on_told, .user = view};
    }
    return view->lit;
}

static bool is_wanted(const struct view *view)
{
    return lit_is(view) && !view->camera.place.far && view->stage.scene;
}

static void say_ns(struct table_request *request, const char *key, int64_t ns)
{
    char text[24];
    g_snprintf(text, sizeof text, "%lld", (long long)ns);
    tabled_option(request, key, text);
}

static void ask(struct view *view, struct lit *l)
{
    const struct axis *axis = axis_of(view);
    int64_t from, to;
    if (!axis)
        return;
    axis_span(axis, &from, &to);
    struct table_request request = lit_request(view, "event");
    request.top = STRETCHES_MOST;
    say_ns(&request, "begin", from);
    say_ns(&request, "end", MAX(to, from + 1));
    l->stale = false;
    g_free(l->of);
    l->of = g_strdup(view->camera.place.lit);
    tabled_ask(&l->table, &request);
}

static bool is_another(const struct view *view, const struct lit *l)
{
    return g_strcmp0(l->of, view->camera.place.lit) != 0;
}

static gboolean on_soon(gpointer data);

static void ask_soon(struct view *view, struct lit *l)
{
    gint64 since = g_get_monotonic_time() - l->table.asked_us;
    bool another = is_another(view, l);
    if (!(l->stale || another) || l->soon || !is_wanted(view) || !view->link.connected ||
        !view->link.has_run)
        return;
    if (another || (since >= EVERY_US && !tabled_runs(&l->table)))
        ask(view, l);
    else
        l->soon = g_timeout_add(50, on_soon, view);
}

static gboolean on_soon(gpointer data)
{
    struct view *view = data;
    view->lit->soon = 0;
    ask_soon(view, view->lit);
    return G_SOURCE_REMOVE;
}

void lit_take(struct view *view, enum news news)
{
    struct lit *l = here(view);
    if (news == NEWS_PICTURE)
        l->made = false;
    l->stale |= news == NEWS_PICTURE || news == NEWS_GROWN || news == NEWS_QUIET;
    ask_soon(view, l);
}

bool lit_busy(struct view *view)
{
    struct lit *l = here(view);
    return is_wanted(view) && (tabled_runs(&l->table) || l->soon || is_another(view, l));
}

void lit_clear(struct view *view)
{
    struct lit *l = here(view);
    tabled_clear(&l->table);
    if (l->soon)
        g_source_remove(l->soon);
    l->soon = 0;
    g_clear_pointer(&l->of, g_free);
    l->made = false;
    l->stale = true;
}

/* ---- what of it is in the scene ---- */

enum column { THREAD, FROM, UNTIL, SHARE, UNTIL_EVENT, COLUMNS };

/* An event that is not here (of a line that is hidden) is where its time is. */
static double x_of(const struct axis *axis, struct ref at, int64_t ns)
{
    const struct scene_mark *m = at.line ? axis_mark(axis, at) : NULL;
    return m ? m->x_pt : axis_x_pt(axis, ns);
}

static void add(struct view *view, struct lit *l, const struct axis *axis, uint32_t row)
{
    const struct table_cell *c = table_cells(&l->table.table, row);
    if (c[THREAD].is != CELL_LINE || c[FROM].is != CELL_NUMBER || c[UNTIL].is != CELL_NUMBER ||
        c[SHARE].is != CELL_REAL)
        return;
    struct ref until = c[UNTIL_EVENT].is == CELL_EVENT ? c[UNTIL_EVENT].event : (struct ref){0};
    struct stretch s = {axis_row(view, c[THREAD].line), CLAMP(c[SHARE].real, 0, 1),
                        x_of(axis, l->table.table.rows[row].event, c[FROM].number),
                        x_of(axis, until, c[UNTIL].number)};
    if (s.row >= 0)
        g_array_append_val(l->drawn, s);
}

/* False: there is nothing to be drawn. */
static bool make(struct view *view)
{
    struct lit *l = here(view);
    const struct axis *axis = axis_of(view);
    const struct shown_table *t = &l->table.table;
    if (!is_wanted(view) || !l->table.here || is_another(view, l))
        return false;
    if (l->made)
        return true;
    l->made = true;
    g_array_set_size(l->drawn, 0);
    for (uint32_t i = 0; axis && t->column_count >= COLUMNS && i < t->row_count; i++)
        add(view, l, axis, i);
    return true;
}

/* ---- drawing ---- */

void lit_colour(cairo_t *cr, double share, bool far, const struct paint_theme *theme)
{
    double opaque = share > 0 ? 0.12 + (far ? 0.78 : 0.5) * share : 0;
    if (theme->grey)
        cairo_set_source_rgba(cr, theme->dark, theme->dark, theme->dark, opaque);
    else
        cairo_set_source_rgba(cr, 0.6, 0.2, 0.6, opaque);
}

static void draw_stretch(struct view *view, cairo_t *cr, const struct stretch *s, int width)
{
    struct paint_theme theme = settings_theme(&view->settings);
    double y = camera_y_px(&view->camera, (uint32_t)s->row),
           x0 = MAX(axis_screen_x(view, s->from_pt), camera_names_px(&view->camera)),
           x1 = MIN(axis_screen_x(view, s->to_pt), width),
           high = CLAMP(camera_row_pt(&view->camera) * view->camera.place.zoom * 0.6, 7, 22);
    bool pinned = (uint32_t)s->row < view->stage.pinned;
    if (x1 <= x0 || !(pinned || y >= camera_band_px(&view->camera)))
        return;
    lit_colour(cr, s->share, false, &theme);
    cairo_rectangle(cr, x0, y - high / 2, x1 - x0, high);
    cairo_fill(cr);
}

#define SHADES 5 /* in the key: 0.2 to 1 */
#define SHADE_PX 9

static char *key_text(const struct view *view, const char *about)
{
    char *name = lit_name(view), *text = g_strdup_printf("0–100 %% of the time in %s%s%s", name,
                                                         about ? ": " : "", about ? about : "");
    g_free(name);
    return text;
}

double lit_key(struct view *view, cairo_t *cr, double x, double y, const char *about)
{
    struct paint_theme theme = settings_theme(&view->settings);
    double ink = theme.dark ? 0.85 : 0.2;
    char *text = key_text(view, about);
    for (unsigned i = 1; i <= SHADES; i++, x += SHADE_PX) {
        cairo_rectangle(cr, x, y + 1, SHADE_PX, 10);
        lit_colour(cr, (double)i / SHADES, view->camera.place.far, &theme);
        cairo_fill(cr);
    }
    cairo_set_source_rgb(cr, ink, ink, ink);
    lettering_show(cr, x + 5, y, text, 9, false);
    x += lettering_width(NULL, text, 9, false) + 23;
    g_free(text);
    return x;
}

/* In the corner, left of the others. */
static void draw_key(struct view *view, cairo_t *cr, int width, int height)
{
    struct paint_theme theme = settings_theme(&view->settings);
    const char *about = here(view)->table.table.row_count ? NULL : "none of what is seen";
    char *text = key_text(view, about);
    double ground = paint_brightness(theme.dark),
           wide = lettering_width(NULL, text, 9, false) + SHADES * SHADE_PX + 14,
           x = width - 8 - wide - (view->settings.tints ? tint_key_px() : 0) -
               (view->settings.path ? thick_key_px() : 0);
    g_free(text);
    cairo_set_source_rgba(cr, ground, ground, ground, 0.85);
    cairo_rectangle(cr, x - 4, height - 18, wide + 4, 16);
    cairo_fill(cr);
    lit_key(view, cr, x, height - 17, about);
}

void lit_draw(struct view *view, cairo_t *cr, int width, int height)
{
    if (!make(view))
        return;
    for (guint i = 0; i < view->lit->drawn->len; i++)
        draw_stretch(view, cr, &g_array_index(view->lit->drawn, struct stretch, i), width);
    if (!camera_vertical(&view->camera))
        draw_key(view, cr, width, height);
}

void lit_print(struct view *view, FILE *f)
{
    if (!make(view))
        return;
    for (guint i = 0; i < view->lit->drawn->len; i++) {
        const struct stretch *s = &g_array_index(view->lit->drawn, struct stretch, i);
        fprintf(f, "lit %d %.3f %.0f %.0f\n", s->row, s->share, s->from_pt, s->to_pt);
    }
}
