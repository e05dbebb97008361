/* The picture on the screen, and the pointer on it.  The columns are painted once, in tiles; to scroll is
 * to put the tiles elsewhere. */
#include "clients/view/view.h"

#include <math.h>

/* ---- tiles ---- */

static bool fits(const struct view *view, const struct tile *t, int index)
{
    return t->surface && t->index == index && t->serial == view->stage.serial &&
           t->rise == view->place.rise_pt && t->zoom == view->place.zoom;
}

/* Scene pixels from index * TILE_PX on, at the zoom; as high as the canvas. */
static void paint_tile(struct view *view, struct tile *t, int index, int height, int scale)
{
    const struct scene *s = view->stage.scene;
    double zoom = view->place.zoom, from = index * (double)TILE_PX / zoom;
    struct paint_theme theme = stage_theme(view);
    struct paint_selection selection = stage_selection(view);
    double above = view->place.rise_pt - view->stage.row_base * stage_row_pt(view);
    double first = floor((above - s->top_pt) / stage_row_pt(view)),
           last = ceil((above + height / zoom - s->top_pt) / stage_row_pt(view));
    struct paint_part part = {from, from + TILE_PX / zoom,
                              (uint32_t)CLAMP(first, 0, s->row_count),
                              (uint32_t)CLAMP(last, 0, s->row_count), false};
    if (t->surface)
        cairo_surface_destroy(t->surface);
    t->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, TILE_PX * scale, height * scale);
    cairo_surface_set_device_scale(t->surface, scale, scale);
    t->index = index;
    t->serial = view->stage.serial;
    t->rise = view->place.rise_pt;
    t->zoom = zoom;
    cairo_t *cr = cairo_create(t->surface);
    paint_background(cr, &theme);
    cairo_scale(cr, zoom, zoom);
    cairo_translate(cr, -from, -above);
    paint_scene(cr, s, &theme, &part, &selection);
    cairo_destroy(cr);
}

static struct tile *tile(struct view *view, int index, int height, int scale)
{
    struct stage *stage = &view->stage;
    for (unsigned i = 0; i < TILES; i++) {
        struct tile *t = &stage->tiles[i];
        if (fits(view, t, index) && cairo_image_surface_get_height(t->surface) == height * scale)
            return t;
    }
    struct tile *t = &stage->tiles[stage->next_tile++ % TILES];
    paint_tile(view, t, index, height, scale);
    return t;
}

static void draw_columns(struct view *view, cairo_t *cr, int width, int height)
{
    double names = stage_names_px(view), left = stage_left(view) * view->place.zoom;
    double begin = view->stage.scene->names_pt * view->place.zoom; /* nothing is left of it */
    int scale = gtk_widget_get_scale_factor(view->canvas);
    int first = (int)floor(left / TILE_PX), last = (int)floor((left + width - names) / TILE_PX);
    cairo_save(cr);
    cairo_rectangle(cr, names + MAX(0, begin - left), 0, width - names, height);
    cairo_clip(cr);
    for (int i = first; i <= last && i - first < TILES; i++) {
        struct tile *t = tile(view, i, height, scale);
        cairo_set_source_surface(cr, t->surface, round(names + i * TILE_PX - left), 0);
        cairo_paint(cr);
    }
    cairo_restore(cr);
}

/* ---- names ---- */

static void draw_arrow(cairo_t *cr, double x, double y, int way)
{
    cairo_move_to(cr, x + way * 3.5, y);
    cairo_line_to(cr, x - way * 3.5, y - 4.5);
    cairo_line_to(cr, x - way * 3.5, y + 4.5);
    cairo_close_path(cr);
    cairo_fill(cr);
}

/* The arrows that scroll the line under the pointer, at the right of the names. */
static void draw_line_arrows(struct view *view, cairo_t *cr, double names, int row)
{
    double y = stage_y_px(view, (uint32_t)row);
    cairo_set_source_rgb(cr, 0.45, 0.45, 0.5);
    draw_arrow(cr, names - 13, y - 0.5, -1);
    draw_arrow(cr, names - 4, y - 0.5, 1);
}

