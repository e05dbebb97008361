#include "clients/view/picture/pointer.h"

#include "clients/book/book.h"
#include "clients/view/parts/camera.h"
#include "clients/view/picture/arrange.h"
#include "clients/view/picture/afar.h"
#include "clients/view/picture/cluster.h"
#include "clients/view/picture/context.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/hover.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/scroll.h"
#include "clients/view/picture/select.h"
#include "clients/view/picture/slide.h"
#include "clients/view/picture/view.h"
#include "clients/view/picture/zoom.h"
#include "render/scene.h"

#include <math.h>

static GdkModifierType modifiers(gpointer controller)
{
    return gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
}

static gboolean on_scroll(GtkEventControllerScroll *controller, double dx, double dy, gpointer data)
{
    struct view *view = data;
    GdkModifierType state = modifiers(controller);
    bool fine = gtk_event_controller_scroll_get_unit(controller) == GDK_SCROLL_UNIT_SURFACE;
    double step = fine ? 1 : SCENE_COLUMN_PT * 3 * view->camera.place.zoom;
    if (state & GDK_CONTROL_MASK)
        zoom_by(view, pow(fine ? 1.01 : 1.15, -dy), view->pointer.x, view->pointer.y);
    else if (state & GDK_SHIFT_MASK)
        scroll_pan(view, dx * step,
                   dy * (fine ? 1 : camera_row_pt(&view->camera) * view->camera.place.zoom));
    else if (fine)
        camera_vertical(&view->camera) ? scroll_pan(view, dy, dx) : scroll_pan(view, dx, dy);
    else
        scroll_pan(view, (dx + dy) * step, 0);
    return TRUE;
}

/* From the widget's coordinates to along and across, in pixels of the canvas. */
static void turn(const struct view *view, double *x, double *y)
{
    double along = (camera_vertical(&view->camera) ? *y : *x) / view->camera.unit_px,
           across = (camera_vertical(&view->camera) ? *x : *y) / view->camera.unit_px;
    *x = along;
    *y = across;
}

static bool on_border(const struct view *view, double x)
{
    return fabs(x - camera_names_px(&view->camera)) < 3;
}

/* ---- pressing and dragging ---- */

static void press_names(struct view *view, double x, double y, int presses)
{
    const struct stage *stage = &view->stage;
    double names = camera_names_px(&view->camera);
    int row = camera_row_at(&view->camera, y);
    if (row < 0)
        return;
    uint32_t line = stage->scene->rows[row].line;
    if (x > names - CAMERA_GAP_PX)
        slide_line(view, line, x > names - CAMERA_GAP_PX / 2 ? -1 : 1);
    else if (presses == 2 && stage->window.rows[row].member_count)
        cluster_split(view, line);
    else
        view->pointer.drag = (struct drag){DRAG_ROW, x, y, line};
}

static void on_press(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    turn(view, &x, &y);
    gtk_widget_grab_focus(view->canvas);
    view->pointer.drag.what = DRAG_NOTHING;
    if (on_border(view, x)) {
        view->pointer.drag = (struct drag){DRAG_NAMES, x, y, 0};
        return;
    }
    if (view->camera.place.far) {
        (void)presses;
        view->pointer.drag = (struct drag){DRAG_PICTURE, x, y, 0};
        view->pointer.pressed_px = x;
        return;
    }
    if (!view->stage.scene)
        return;
    if (x < camera_names_px(&view->camera)) {
        press_names(view, x, y, presses);
        return;
    }
    const struct scene_mark *mark = camera_hit(&view->camera, x, y);
    if (mark)
        select_event(view, mark->event->at,
                     modifiers(gesture) & (GDK_CONTROL_MASK | GDK_SHIFT_MASK));
    else
        view->pointer.drag = (struct drag){DRAG_PICTURE, x, y, 0};
}

static void on_release(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    turn(view, &x, &y);
    (void)gesture;
    (void)presses;
    int row = camera_row_at(&view->camera, y);
    if (view->pointer.drag.what == DRAG_ROW && fabs(y - view->pointer.drag.y) > 8)
        arrange_drop(view, view->pointer.drag.line,
                     row < 0 ? 0 : view->stage.scene->rows[row].line);
    if (view->camera.place.far && view->pointer.drag.what == DRAG_PICTURE &&
        x >= camera_names_px(&view->camera) && fabs(x - view->pointer.pressed_px) < 4)
        far_go_in(view, x); /* it was not dragged */
    view->pointer.drag.what = DRAG_NOTHING;
    gtk_widget_queue_draw(view->canvas);
}

