#include "clients/view/view.h"

#include <math.h>
#include <string.h>

/* ---- where things are ---- */

static double area_width(const struct view *view)
{
    return gtk_widget_get_width(view->canvas) / view->zoom;
}

static double area_height(const struct view *view)
{
    return gtk_widget_get_height(view->canvas) / view->zoom;
}

/* How far the columns are moved to the left: in follow mode the end must be seen. */
static double shift(const struct view *view)
{
    double over = view->scene ? view->scene->width_pt - area_width(view) : 0;
    return (view->follow || view->anchor == ANCHOR_END) && over > 0 ? over : 0;
}

static double rise(const struct view *view)
{
    return gtk_adjustment_get_value(view->down_at);
}

uint32_t canvas_columns(const struct view *view)
{
    double names = view->scene ? view->scene->names_pt : 120;
    double columns = (area_width(view) - names - 12) / SCENE_COLUMN_PT;
    return columns < 4 ? 4 : columns > 2000 ? 2000 : (uint32_t)columns;
}

/* ---- drawing: nothing is computed here ---- */

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    struct view *view = data;
    (void)area;
    struct paint_theme theme = {0};
    gboolean dark = FALSE;
    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark, NULL);
    theme.dark = dark;
    paint_background(cr, &theme);
    if (!view->scene)
        return;
    const struct scene *s = view->scene;
    double w = width / view->zoom, h = height / view->zoom, left = shift(view);
    cairo_scale(cr, view->zoom, view->zoom);
    cairo_translate(cr, 0, -rise(view));
    for (uint32_t i = 0; i < s->row_count; i += 4) { /* every fourth line is tinted */
        cairo_set_source_rgba(cr, 0.2, 0.4, 0.8, dark ? 0.16 : 0.06);
        cairo_rectangle(cr, 0, s->rows[i].y_pt - SCENE_ROW_PT / 2, w, SCENE_ROW_PT);
        cairo_fill(cr);
    }
    cairo_save(cr);
    cairo_rectangle(cr, s->names_pt, rise(view), w - s->names_pt, h);
    cairo_clip(cr);
    cairo_translate(cr, -left, 0);
    struct paint_part part = {s->names_pt + left, s->width_pt, 0, s->row_count, false};
    struct paint_selection selection = {.selected = view->selected};
    paint_scene(cr, s, &theme, &part, &selection);
    cairo_restore(cr);
    paint_names(cr, s, &theme);
}

/* ---- a new window came ---- */

static void set_bars(struct view *view)
{
    const struct shown_window *w = &view->shown;
    uint64_t left = 0, seen = w->event_count, all;
    for (uint32_t i = 0; i < w->row_count; i++)
        left += w->rows[i].left;
    all = w->count > left + seen ? w->count : left + seen;
    if (!w->more_right)
        all = left + seen;
    view->moving = true;
    gtk_adjustment_configure(view->across_at, all ? (double)left / (double)all : 0, 0, 1, 0.01, 0.1,
                             all ? (double)seen / (double)all : 1);
    double height = view->scene->height_pt, page = area_height(view);
    double value = gtk_adjustment_get_value(view->down_at);
    gtk_adjustment_configure(view->down_at, value, 0, height > page ? height : page, SCENE_ROW_PT,
                             page, page);
    view->moving = false;
}

void canvas_show(struct view *view, struct shown_window *window)
{
    struct scene_options options = {.measure = lettering_width};
    shown_window_free(&view->shown);
    scene_free(view->scene);
    view->shown = *window;
    view->scene = scene_build(&view->shown, &view->source.book, &options);
    if (!view->scene)
        return;
    if (view->anchor == ANCHOR_FRACTION) { /* from here on it is a fixed place */
        view->anchor = ANCHOR_POSITION;
        view->position = window->anchor;
    }
    set_bars(view);
    canvas_details(view);
    gtk_widget_queue_draw(view->canvas);
}

/* ---- moving ---- */

void canvas_follow(struct view *view, bool follow)
{
    view->follow = follow;
    view->moving = true;
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(view->follow_button), follow);
    view->moving = false;
    if (follow)
        link_ask(view);
}

/* By columns: a rigid shift, so it can be undone exactly. */
static void move_columns(struct view *view, int32_t columns)
{
    const struct shown_window *w = &view->shown;
    if (!view->scene || (columns < 0 && !w->more_left && w->first >= w->from) ||
        (columns > 0 && !w->more_right))
        return;
    if (view->follow || view->anchor == ANCHOR_END) {
        view->anchor = ANCHOR_POSITION;
        view->position = w->anchor;
        view->from = w->from;
        canvas_follow(view, false);
    }
    if (view->anchor == ANCHOR_START) {
        view->anchor = ANCHOR_POSITION;
        view->position = 0;
    }
    view->from += columns;
    link_ask(view);
}