static void draw_drop(struct view *view, cairo_t *cr, double names)
{
    int row = stage_row_at(view, view->pointer_y);
    if (row < 0)
        return;
    double y = stage_y_px(view, (uint32_t)row) - stage_line_pt(view) * view->place.zoom;
    cairo_set_source_rgb(cr, 0.9, 0.62, 0);
    cairo_rectangle(cr, 0, y - 1, names, 2);
    cairo_fill(cr);
}

static void draw_names(struct view *view, cairo_t *cr, int height)
{
    const struct stage *stage = &view->stage;
    struct paint_theme theme = stage_theme(view);
    double names = stage_names_px(view), zoom = MIN(view->place.zoom, 1.6);
    const struct scene *s = stage->scene;
    cairo_save(cr);
    cairo_rectangle(cr, 0, 0, names, height);
    cairo_clip(cr);
    paint_background(cr, &theme);
    for (uint32_t i = 0; i < s->row_count; i++) {
        double high = stage_row_pt(view) * view->place.zoom;
        double y = stage_y_px(view, i) + high / 2 - stage_line_pt(view) * view->place.zoom;
        if (y < -high || y > height + high)
            continue;
        if (theme.tint && (i + stage->row_base) % 4 == 0) {
            cairo_set_source_rgba(cr, 0.2, 0.4, 0.8, theme.dark ? 0.16 : 0.06);
            cairo_rectangle(cr, 0, y - high / 2, names, high);
            cairo_fill(cr);
        }
        if (view->place.selected.line && s->rows[i].line == view->place.selected.line) {
            cairo_set_source_rgb(cr, 0.9, 0.62, 0);
            cairo_rectangle(cr, 0, y - high / 2, 3, high);
            cairo_fill(cr);
        }
    }
    cairo_rectangle(cr, 0, 0, names - NAMES_GAP_PX, height);
    cairo_clip(cr);
    for (uint32_t i = 0; i < s->row_count; i++) {
        double y = stage_y_px(view, i);
        if (y < -200 || y > height + 200)
            continue;
        cairo_save(cr);
        cairo_translate(cr, 0, y);
        cairo_scale(cr, zoom, zoom);
        paint_name(cr, s, i, &theme);
        cairo_restore(cr);
    }
    cairo_restore(cr);
    cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, 0.5);
    cairo_rectangle(cr, names - 0.5, 0, 1, height);
    cairo_fill(cr);
    int row = view->pointer_x >= 0 && view->pointer_x < names ? stage_row_at(view, view->pointer_y) : -1;
    if (view->drag.what == DRAG_ROW)
        draw_drop(view, cr, names);
    else if (row >= 0)
        draw_line_arrows(view, cr, names, row);
}

void canvas_draw(struct view *view, cairo_t *cr, int width, int height)
{
    struct paint_theme theme = stage_theme(view);
    paint_background(cr, &theme);
    if (stage_vertical(view)) {
        int across = width;
        paint_turn(cr);
        width = height;
        height = across;
    }
    if (view->place.far) {
        far_draw(view, cr, width, height);
        return;
    }
    if (!view->stage.scene)
        return;
    draw_columns(view, cr, width, height);
    draw_names(view, cr, height);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    (void)area;
    canvas_draw(data, cr, width, height);
}

/* ---- the scroll bar of rows ---- */

static gboolean orient(gpointer data)
{
    struct view *view = data;
    view->orienting = 0;
    GtkOrientation now = gtk_orientable_get_orientation(GTK_ORIENTABLE(view->down));
    bool turned = stage_vertical(view);
    if (turned == (now == GTK_ORIENTATION_HORIZONTAL))
        return G_SOURCE_REMOVE;
    g_object_ref(view->down);
    gtk_grid_remove(GTK_GRID(view->grid), view->down);
    gtk_orientable_set_orientation(GTK_ORIENTABLE(view->down),
                                   turned ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL);
    gtk_grid_attach(GTK_GRID(view->grid), view->down, !turned, turned, 1, 1);
    g_object_unref(view->down);
    return G_SOURCE_REMOVE;
}

