#include "clients/viewer/diagram/pointer_input.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/line_groups.h"
#include "clients/viewer/diagram/context_menu.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/tooltips.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/line_slide.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/zooming.h"
#include "render/scene.h"

#include <math.h>

static GdkModifierType pointer_get_modifiers(gpointer controller)
{
    return gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
}

static gboolean on_scroll(GtkEventControllerScroll *controller, double dx, double dy, gpointer data)
{
    struct view *view = data;
    GdkModifierType state = pointer_get_modifiers(controller);
    bool fine = gtk_event_controller_scroll_get_unit(controller) == GDK_SCROLL_UNIT_SURFACE;
    double step = fine ? 1 : SCENE_COLUMN_PT * 3 * view->viewport.place.zoom;
    if (state & GDK_CONTROL_MASK)
        zoom_by(view, pow(fine ? 1.01 : 1.15, -dy), view->pointer.x, view->pointer.y);
    else if (state & GDK_SHIFT_MASK)
        scroll_pan(view, dx * step,
                   dy * (fine ? 1 : viewport_row_pt(&view->viewport) * view->viewport.place.zoom));
    else if (fine)
        viewport_vertical(&view->viewport) ? scroll_pan(view, dy, dx) : scroll_pan(view, dx, dy);
    else
        scroll_pan(view, (dx + dy) * step, 0);
    return TRUE;
}

/* Converts widget coordinates to canvas pixels along and across the lines. */
static void pointer_to_line_axes(const struct view *view, double *x, double *y)
{
    double along = (viewport_vertical(&view->viewport) ? *y : *x) / view->viewport.unit_px,
           across = (viewport_vertical(&view->viewport) ? *x : *y) / view->viewport.unit_px;
    *x = along;
    *y = across;
}

static bool on_border(const struct view *view, double x)
{
    return fabs(x - viewport_names_px(&view->viewport)) < 3;
}

/* ---- pressing and dragging ---- */

static void press_names(struct view *view, double x, double y, int presses)
{
    const struct scene_cache *stage = &view->scene_cache;
    double names = viewport_names_px(&view->viewport);
    int row = viewport_row_at(&view->viewport, y);
    if (row < 0)
        return;
    uint32_t line = stage->scene->rows[row].line;
    if (x > names - VIEWPORT_GAP_PX)
        line_slide_shift(view, line, x > names - VIEWPORT_GAP_PX / 2 ? -1 : 1);
    else if (presses == 2 && stage->window.rows[row].member_count)
        line_groups_split(view, line);
    else
        view->pointer.drag = (struct pointer_drag){DRAG_ROW, x, y, line};
}

static void on_press(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    pointer_to_line_axes(view, &x, &y);
    gtk_widget_grab_focus(view->canvas);
    view->pointer.drag.what = DRAG_NOTHING;
    if (on_border(view, x)) {
        view->pointer.drag = (struct pointer_drag){DRAG_NAMES, x, y, 0};
        return;
    }
    if (view->viewport.place.overview) {
        (void)presses;
        view->pointer.drag = (struct pointer_drag){DRAG_DIAGRAM, x, y, 0};
        view->pointer.pressed_px = x;
        return;
    }
    if (!view->scene_cache.scene)
        return;
    if (x < viewport_names_px(&view->viewport)) {
        press_names(view, x, y, presses);
        return;
    }
    const struct scene_mark *mark = viewport_hit(&view->viewport, x, y);
    if (mark)
        selection_set(view, mark->event->at,
                      pointer_get_modifiers(gesture) & (GDK_CONTROL_MASK | GDK_SHIFT_MASK));
    else
        view->pointer.drag = (struct pointer_drag){DRAG_DIAGRAM, x, y, 0};
}

