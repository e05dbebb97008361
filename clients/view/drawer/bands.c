#include "clients/view/drawer/bands.h"

#include "clients/site/site.h"
#include "clients/view/drawer/carried.h"
#include "clients/view/drawer/spells.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/tabled.h"
#include "clients/view/picture/axis.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/letters.h"
#include "clients/view/picture/view.h"
#include "render/lettering.h"
#include "render/paint.h"

#include <stdlib.h>

#define EVERY_US 250000
#define ROW_PX 22
#define BAND_PX 14
#define KEY_PX 40

struct bands {
    GtkWidget *area, *scrolled;
    struct tabled spells; /* of what is in the scene */
    struct carried_rows *carried; /* below them */
    gint64 asked_us; /* when they were */
    GArray *rows; /* of struct band, from top to bottom */
    bool stale;
    bool made; /* the rows are those of this picture */
    guint soon;
};

/* A row of the picture that is a thread, and its spells: rows of their table, one after the other. */
struct band {
    int row;
    uint32_t first, end;
};

bool bands_wanted(const struct view *view)
{
    return view->camera.place.column_ns > 0 && !view->camera.place.far && view->stage.scene &&
           !camera_vertical(&view->camera);
}

/* ---- asking ---- */

/* Of those rows alone: of all threads there may be more spells than a table has. */
static void ask_spells(struct view *view, struct bands *b)
{
    const struct axis *axis = axis_of(view);
    const struct scene *s = view->stage.scene;
    int64_t from, to;
    if (!axis)
        return;
    axis_span(axis, &from, &to);
    struct table_request request = tabled_request("spells", "");
    request.from = (struct table_end){.is = TABLE_AT_NS, .at = from};
    request.to = (struct table_end){.is = TABLE_AT_NS, .at = to};
    request.lines = g_new(uint32_t, s->row_count + 1);
    for (; request.line_count < s->row_count; request.line_count++)
        request.lines[request.line_count] = s->rows[request.line_count].line;
    tabled_ask(&b->spells, &request);
}

static void ask_carried(struct view *view, struct bands *b)
{
    const struct axis *axis = axis_of(view);
    int64_t from, to;
    if (!axis)
        return;
    axis_span(axis, &from, &to);
    carried_ask(b->carried, from, to);
}

static void ask(struct view *view, struct bands *b)
{
    b->stale = false;
    b->asked_us = g_get_monotonic_time();
    ask_spells(view, b);
    ask_carried(view, b);
}

static bool is_asked(const struct view *view)
{
    return tabled_runs(&view->bands->spells) || carried_asked(view->bands->carried);
}

bool bands_busy(const struct view *view)
{
    return view->bands && bands_wanted(view) && (is_asked(view) || view->bands->soon);
}

static gboolean on_soon(gpointer data);

static void ask_soon(struct view *view, struct bands *b)
{
    gint64 since = g_get_monotonic_time() - b->asked_us;
    if (!b->stale || b->soon || !bands_wanted(view) || !view->link.connected)
        return;
    if (since >= EVERY_US && !is_asked(view))
        ask(view, b);
    else
        b->soon = g_timeout_add(EVERY_US / 1000, on_soon, view);
}

static gboolean on_soon(gpointer data)
{
    struct view *view = data;
    view->bands->soon = 0;
    ask_soon(view, view->bands);
    return G_SOURCE_REMOVE;
}

static void add_band(struct view *view, struct bands *b, uint32_t first, uint32_t end,
                     uint32_t line)
{
    struct band band = {axis_row(view, line), first, end};
    if (band.row >= 0)
        g_array_append_val(b->rows, band);
}

static int by_row(const void *a, const void *b)
{
    return ((const struct band *)a)->row - ((const struct band *)b)->row;
}

/* The spells of a thread stand together in their table. */
static void make(struct view *view, struct bands *b)
{
    const struct shown_table *t = &b->spells.table;
    struct spell_row spell, next;
    g_array_set_size(b->rows, 0);
    b->made = true;
    for (uint32_t first = 0, end; first < t->row_count && spells_row(t, first, &spell);
         first = end) {
        end = first + 1;
        while (end < t->row_count && spells_row(t, end, &next) && next.line == spell.line)
            end++;
        add_band(view, b, first, end, spell.line);
    }
    g_array_sort(b->rows, by_row);
}

/* The n-th from the top; NULL: there are not so many. */
static const struct band *band_at(struct view *view, int n)
{
    struct bands *b = view->bands;
    if (!b->made && view->stage.scene)
        make(view, b);
    return n >= 0 && (guint)n < b->rows->len ? &g_array_index(b->rows, struct band, n) : NULL;
}

static int count_rows(struct view *view)
{
    int n = 0;
    while (band_at(view, n))
        n++;
    return n;
}