void canvas_bars(struct view *view)
{
    double height = stage_height_pt(view), page = stage_across_px(view) / view->place.zoom;
    view->moving = true;
    view->place.rise_pt = CLAMP(view->place.rise_pt, 0, MAX(0, height - page));
    gtk_adjustment_configure(view->down_at, view->place.rise_pt, 0, MAX(height, page), stage_row_pt(view), page,
                             page);
    if (!view->orienting)
        view->orienting = g_idle_add(orient, view); /* not while sizes are given out */
    gtk_widget_set_opacity(view->down, height > page + 1); /* it keeps its room: the picture must not move */
    view->moving = false;
}

static void on_down(GtkAdjustment *adjustment, gpointer data)
{
    struct view *view = data;
    if (view->moving)
        return;
    history_mark(view, "rows");
    view->place.rise_pt = gtk_adjustment_get_value(adjustment);
    if (view->stage.row_total > view->stage.window.row_count)
        link_window(view);
    gtk_widget_queue_draw(view->canvas);
}

/* ---- the pointer ---- */

static GdkModifierType modifiers(gpointer controller)
{
    return gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
}

static gboolean on_scroll(GtkEventControllerScroll *controller, double dx, double dy, gpointer data)
{
    struct view *view = data;
    GdkModifierType state = modifiers(controller);
    bool fine = gtk_event_controller_scroll_get_unit(controller) == GDK_SCROLL_UNIT_SURFACE;
    double step = fine ? 1 : SCENE_COLUMN_PT * 3 * view->place.zoom;
    if (state & GDK_CONTROL_MASK)
        motion_zoom(view, pow(fine ? 1.01 : 1.15, -dy), view->pointer_x, view->pointer_y);
    else if (state & GDK_SHIFT_MASK)
        motion_pan(view, dx * step, dy * (fine ? 1 : stage_row_pt(view) * view->place.zoom));
    else if (fine)
        stage_vertical(view) ? motion_pan(view, dy, dx) : motion_pan(view, dx, dy);
    else
        motion_pan(view, (dx + dy) * step, 0);
    return TRUE;
}

/* From the widget's coordinates to along and across. */
static void turn(const struct view *view, double *x, double *y)
{
    double along = stage_vertical(view) ? *y : *x, across = stage_vertical(view) ? *x : *y;
    *x = along;
    *y = across;
}

static bool on_border(const struct view *view, double x)
{
    return fabs(x - stage_names_px(view)) < 3;
}

static void press_names(struct view *view, double x, double y, int presses)
{
    const struct stage *stage = &view->stage;
    double names = stage_names_px(view);
    int row = stage_row_at(view, y);
    if (row < 0)
        return;
    uint32_t line = stage->scene->rows[row].line;
    if (x > names - NAMES_GAP_PX)
        motion_line(view, line, x > names - NAMES_GAP_PX / 2 ? -1 : 1);
    else if (presses == 2 && stage->window.rows[row].member_count)
        rows_split(view, line);
    else
        view->drag = (struct view_drag){DRAG_ROW, x, y, line};
}

static void on_press(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    turn(view, &x, &y);
    gtk_widget_grab_focus(view->canvas);
    view->drag.what = DRAG_NOTHING;
    if (on_border(view, x)) {
        view->drag = (struct view_drag){DRAG_NAMES, x, y, 0};
        return;
    }
    if (view->place.far) {
        if (presses == 2)
            motion_to_position(view, far_position(view, x));
        view->drag = (struct view_drag){DRAG_PICTURE, x, y, 0};
        return;
    }
    if (!view->stage.scene)
        return;
    if (x < stage_names_px(view)) {
        press_names(view, x, y, presses);
        return;
    }
    const struct scene_mark *mark = stage_hit(view, x, y);
    if (mark)
        motion_select(view, mark->event->at, modifiers(gesture) & (GDK_CONTROL_MASK | GDK_SHIFT_MASK));
    else
        view->drag = (struct view_drag){DRAG_PICTURE, x, y, 0};
}