static void go_start(struct view *view)
{
    canvas_follow(view, false);
    view->anchor = ANCHOR_START;
    view->from = 0;
    link_ask(view);
}

static void move_rows(struct view *view, double rows)
{
    gtk_adjustment_set_value(view->down_at,
                             gtk_adjustment_get_value(view->down_at) + rows * SCENE_ROW_PT);
}

static void set_zoom(struct view *view, double zoom)
{
    view->zoom = zoom < 0.5 ? 0.5 : zoom > 4 ? 4 : zoom;
    link_ask(view);
    gtk_widget_queue_draw(view->canvas);
}

bool canvas_key(struct view *view, guint key, GdkModifierType state)
{
    int32_t page = (int32_t)canvas_columns(view) * 3 / 4;
    if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK))
        return false;
    switch (key) {
    case GDK_KEY_Left:
        move_columns(view, -1);
        return true;
    case GDK_KEY_Right:
        move_columns(view, 1);
        return true;
    case GDK_KEY_Page_Up:
        move_columns(view, -page);
        return true;
    case GDK_KEY_Page_Down:
        move_columns(view, page);
        return true;
    case GDK_KEY_Home:
        go_start(view);
        return true;
    case GDK_KEY_End:
    case GDK_KEY_f:
        canvas_follow(view, true);
        return true;
    case GDK_KEY_Up:
        move_rows(view, -1);
        return true;
    case GDK_KEY_Down:
        move_rows(view, 1);
        return true;
    case GDK_KEY_plus:
    case GDK_KEY_equal:
        set_zoom(view, view->zoom * 1.2);
        return true;
    case GDK_KEY_minus:
        set_zoom(view, view->zoom / 1.2);
        return true;
    case GDK_KEY_0:
        set_zoom(view, 1.3);
        return true;
    case GDK_KEY_Escape:
        view->selected = (struct ref){0, 0};
        canvas_details(view);
        gtk_widget_queue_draw(view->canvas);
        return true;
    default:
        return false;
    }
}

static gboolean on_scroll(GtkEventControllerScroll *controller, double dx, double dy, gpointer data)
{
    struct view *view = data;
    GdkModifierType state =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
    if (state & GDK_CONTROL_MASK)
        set_zoom(view, view->zoom * (dy > 0 ? 1 / 1.1 : 1.1));
    else if (dx != 0 || (state & GDK_SHIFT_MASK))
        move_rows(view, dx != 0 ? dx : dy);
    else
        move_columns(view, dy > 0 ? 3 : -3);
    return TRUE;
}

static void on_click(GtkGestureClick *gesture, int n, double x, double y, gpointer data)
{
    struct view *view = data;
    (void)gesture;
    (void)n;
    gtk_widget_grab_focus(view->canvas);
    if (!view->scene)
        return;
    const struct scene_mark *mark = scene_hit(view->scene, x / view->zoom + shift(view),
                                              y / view->zoom + rise(view), 9);
    view->selected = mark ? mark->event->at : (struct ref){0, 0};
    canvas_details(view);
    gtk_widget_queue_draw(view->canvas);
}

static void on_across(GtkAdjustment *adjustment, gpointer data)
{
    struct view *view = data;
    if (view->moving)
        return;
    double end = gtk_adjustment_get_upper(adjustment) - gtk_adjustment_get_page_size(adjustment);
    double value = gtk_adjustment_get_value(adjustment);
    if (value >= end - 1e-9) {
        canvas_follow(view, true);
        return;
    }
    canvas_follow(view, false);
    view->anchor = value <= 0 ? ANCHOR_START : ANCHOR_FRACTION;
    view->fraction = value;
    view->from = 0;
    link_ask(view);
}

static void on_down(GtkAdjustment *adjustment, gpointer data)
{
    struct view *view = data;
    (void)adjustment;
    gtk_widget_queue_draw(view->canvas);
}

static void on_resize(GtkDrawingArea *area, int width, int height, gpointer data)
{
    (void)area;
    (void)width;
    (void)height;
    link_ask(data);
}

/* ---- the selected event in words ---- */