static void show(struct view *view)
{
    struct bands *b = view->bands;
    int high = (count_rows(view) + carried_count(b->carried)) * ROW_PX + KEY_PX;
    gtk_widget_set_size_request(b->area, -1, letters_px(view, high));
    gtk_widget_queue_draw(b->area);
}

static void on_carried(void *user) { show(user); }

static void on_told(void *user)
{
    struct view *view = user;
    struct bands *b = view->bands;
    if (!b->spells.fresh)
        return;
    b->spells.fresh = b->made = false;
    show(view);
}

void bands_take(struct view *view, enum news news)
{
    bands_widget(view);
    struct bands *b = view->bands;
    if (news == NEWS_PICTURE)
        b->made = false;
    b->stale |=
        news == NEWS_PICTURE || news == NEWS_GROWN || news == NEWS_QUIET || news == NEWS_SHOWN;
    ask_soon(view, b);
    if (news == NEWS_PICTURE || news == NEWS_SEEN || news == NEWS_LOOK || news == NEWS_SETTINGS ||
        news == NEWS_PLACE)
        gtk_widget_queue_draw(b->area);
}

void bands_clear(struct view *view)
{
    bands_widget(view);
    tabled_clear(&view->bands->spells);
    carried_clear(view->bands->carried);
    view->bands->made = false;
    view->bands->stale = true;
}

/* ---- shares of pixels ---- */

/* What a row of pixels shows of a thread: by state, of each pixel; the caller's. */
static float *shares_of(struct view *view, const struct band *band, int width)
{
    const struct shown_table *t = &view->bands->spells.table;
    const struct axis *axis = axis_of(view);
    float *shares = g_new0(float, (size_t)MAX(width, 1) * SPELL_STATES);
    struct spell_row spell;
    for (uint32_t i = band->first; axis && i < band->end; i++)
        if (spells_row(t, i, &spell))
            spells_add(shares, width, spell.state,
                       axis_screen_x(view, axis_x_pt(axis, spell.from_ns)),
                       axis_screen_x(view, axis_x_pt(axis, spell.from_ns + spell.took_ns)));
    return shares;
}

/* ---- drawing ---- */

static void draw_name(struct view *view, cairo_t *cr, const char *label, double y)
{
    double v = settings_theme(&view->settings).dark ? 0.85 : 0.2;
    cairo_save(cr);
    cairo_rectangle(cr, 0, y, camera_names_px(&view->camera) - 4, ROW_PX);
    cairo_clip(cr);
    cairo_set_source_rgb(cr, v, v, v);
    lettering_show(cr, 8, y + 3, label, 10.5, false);
    cairo_restore(cr);
}

static void draw_spells(struct view *view, cairo_t *cr, const struct band *band, double y,
                        int width)
{
    struct paint_theme theme = settings_theme(&view->settings);
    float *shares = shares_of(view, band, width);
    for (int x = (int)camera_names_px(&view->camera); x < width;) {
        int end = x + 1;
        while (end < width && spells_alike(shares, x, end))
            end++;
        spells_paint(cr, shares + (size_t)x * SPELL_STATES, x, y, end - x, BAND_PX, theme.grey);
        x = end;
    }
    g_free(shares);
}

static void draw_row(struct view *view, cairo_t *cr, int n, int width)
{
    double y = n * ROW_PX, at = y + (ROW_PX - BAND_PX) / 2.0;
    const struct band *band = band_at(view, n);
    draw_name(view, cr, view->stage.scene->rows[band->row].label, y);
    draw_spells(view, cr, band, at, MIN(width, (int)camera_along_px(&view->camera)));
}

/* Below the rows: what the colours mean, and what is to be said of them; or why there are none. */
static void draw_key(struct view *view, cairo_t *cr, double y)
{
    struct paint_theme theme = settings_theme(&view->settings);
    const struct shown_table *t = &view->bands->spells.table;
    double names = camera_names_px(&view->camera), grey = theme.dark ? 0.7 : 0.4;
    if (t->problem)
        cairo_set_source_rgb(cr, 0.7, 0.2, 0.2);
    else
        spells_key(cr, names, y + 2, theme.dark, theme.grey);
    if (!t->problem)
        cairo_set_source_rgb(cr, grey, grey, grey);
    if (t->problem || t->note_count)
        lettering_show(cr, names + 8, t->problem ? y + 3 : y + ROW_PX,
                       t->problem ? t->problem : t->notes[0], 8, false);
}