static void on_release(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    turn(view, &x, &y);
    (void)gesture;
    (void)presses;
    int row = stage_row_at(view, y);
    if (view->drag.what == DRAG_ROW && fabs(y - view->drag.y) > 8)
        rows_drop(view, view->drag.row, row < 0 ? 0 : view->stage.scene->rows[row].line);
    (void)x;
    view->drag.what = DRAG_NOTHING;
    gtk_widget_queue_draw(view->canvas);
}

static void on_motion(GtkEventControllerMotion *controller, double x, double y, gpointer data)
{
    struct view *view = data;
    turn(view, &x, &y);
    (void)controller;
    double dx = view->drag.x - x, dy = view->drag.y - y;
    view->pointer_x = x;
    view->pointer_y = y;
    gtk_widget_set_cursor_from_name(view->canvas, on_border(view, x) ? "col-resize" : NULL);
    switch (view->drag.what) {
    case DRAG_PICTURE:
        view->drag.x = x;
        view->drag.y = y;
        motion_pan(view, dx, dy);
        break;
    case DRAG_NAMES:
        view->settings.names_px = (int)CLAMP(x - NAMES_GAP_PX, 40, 900);
        gtk_widget_queue_draw(view->canvas);
        break;
    default:
        if (x < stage_names_px(view) + 20)
            gtk_widget_queue_draw(view->canvas);
    }
}

static void on_leave(GtkEventControllerMotion *controller, gpointer data)
{
    struct view *view = data;
    (void)controller;
    view->pointer_x = view->pointer_y = -1;
    gtk_widget_queue_draw(view->canvas);
}

static gboolean on_tooltip(GtkWidget *widget, int at_x, int at_y, gboolean keyboard, GtkTooltip *tooltip,
                           gpointer data)
{
    struct view *view = data;
    double x = at_x, y = at_y;
    turn(view, &x, &y);
    (void)widget;
    (void)keyboard;
    if (view->place.far || view->drag.what != DRAG_NOTHING || !view->stage.scene)
        return FALSE;
    const struct scene_mark *mark = stage_hit(view, x, y);
    if (mark) {
        char *text = hover_event(view, mark->event);
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return TRUE;
    }
    const struct scene_link *link = stage_hit_link(view, x, y);
    if (link) {
        char *text = g_strdup_printf(link->kind == ARROW_VIA ? "Order through %s, which is not shown"
                                                             : "To %s, which is not shown",
                                     book_label(the_book(view), link->line));
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return TRUE;
    }
    int row = stage_row_at(view, y);
    double names = stage_names_px(view);
    if (row >= 0 && x >= names && fabs(y - stage_y_px(view, (uint32_t)row)) < 6) {
        char *text = hover_stretch(view, (uint32_t)row,
                                           stage_left(view) + (x - names) / view->place.zoom);
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return text != NULL;
    }
    if (row < 0 || x >= names)
        return FALSE;
    gtk_tooltip_set_text(tooltip, x > stage_names_px(view) - NAMES_GAP_PX
                                      ? "Scroll this line; the others follow only as the order forces"
                                      : view->stage.scene->rows[row].label);
    return TRUE;
}

static gboolean let_go(gpointer popover)
{
    gtk_widget_unparent(GTK_WIDGET(popover));
    return G_SOURCE_REMOVE;
}

static void on_menu_closed(GtkPopover *popover, gpointer data)
{
    (void)data;
    g_idle_add(let_go, popover); /* after its action */
}

