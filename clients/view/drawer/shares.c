#include "clients/view/drawer/shares.h"

#include "clients/book/book.h"
#include "clients/view/drawer/spells.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/settings.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/letters.h"
#include "clients/view/picture/lives.h"
#include "clients/view/picture/view.h"
#include "render/lettering.h"
#include "render/paint.h"

#include <math.h>

#define ROW_PX 22
#define BAND_PX 14

bool shares_wanted(const struct view *view)
{
    return view->camera.place.far && view->far.strip.row_count;
}

/* ---- rows ---- */

/* The row of the strips that stands at the n-th place, from 0; -1: there are not so many. */
static int row_at(const struct shown_strip *lives, int n)
{
    for (uint32_t row = 0; n >= 0 && row < lives->row_count; row++)
        if (lives_has(lives, row) && n-- == 0)
            return (int)row;
    return -1;
}

/* What a pixel shows, by state. */
static void shares_at(const struct shown_strip *lives, const struct shown_strip *seen, uint32_t row,
                      uint32_t pixel, float *shares)
{
    static const uint8_t states[STRIP_LIVINGS] = {
        [STRIP_LIVING_START] = SPELL_START,       [STRIP_LIVING_READY] = SPELL_READY,
        [STRIP_LIVING_RUNNING] = SPELL_RUNNING,   [STRIP_LIVING_MEETING] = SPELL_BLOCKED,
        [STRIP_LIVING_EXCLUSION] = SPELL_BLOCKED, [STRIP_LIVING_TIMER] = SPELL_BLOCKED,
        [STRIP_LIVING_UNKNOWN] = SPELL_BLOCKED,   [STRIP_LIVING_TERMINATE] = SPELL_TERMINATE,
        [STRIP_LIVING_SYSTEM] = SPELL_SYSTEM};
    int at = lives_pixel(lives, seen, pixel);
    for (unsigned i = 0; i < SPELL_STATES; i++)
        shares[i] = 0;
    for (unsigned i = 0; at >= 0 && i < STRIP_LIVINGS; i++)
        shares[states[i]] +=
            (float)lives->cells[(size_t)row * lives->pixels + (size_t)at].share[i] / 255;
}

/* ---- drawing ---- */

static void draw_name(struct view *view, cairo_t *cr, const char *name, double y, double names)
{
    double v = settings_theme(&view->settings).dark ? 0.85 : 0.2;
    cairo_save(cr);
    cairo_rectangle(cr, 0, y, names - 4, ROW_PX);
    cairo_clip(cr);
    cairo_set_source_rgb(cr, v, v, v);
    lettering_show(cr, 8, y + 4, name, 10, false);
    cairo_restore(cr);
}

static void draw_row(struct view *view, cairo_t *cr, const struct shown_strip *lives, uint32_t row,
                     double y)
{
    const struct shown_strip *s = &view->far.strip;
    double names = camera_names_px(&view->camera), wide = far_width_px(view) / s->pixels;
    float *all = g_new(float, (size_t)s->pixels *SPELL_STATES);
    for (uint32_t i = 0; i < s->pixels; i++)
        shares_at(lives, s, row, i, all + (size_t)i * SPELL_STATES);
    char *name = far_label(view, row);
    draw_name(view, cr, name, y, names);
    g_free(name);
    for (uint32_t i = 0, end; i < s->pixels; i = end) {
        for (end = i + 1; end < s->pixels && spells_alike(all, (int)i, (int)end);)
            end++;
        double x = round(names + i * wide);
        spells_paint(cr, all + (size_t)i * SPELL_STATES, x, y + (ROW_PX - BAND_PX) / 2.0,
                     round(names + end * wide) - x, BAND_PX, view->settings.look.grey);
    }
    g_free(all);
}

/* Is it known of anybody what no wait accounts for and what did not run? */
static bool has_system(const struct shown_strip *s)
{
    for (size_t i = 0; i < (size_t)s->row_count * s->pixels; i++)
        if (s->cells[i].share[STRIP_LIVING_SYSTEM])
            return true;
    return false;
}

static void draw_key(cairo_t *cr, double x, const struct paint_theme *theme, bool system)
{
    const char *said = system ? "" : "(running: all that no wait accounts for)";
    double v = theme->dark ? 0.75 : 0.35;
    double wide = spells_key(cr, x, 2, theme->dark, theme->grey);
    cairo_set_source_rgb(cr, v, v, v);
    lettering_show(cr, x + wide, 3, said, 8, false);
}

/* What is there instead of bands. */
static void draw_word(struct view *view, cairo_t *cr)
{
    const char *problem = lives_problem(view);
    double v = settings_theme(&view->settings).dark ? 0.75 : 0.35;
    cairo_set_source_rgb(cr, v, v, v);
    lettering_show(cr, 12, 10, problem ? problem : "Looking at what threads did...", 10, false);
}