void bands_draw(struct view *view, cairo_t *cr, int width)
{
    struct paint_theme theme = settings_theme(&view->settings);
    double names = camera_names_px(&view->camera), above, below, x0, x1;
    paint_background(cr, &theme);
    if (!bands_wanted(view))
        return;
    int count = count_rows(view), more = carried_count(view->bands->carried);
    cairo_clip_extents(cr, &x0, &above, &x1, &below);
    for (int n = 0; n < count; n++)
        if (n * ROW_PX < below && (n + 1) * ROW_PX > above)
            draw_row(view, cr, n, width);
    for (int n = 0; n < more; n++)
        if ((count + n) * ROW_PX < below && (count + n + 1) * ROW_PX > above)
            carried_draw(view->bands->carried, cr, n, (count + n) * ROW_PX, ROW_PX, BAND_PX,
                         MIN(width, (int)camera_along_px(&view->camera)));
    count += more;
    draw_key(view, cr, count * ROW_PX);
    cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, 0.5);
    cairo_rectangle(cr, names - 0.5, 0, 1, count * ROW_PX);
    cairo_fill(cr);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    (void)area;
    letters_scale(data, cr, &width, &height);
    bands_draw(data, cr, width);
}

/* ---- what is said of a place, and what a click does ---- */

static bool spell_at(struct view *view, double x, double y, struct spell_row *spell)
{
    const struct shown_table *t = &view->bands->spells.table;
    const struct axis *axis = bands_wanted(view) ? axis_of(view) : NULL;
    const struct band *band = axis ? band_at(view, (int)(y / ROW_PX)) : NULL;
    bool found = false;
    double best = 3;
    for (uint32_t i = band ? band->first : 0; band && i < band->end; i++) {
        struct spell_row s;
        if (!spells_row(t, i, &s))
            continue;
        double from = axis_screen_x(view, axis_x_pt(axis, s.from_ns)),
               to = axis_screen_x(view, axis_x_pt(axis, s.from_ns + s.took_ns));
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
    struct table_names names = {the_book(view), view->link.sites};
    struct spell_row spell;
    (void)widget;
    x = (int)(x / view->camera.unit_px);
    y = (int)(y / view->camera.unit_px);
    if (keyboard || x < camera_names_px(&view->camera))
        return FALSE;
    int n = y / ROW_PX - count_rows(view);
    char *said = spell_at(view, x, y, &spell) ? spells_say(&names, &spell)
                 : n >= 0 && n < carried_count(view->bands->carried)
                     ? carried_say(view->bands->carried, n, x)
                     : NULL;
    if (!said)
        return FALSE;
    gtk_tooltip_set_text(tooltip, said);
    free(said);
    return TRUE;
}

static void on_click(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    struct spell_row spell;
    double unit = view->camera.unit_px;
    (void)gesture;
    (void)presses;
    if (spell_at(data, x / unit, y / unit, &spell) && spell.event.line)
        jump_to_event(data, spell.event, NO_POSITION);
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct bands *b = data;
    (void)widget;
    if (b->soon)
        g_source_remove(b->soon);
    b->soon = 0;
    tabled_clear(&b->spells);
    carried_clear(b->carried);
}

static void build(struct view *view)
{
    struct bands *b = view->bands = g_new0(struct bands, 1);
    b->spells = (struct tabled){.link = &view->link, .told = on_told, .user = view};
    b->carried = carried_new(view, on_carried);
    b->stale = true;
    b->rows = g_array_new(FALSE, FALSE, sizeof(struct band));
    b->area = gtk_drawing_area_new();
    b->scrolled = gtk_scrolled_window_new();
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(b->area), draw, view, NULL);
    gtk_widget_set_has_tooltip(b->area, TRUE);
    gtk_accessible_update_property(
        GTK_ACCESSIBLE(b->area), GTK_ACCESSIBLE_PROPERTY_LABEL,
        "What threads did, below the picture; the table says it by order", -1);
    g_signal_connect(b->area, "query-tooltip", G_CALLBACK(on_tooltip), view);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(on_click), view);
    gtk_widget_add_controller(b->area, GTK_EVENT_CONTROLLER(click));
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(b->scrolled), b->area);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(b->scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    g_signal_connect(b->scrolled, "destroy", G_CALLBACK(on_destroy), b);
}

GtkWidget *bands_widget(struct view *view)
{
    if (!view->bands)
        build(view);
    return view->bands->scrolled;
}

void bands_print(struct view *view, FILE *f)
{
    int width = (int)camera_along_px(&view->camera);
    const struct band *band;
    int names = (int)camera_names_px(&view->camera);
    bands_widget(view);
    for (int n = 0; bands_wanted(view) && (band = band_at(view, n)) != NULL; n++) {
        const struct scene_row *r = &view->stage.scene->rows[band->row];
        float *shares = shares_of(view, band, width);
        fprintf(f, "row %u %s", r->line, r->label);
        for (unsigned state = 0; state < SPELL_STATES; state++) {
            double sum = 0;
            for (int x = names; x < width; x++)
                sum += (double)shares[(size_t)x * SPELL_STATES + state];
            fprintf(f, " %s %.1f", spells_word(state), sum);
        }
        fprintf(f, "\n");
        g_free(shares);
    }
    if (bands_wanted(view))
        carried_print(view->bands->carried, f);
}