static void on_menu(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    GdkRectangle there = {(int)x, (int)y, 1, 1};
    turn(view, &x, &y);
    (void)gesture;
    (void)presses;
    const struct scene_mark *mark = view->place.far ? NULL : stage_hit(view, x, y);
    int row = view->place.far ? -1 : stage_row_at(view, y);
    GMenu *menu = g_menu_new();
    if (mark) {
        motion_select(view, mark->event->at, false);
        g_menu_append(menu, "Select the partner", "win.partner");
        g_menu_append(menu, "Open in the editor", "win.editor");
        g_menu_append(menu, "Bookmark", "win.bookmark");
    }
    if (row >= 0) {
        char *target = g_strdup_printf("%u", view->stage.scene->rows[row].line);
        static const char *const what[][2] = {{"Hide this line", "win.hide-line"},
                                              {"Move up", "win.line-up"},
                                              {"Move down", "win.line-down"},
                                              {"Join with the row above", "win.join-line"},
                                              {"Open this cluster", "win.split-line"}};
        for (size_t i = 0; i < G_N_ELEMENTS(what); i++) {
            char *action = g_strdup_printf("%s::%s", what[i][1], target);
            g_menu_append(menu, what[i][0], action);
            g_free(action);
        }
        g_free(target);
    }
    g_menu_append(menu, "Show all lines", "win.show-all");
    GtkWidget *popover = gtk_popover_menu_new_from_model(G_MENU_MODEL(menu));
    gtk_widget_set_parent(popover, view->canvas);
    gtk_popover_set_pointing_to(GTK_POPOVER(popover), &there);
    g_signal_connect(popover, "closed", G_CALLBACK(on_menu_closed), NULL);
    gtk_popover_set_has_arrow(GTK_POPOVER(popover), FALSE);
    gtk_popover_popup(GTK_POPOVER(popover));
    g_object_unref(menu);
}

static void on_resize(GtkDrawingArea *area, int width, int height, gpointer data)
{
    struct view *view = data;
    (void)area;
    (void)width;
    (void)height;
    canvas_bars(view);
    link_window(view);
}

static GtkWidget *new_area(struct view *view)
{
    GtkWidget *area = gtk_drawing_area_new();
    gtk_widget_set_hexpand(area, TRUE);
    gtk_widget_set_vexpand(area, TRUE);
    gtk_widget_set_focusable(area, TRUE);
    gtk_widget_set_has_tooltip(area, TRUE);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), draw, view, NULL);
    g_signal_connect(area, "resize", G_CALLBACK(on_resize), view);
    g_signal_connect(area, "query-tooltip", G_CALLBACK(on_tooltip), view);
    gtk_accessible_update_property(GTK_ACCESSIBLE(area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "The order of events; the Text panel tells it in words", -1);
    return area;
}

GtkWidget *canvas_new(struct view *view)
{
    GtkWidget *grid = view->grid = gtk_grid_new();
    view->canvas = new_area(view);
    view->pointer_x = view->pointer_y = -1;
    view->down_at = gtk_adjustment_new(0, 0, 1, 26, 100, 1);
    g_signal_connect(view->down_at, "value-changed", G_CALLBACK(on_down), view);
    view->down = gtk_scrollbar_new(GTK_ORIENTATION_VERTICAL, view->down_at);
    gtk_grid_attach(GTK_GRID(grid), view->canvas, 0, 0, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), view->down, 1, 0, 1, 1);
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), view);
    gtk_widget_add_controller(view->canvas, scroll);
    GtkEventController *motion = gtk_event_controller_motion_new();
    g_signal_connect(motion, "motion", G_CALLBACK(on_motion), view);
    g_signal_connect(motion, "leave", G_CALLBACK(on_leave), view);
    gtk_widget_add_controller(view->canvas, motion);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(on_press), view);
    g_signal_connect(click, "released", G_CALLBACK(on_release), view);
    gtk_widget_add_controller(view->canvas, GTK_EVENT_CONTROLLER(click));
    GtkGesture *menu = gtk_gesture_click_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(menu), GDK_BUTTON_SECONDARY);
    g_signal_connect(menu, "pressed", G_CALLBACK(on_menu), view);
    gtk_widget_add_controller(view->canvas, GTK_EVENT_CONTROLLER(menu));
    return grid;
}