static void on_release(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct view *view = data;
    pointer_to_line_axes(view, &x, &y);
    (void)gesture;
    (void)presses;
    int row = viewport_row_at(&view->viewport, y);
    if (view->pointer.drag.what == DRAG_ROW && fabs(y - view->pointer.drag.y) > 8)
        line_arrangement_move_before(view, view->pointer.drag.line,
                                     row < 0 ? 0 : view->scene_cache.scene->rows[row].line);
    if (view->viewport.place.overview && view->pointer.drag.what == DRAG_DIAGRAM &&
        x >= viewport_names_px(&view->viewport) && fabs(x - view->pointer.pressed_px) < 4)
        overview_zoom_into_marks(view, x); /* a click, not a drag */
    view->pointer.drag.what = DRAG_NOTHING;
    gtk_widget_queue_draw(view->canvas);
}

static void on_motion(GtkEventControllerMotion *controller, double x, double y, gpointer data)
{
    struct view *view = data;
    pointer_to_line_axes(view, &x, &y);
    (void)controller;
    double dx = view->pointer.drag.x - x, dy = view->pointer.drag.y - y;
    view->pointer.x = x;
    view->pointer.y = y;
    gtk_widget_set_cursor_from_name(view->canvas, on_border(view, x) ? "col-resize" : NULL);
    switch (view->pointer.drag.what) {
    case DRAG_DIAGRAM:
        view->pointer.drag.x = x;
        view->pointer.drag.y = y;
        scroll_pan(view, dx, dy);
        break;
    case DRAG_NAMES:
        view->viewer_settings.names_px = (int)CLAMP(x - VIEWPORT_GAP_PX, 40, 900);
        gtk_widget_queue_draw(view->canvas);
        break;
    default:
        if (x < viewport_names_px(&view->viewport) + 20)
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

/* ---- tooltips ---- */

static gboolean on_tooltip(GtkWidget *widget, int at_x, int at_y, gboolean keyboard,
                           GtkTooltip *tooltip, gpointer data)
{
    struct view *view = data;
    double x = at_x, y = at_y;
    pointer_to_line_axes(view, &x, &y);
    (void)widget;
    (void)keyboard;
    if (view->viewport.place.overview && view->pointer.drag.what == DRAG_NOTHING) {
        char *text = overview_overlay_describe(view, x, y);
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return text != NULL;
    }
    if (view->pointer.drag.what != DRAG_NOTHING || !view->scene_cache.scene)
        return FALSE;
    const struct scene_mark *mark = viewport_hit(&view->viewport, x, y);
    if (mark) {
        char *text = tooltip_event_text(view, mark->event);
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return TRUE;
    }
    const struct scene_link *link = viewport_hit_link(&view->viewport, x, y);
    if (link) {
        char *text = g_strdup_printf(link->kind == ARROW_VIA ? "Order via hidden line %s"
                                                             : "To hidden line %s",
                                     metadata_label(view_metadata(view), link->line));
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return TRUE;
    }
    int row = viewport_row_at(&view->viewport, y);
    double names = viewport_names_px(&view->viewport);
    if (row >= 0 && x >= names && fabs(y - viewport_y_px(&view->viewport, (uint32_t)row)) < 6) {
        char *text = tooltip_stretch_text(view, (uint32_t)row,
                                          viewport_left_pt(&view->viewport) +
                                              (x - names) / view->viewport.place.zoom);
        gtk_tooltip_set_text(tooltip, text);
        g_free(text);
        return text != NULL;
    }
    if (row < 0 || x >= names)
        return FALSE;
    gtk_tooltip_set_text(tooltip,
                         x > viewport_names_px(&view->viewport) - VIEWPORT_GAP_PX
                             ? "Slide this line; others move only where the order requires it"
                             : view->scene_cache.scene->rows[row].label);
    return TRUE;
}

void pointer_input_watch(struct view *view, GtkWidget *canvas)
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
    g_signal_connect(menu, "pressed", G_CALLBACK(context_menu_show), view);
    gtk_widget_add_controller(canvas, GTK_EVENT_CONTROLLER(menu));
}