static void on_motion(GtkEventControllerMotion *controller, double x, double y, gpointer data)
{
    struct view *view = data;
    turn(view, &x, &y);
    (void)controller;
    double dx = view->pointer.drag.x - x, dy = view->pointer.drag.y - y;
    view->pointer.x = x;
    view->pointer.y = y;
    gtk_widget_set_cursor_from_name(view->canvas, on_border(view, x) ? "col-resize" : NULL);
    switch (view->pointer.drag.what) {
    case DRAG_PICTURE:
        view->pointer.drag.x = x;
        view->pointer.drag.y = y;
        scroll_pan(view, dx, dy);
        break;
    case DRAG_NAMES:
        view->settings.names_px = (int)CLAMP(x - CAMERA_GAP_PX, 40, 900);
        gtk_widget_queue_draw(view->canvas);
        break;
    default:
        if (x < camera_names_px(&view->camera) + 20)
            gtk_widget_queue_draw(view->canvas);
    }
}

static void on_leave(GtkEventControllerMotion *controller, gpointer data)
{
    struct view *view = data;
    (void)controller;
    view->pointer.x = view->pointer.y = -1;
    gtk_widget_queue_draw(view->canvas);
}

/* ---- what is said under it ---- */

static gboolean on_tooltip(GtkWidget *widget, int at_x, int at_y, gboolean keyboard,
                           GtkTooltip *tooltip, gpointer data)
{
    struct view *view = data;
    double x = at_x, y = at_y;
    turn(view, &x, &y);
    (void)widget;
    (void)keyboard;
    if (view->camera.place.far && view->pointer.drag.what == DRAG_NOTHING) {
        char *text = afar_say(view, x, y);
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return text != NULL;
    }
    if (view->pointer.drag.what != DRAG_NOTHING || !view->stage.scene)
        return FALSE;
    const struct scene_mark *mark = camera_hit(&view->camera, x, y);
    if (mark) {
        char *text = hover_event(view, mark->event);
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return TRUE;
    }
    const struct scene_link *link = camera_hit_link(&view->camera, x, y);
    if (link) {
        char *text =
            g_strdup_printf(link->kind == ARROW_VIA ? "Order through %s, which is not shown"
                                                    : "To %s, which is not shown",
                            book_label(the_book(view), link->line));
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return TRUE;
    }
    int row = camera_row_at(&view->camera, y);
    double names = camera_names_px(&view->camera);
    if (row >= 0 && x >= names && fabs(y - camera_y_px(&view->camera, (uint32_t)row)) < 6) {
        char *text =
            hover_stretch(view, (uint32_t)row,
                          camera_left_pt(&view->camera) + (x - names) / view->camera.place.zoom);
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return text != NULL;
    }
    if (row < 0 || x >= names)
        return FALSE;
    gtk_tooltip_set_text(tooltip,
                         x > camera_names_px(&view->camera) - CAMERA_GAP_PX
                             ? "Scroll this line; the others follow only as the order forces"
                             : view->stage.scene->rows[row].label);
    return TRUE;
}

void pointer_watch(struct view *view, GtkWidget *canvas)
{
    view->pointer.x = view->pointer.y = -1;
    gtk_widget_set_has_tooltip(canvas, TRUE);
    g_signal_connect(canvas, "query-tooltip", G_CALLBACK(on_tooltip), view);
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), view);
    gtk_widget_add_controller(canvas, scroll);
    GtkEventController *motion = gtk_event_controller_motion_new();
    g_signal_connect(motion, "motion", G_CALLBACK(on_motion), view);
    g_signal_connect(motion, "leave", G_CALLBACK(on_leave), view);
    gtk_widget_add_controller(canvas, motion);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(on_press), view);
    g_signal_connect(click, "released", G_CALLBACK(on_release), view);
    gtk_widget_add_controller(canvas, GTK_EVENT_CONTROLLER(click));
    GtkGesture *menu = gtk_gesture_click_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(menu), GDK_BUTTON_SECONDARY);
    g_signal_connect(menu, "pressed", G_CALLBACK(context_menu), view);
    gtk_widget_add_controller(canvas, GTK_EVENT_CONTROLLER(menu));
}