void shares_draw(struct view *view, cairo_t *cr, int width)
{
    struct paint_theme theme = settings_theme(&view->settings);
    const struct shown_strip *lives = lives_of(view);
    double above, below, x0, x1, names = camera_names_px(&view->camera);
    int n = 1; /* below the key */
    (void)width;
    paint_background(cr, &theme);
    if (!lives) {
        draw_word(view, cr);
        return;
    }
    cairo_clip_extents(cr, &x0, &above, &x1, &below);
    for (uint32_t row = 0; row < lives->row_count; row++) {
        if (!lives_has(lives, row))
            continue;
        if (n * ROW_PX < below && (n + 1) * ROW_PX > above)
            draw_row(view, cr, lives, row, n * ROW_PX);
        n++;
    }
    draw_key(cr, names, &theme, has_system(lives));
    cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, 0.5);
    cairo_rectangle(cr, names - 0.5, ROW_PX, 1, (n - 1) * ROW_PX);
    cairo_fill(cr);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    (void)area;
    letters_scale(data, cr, &width, &height);
    shares_draw(data, cr, width);
}

/* ---- what is said of a place, and what a click does ---- */

static gboolean on_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip,
                           gpointer data)
{
    struct view *view = data;
    const struct shown_strip *lives = lives_of(view), *s = &view->far.strip;
    double unit = view->camera.unit_px;
    int row = lives && !keyboard ? row_at(lives, (int)(y / unit) / ROW_PX - 1) : -1;
    double at = (x / unit - camera_names_px(&view->camera)) / far_width_px(view) * s->pixels;
    float shares[SPELL_STATES];
    (void)widget;
    if (row < 0 || at < 0 || at >= s->pixels)
        return FALSE;
    shares_at(lives, s, (uint32_t)row, (uint32_t)at, shares);
    char *name = far_label(view, (uint32_t)row);
    GString *text = g_string_new(name);
    g_free(name);
    const char *before = ": ";
    for (unsigned i = 0; i < SPELL_STATES; i++) {
        if (shares[i] < 0.005f)
            continue;
        g_string_append_printf(text, "%s%s %.0f %%", before, spells_word(i),
                               100 * (double)shares[i]);
        before = ", ";
    }
    g_string_append(text, *before == ':' ? " is not there" : "\nClick to go there");
    gtk_tooltip_set_text(tooltip, text->str);
    g_string_free(text, TRUE);
    return TRUE;
}

static void on_click(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    (void)gesture;
    (void)presses;
    (void)y;
    x /= view->camera.unit_px;
    if (shares_wanted(view) && x >= camera_names_px(&view->camera))
        far_go_in(view, x);
}

/* ---- making it ---- */

static GtkWidget *build(struct view *view)
{
    GtkWidget *area = gtk_drawing_area_new(), *scrolled = gtk_scrolled_window_new();
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), draw, view, NULL);
    gtk_widget_set_has_tooltip(area, TRUE);
    gtk_widget_set_focusable(area, TRUE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "What threads did, as shares; from near a table says it", -1);
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

GtkWidget *shares_widget(struct view *view)
{
    GtkWidget *made = g_object_get_data(G_OBJECT(view->window), "shares");
    return made ? made : build(view);
}

void shares_take(struct view *view, enum news news)
{
    const struct shown_strip *lives = lives_of(view);
    int n = 0;
    if (!shares_wanted(view) || (news != NEWS_SEEN && news != NEWS_PICTURE && news != NEWS_LOOK &&
                                 news != NEWS_SETTINGS && news != NEWS_SHOWN))
        return;
    GtkWidget *area = g_object_get_data(G_OBJECT(shares_widget(view)), "area");
    for (uint32_t row = 0; lives && row < lives->row_count; row++)
        n += lives_has(lives, row);
    gtk_widget_set_size_request(area, -1, letters_px(view, (n + 1) * ROW_PX));
    gtk_widget_queue_draw(area);
}

void shares_print(struct view *view, FILE *f)
{
    const struct shown_strip *lives = lives_of(view), *s = &view->far.strip;
    float shares[SPELL_STATES];
    for (uint32_t row = 0; lives && row < lives->row_count; row++) {
        double sums[SPELL_STATES] = {0};
        if (!lives_has(lives, row))
            continue;
        for (uint32_t i = 0; i < s->pixels; i++) {
            shares_at(lives, s, row, i, shares);
            for (unsigned k = 0; k < SPELL_STATES; k++)
                sums[k] += (double)shares[k];
        }
        fprintf(f, "row %u %s", lives->rows[row], book_label(the_book(view), lives->rows[row]));
        for (unsigned k = 0; k < SPELL_STATES; k++)
            fprintf(f, " %s %.1f", spells_word(k), sums[k]);
        fprintf(f, "\n");
    }
}