static const struct shown_event *selected_event(const struct view *view)
{
    for (uint32_t i = 0; i < view->shown.event_count; i++)
        if (ref_equal(view->shown.events[i].at, view->selected))
            return &view->shown.events[i];
    for (uint32_t i = 0; i < view->shown.pending_count; i++)
        if (ref_equal(view->shown.pending[i].at, view->selected))
            return &view->shown.pending[i];
    return NULL;
}

static void add_field(GString *s, const char *name, const char *value)
{
    char *n = g_markup_escape_text(name, -1), *v = g_markup_escape_text(value, -1);
    g_string_append_printf(s, "<small>%s</small>\n%s\n", n, v);
    g_free(n);
    g_free(v);
}

static void add_refs(struct view *view, GString *s, const char *name, const struct ref *refs,
                     uint32_t count)
{
    GString *list = g_string_new(NULL);
    for (uint32_t i = 0; i < count; i++) {
        char at[48];
        ref_print(at, sizeof at, refs[i]);
        g_string_append_printf(list, "%s%s %s", i ? "\n" : "", at,
                               refs[i].line & HIDDEN_LINE
                                   ? "" : book_label(&view->source.book, refs[i].line));
    }
    if (count)
        add_field(s, name, list->str);
    g_string_free(list, TRUE);
}

void canvas_details(struct view *view)
{
    const struct shown_event *e = selected_event(view);
    const struct book *book = &view->source.book;
    gtk_widget_set_visible(view->details_box, e != NULL);
    if (!e)
        return;
    GString *s = g_string_new(NULL);
    const struct target_event *look = book_look(book, e);
    char at[48], time[64];
    ref_print(at, sizeof at, e->at);
    g_snprintf(time, sizeof time, "%.9f s", (double)e->time_ns / 1e9);
    char *type = g_strdup_printf("%s%s", book_type(book, e->type),
                                 e->state == EVENT_PENDING         ? " (pending)"
                                 : e->state == EVENT_CONTRADICTORY ? " (contradictory)" : "");
    add_field(s, "Type", type);
    if (look && strcmp(look->text, book_type(book, e->type)) != 0)
        add_field(s, "Meaning", look->text);
    add_field(s, "Line", book_label(book, e->at.line));
    add_field(s, "Event", at);
    add_field(s, "Time", time);
    add_refs(view, s, "Partner", e->partners, e->partner_count);
    add_refs(view, s, "After", e->after, e->after_count);
    if (e->about)
        add_field(s, "About", book_label(book, e->about));
    if (e->thread)
        add_field(s, "Thread", book_label(book, e->thread));
    if (e->site) {
        struct site_is site = sites_call(view->sites, e->process, e->site);
        char *where = g_strdup_printf("%s%s%s", site.function, *site.function ? "\n" : "", site.place);
        add_field(s, "Called from", where);
        g_free(where);
    }
    for (uint32_t i = 0; i < e->text_count; i++)
        add_field(s, "Text", e->texts[i]);
    gtk_label_set_markup(GTK_LABEL(view->details), s->str);
    g_string_free(s, TRUE);
    g_free(type);
}

GtkWidget *canvas_new(struct view *view)
{
    GtkWidget *grid = gtk_grid_new();
    view->canvas = gtk_drawing_area_new();
    view->zoom = 1.3;
    gtk_widget_set_hexpand(view->canvas, TRUE);
    gtk_widget_set_vexpand(view->canvas, TRUE);
    gtk_widget_set_focusable(view->canvas, TRUE);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(view->canvas), draw, view, NULL);
    g_signal_connect(view->canvas, "resize", G_CALLBACK(on_resize), view);
    view->across_at = gtk_adjustment_new(0, 0, 1, 0.01, 0.1, 1);
    view->down_at = gtk_adjustment_new(0, 0, 1, SCENE_ROW_PT, 100, 1);
    g_signal_connect(view->across_at, "value-changed", G_CALLBACK(on_across), view);
    g_signal_connect(view->down_at, "value-changed", G_CALLBACK(on_down), view);
    view->across = gtk_scrollbar_new(GTK_ORIENTATION_HORIZONTAL, view->across_at);
    view->down = gtk_scrollbar_new(GTK_ORIENTATION_VERTICAL, view->down_at);
    gtk_grid_attach(GTK_GRID(grid), view->canvas, 0, 0, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), view->down, 1, 0, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), view->across, 0, 1, 1, 1);
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), view);
    gtk_widget_add_controller(view->canvas, scroll);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(on_click), view);
    gtk_widget_add_controller(view->canvas, GTK_EVENT_CONTROLLER(click));
    return grid;
}
