#include "clients/viewer/diagram/pointer_input.h"

#include "clients/metadata/event_text.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/symbols/symbolizer.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/range_input.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/zooming.h"
#include "clients/viewer/state/viewport.h"
#include "render/legend.h"
#include "render/scene.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

#include <math.h>

/* ---- context menu ---- */

static gboolean context_menu_free_popover(gpointer popover)
{
    gtk_widget_unparent(GTK_WIDGET(popover));
    return G_SOURCE_REMOVE;
}

static void context_menu_on_closed(GtkPopover *popover, gpointer data)
{
    struct view *view = data;
    gtk_widget_grab_focus(view->canvas);
    g_idle_add(context_menu_free_popover, popover); /* after its action has run */
}

struct context_menu_item {
    const char *title, *action;
    const char *key; /* which of several keys to display; NULL: the only one, or none */
};

static void context_menu_append_items(GMenu *menu, const struct context_menu_item *items,
                                      size_t count, const char *target)
{
    for (size_t i = 0; i < count; i++) {
        char *action =
            target ? g_strdup_printf("%s::%s", items[i].action, target) : g_strdup(items[i].action);
        GMenuItem *item = g_menu_item_new(items[i].title, action);
        if (items[i].key)
            g_menu_item_set_attribute(item, "accel", "s", items[i].key);
        g_menu_append_item(menu, item);
        g_object_unref(item);
        g_free(action);
    }
}

static void context_menu_add_section(GMenu *menu, const struct context_menu_item *items,
                                     size_t count, const char *target)
{
    GMenu *section = g_menu_new();
    context_menu_append_items(section, items, count, target);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
    g_object_unref(section);
}

static void context_menu_add_event(GMenu *menu, const struct event_info *e)
{
    static const struct context_menu_item partner[] = {{"Go to partner", "win.partner", "Return"}},
                                          ways[] = {{"Go to cause", "win.cause", NULL},
                                                    {"Go to effect", "win.effect", NULL}},
                                          site[] = {{"Open source", "win.editor", NULL},
                                                    {"Find events from this call site",
                                                     "win.find-site", NULL}},
                                          rest[] = {
                                              {"Add note…", "win.note", NULL},
                                              {"Find similar events", "win.find-similar", NULL},
                                              {"Hide unrelated lines", "win.only-tied", NULL},
                                              {"Debug here", "win.debug", NULL},
                                              {"Toggle breakpoint", "win.break", NULL},
                                              {"Breakpoint at call site", "win.break-place", NULL},
                                              {"Copy event id", "win.copy-id", NULL}};
    GMenu *go = g_menu_new();
    if (e->partner_count)
        context_menu_append_items(go, partner, G_N_ELEMENTS(partner), NULL);
    context_menu_append_items(go, ways, G_N_ELEMENTS(ways), NULL);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(go));
    g_object_unref(go);
    if (e->site)
        context_menu_add_section(menu, site, G_N_ELEMENTS(site), NULL);
    context_menu_add_section(menu, rest, G_N_ELEMENTS(rest), NULL);
}

static void context_menu_add_line(GMenu *menu, const struct view *view, uint32_t row)
{
    static const struct context_menu_item details[] = {{"Details", "win.line-details", NULL}},
                                          moves[] = {{"Hide line", "win.hide-line", NULL},
                                                     {"Move up", "win.line-up", NULL},
                                                     {"Move down", "win.line-down", NULL}},
                                          pin[] = {{"Pin", "win.pin-line", NULL}},
                                          unpin[] = {{"Unpin", "win.pin-line", NULL}},
                                          join[] = {{"Group with row above", "win.join-line",
                                                     NULL}},
                                          split[] = {{"Ungroup", "win.split-line", NULL}};
    char *target = g_strdup_printf("%u", view->scene_cache.scene->rows[row].line);
    GMenu *clusters = g_menu_new();
    context_menu_add_section(menu, details, G_N_ELEMENTS(details), target);
    context_menu_add_section(menu, row < view->scene_cache.pinned ? unpin : pin, 1, target);
    context_menu_add_section(menu, moves, G_N_ELEMENTS(moves), target);
    if (row > 0)
        context_menu_append_items(clusters, join, G_N_ELEMENTS(join), target);
    if (view->scene_cache.window.rows[row].member_count)
        context_menu_append_items(clusters, split, G_N_ELEMENTS(split), target);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(clusters));
    g_object_unref(clusters);
    g_free(target);
}

/* Measures again: GTK 4.8 does so before separators are styled, and cuts the last line off. */
static gboolean context_menu_fit_popover(gpointer popover)
{
    gtk_widget_queue_resize(popover);
    if (gtk_widget_get_mapped(popover))
        gtk_popover_present(popover);
    g_object_unref(popover);
    return G_SOURCE_REMOVE;
}

static void context_menu_pop_up(struct view *view, GMenu *menu, double x, double y)
{
    GdkRectangle there = {(int)x, (int)y, 1, 1};
    GtkWidget *popover = gtk_popover_menu_new_from_model(G_MENU_MODEL(menu));
    gtk_widget_set_parent(popover, view->canvas);
    gtk_popover_set_pointing_to(GTK_POPOVER(popover), &there);
    g_signal_connect(popover, "closed", G_CALLBACK(context_menu_on_closed), view);
    gtk_popover_set_has_arrow(GTK_POPOVER(popover), FALSE);
    gtk_popover_popup(GTK_POPOVER(popover));
    g_idle_add(context_menu_fit_popover, g_object_ref(popover));
}

/* Handles "pressed" of the canvas; data: the view. */
static void context_menu_show(GtkGestureClick *gesture, int presses, double x, double y,
                              gpointer data)
{
    static const struct context_menu_item all[] = {{"Show all lines", "win.show-all", NULL}};
    struct view *view = data;
    bool turned = viewport_vertical(&view->viewport), overview = view->viewport.place.overview;
    double unit = view->viewport.unit_px, along = (turned ? y : x) / unit,
           across = (turned ? x : y) / unit;
    const struct scene_mark *mark = overview ? NULL : viewport_hit(&view->viewport, along, across);
    int row = overview ? -1 : viewport_row_at(&view->viewport, across);
    GMenu *menu = g_menu_new();
    (void)gesture;
    (void)presses;
    if (mark) {
        selection_set(view, mark->event->at, false);
        context_menu_add_event(menu, mark->event);
    } else if (row >= 0) {
        context_menu_add_line(menu, view, (uint32_t)row);
    }
    if (!mark)
        context_menu_add_section(menu, all, G_N_ELEMENTS(all), NULL);
    context_menu_pop_up(view, menu, x, y);
    g_object_unref(menu);
}

/* ---- texts of tooltips, which the caller frees ---- */

static char *tooltip_duration_text(int64_t ns)
{
    char s[32];
    duration_text(s, sizeof s, ns);
    return g_strdup(s);
}

static char *tooltip_event_text(struct view *view, const struct event_info *e)
{
    const struct trace_metadata *book = view_metadata(view);
    GString *s = g_string_new(NULL);
    char *sentence = event_text(view_metadata(view), e), *time = tooltip_duration_text(e->time_ns);
    g_string_append_printf(s, "%s\nat %s", sentence, time);
    if (e->waited_ns > 0) {
        char *waited = tooltip_duration_text(e->waited_ns);
        g_string_append_printf(s, ", after waiting for %s", waited);
        g_free(waited);
    } else if (e->since_ns > 0) {
        char *since = tooltip_duration_text(e->since_ns);
        g_string_append_printf(s, ", %s after the previous event on its line", since);
        g_free(since);
    }
    if (e->thread && e->thread != e->at.line)
        g_string_append_printf(s, "\nthread %s", metadata_label(book, e->thread));
    if (e->site) {
        struct symbol_location site = symbolize(view->server_link.sites, e->process, e->site);
        g_string_append_printf(s, "\n%s %s", site.function, site.place);
    }
    const char *note = note_file_text(&view->run_notes.notes, e->at);
    if (note)
        g_string_append_printf(s, "\n⚑ %s", note);
    g_free(sentence);
    g_free(time);
    return g_string_free(s, FALSE);
}

/* Returns where the row's thread is, and what it waits for; NULL: it is on its own line. */
static char *tooltip_overview_text(struct view *view, uint32_t row, double x_pt)
{
    const struct trace_metadata *book = view_metadata(view);
    const struct scene *s = view->scene_cache.scene;
    const struct scene_segment *at = NULL;
    for (uint32_t i = 0; i < s->segment_count && !at; i++)
        if (s->segments[i].row == row && s->segments[i].from_pt <= x_pt &&
            s->segments[i].to_pt >= x_pt)
            at = &s->segments[i];
    if (!at || (at->style != STYLE_ELSEWHERE && at->style != STYLE_WAITS))
        return NULL;
    GString *text = g_string_new(s->rows[row].label);
    g_string_append_printf(text, ": %s %s", at->on ? "in" : "on another line",
                           at->on ? metadata_label(book, at->on) : "");
    if (at->waits) {
        const char *about = metadata_expand_text(book, at->waits->text, at->about);
        g_string_append_printf(text, ", %s%s%s", at->waits->text, *about ? " " : "", about);
    }
    if (at->ns >= 0) {
        char *time = tooltip_duration_text(at->ns);
        g_string_append_printf(text, " for %s", time);
        g_free(time);
    }
    return g_string_free(text, FALSE);
}

/* Describes a line between two marks; NULL: nothing of interest. */
static char *tooltip_stretch_text(struct view *view, uint32_t row, double x_pt)
{
    const struct scene *s = view->scene_cache.scene;
    char *overview = tooltip_overview_text(view, row, x_pt);
    if (overview)
        return overview;
    const struct scene_mark *before = NULL, *after = NULL;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        if (m->row != row || m->state == EVENT_PENDING)
            continue;
        if (m->x_pt <= x_pt)
            before = m;
        else if (!after)
            after = m;
    }
    struct occupants in = before ? before->event->in : view->scene_cache.window.rows[row].in;
    const char *what = in.active    ? NULL
                       : in.away    ? legend_style_words[STYLE_THIN]
                       : in.blocked ? legend_style_words[STYLE_DASHED]
                                    : NULL;
    if (!what || !after || after->event->since_ns < 0)
        return what ? g_strdup_printf("%s: %s", s->rows[row].label, what) : NULL;
    char *time = tooltip_duration_text(after->event->since_ns);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s: %s, for %s", s->rows[row].label, what, time);
    if (after->event->waited_ns > 0 && after->event->waited_ns != after->event->since_ns) {
        char *waited = tooltip_duration_text(after->event->waited_ns);
        g_string_append_printf(text, "\n%s had been blocked for %s",
                               metadata_label(view_metadata(view), after->event->thread), waited);
        g_free(waited);
    }
    g_free(time);
    return g_string_free(text, FALSE);
}

/* ---- wheel and position ---- */

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
        scroll_line(view, line, x > names - VIEWPORT_GAP_PX / 2 ? -1 : 1);
    else if (presses == 2 && stage->window.rows[row].member_count)
        line_groups_split(view, line);
    else
        view->pointer.drag = (struct pointer_drag){DRAG_ROW, x, y, line};
}

/* Begins to drag a range: on the ruler, at its ends, and with Shift on rows, except on marks. */
static bool pointer_press_range(struct view *view, double x, double y, GdkModifierType state)
{
    bool rows = state & GDK_SHIFT_MASK &&
                (view->viewport.place.overview || !viewport_hit(&view->viewport, x, y));
    if (!range_input_press(view, x, y, rows))
        return false;
    view->pointer.drag = (struct pointer_drag){DRAG_RANGE, x, y, 0};
    return true;
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
    if (pointer_press_range(view, x, y, pointer_get_modifiers(gesture)))
        return;
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
    (void)presses;
    if (view->pointer.drag.what == DRAG_RANGE) {
        view->pointer.drag.what = DRAG_NOTHING;
        range_input_release(view, x, y,
                            pointer_get_modifiers(gesture) & (GDK_CONTROL_MASK | GDK_SHIFT_MASK));
        return;
    }
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

/* Returns the name of the pointer's shape; NULL: the default. */
static const char *pointer_cursor_name(struct view *view, double x, double y)
{
    enum range_input_place at = range_input_at(view, x, y);
    bool turned = viewport_vertical(&view->viewport);
    return on_border(view, x) || at == RANGE_INPUT_END ? turned ? "row-resize" : "col-resize"
           : at == RANGE_INPUT_RULER                   ? "crosshair"
                                                       : NULL;
}

static void on_motion(GtkEventControllerMotion *controller, double x, double y, gpointer data)
{
    struct view *view = data;
    pointer_to_line_axes(view, &x, &y);
    (void)controller;
    double dx = view->pointer.drag.x - x, dy = view->pointer.drag.y - y;
    view->pointer.x = x;
    view->pointer.y = y;
    gtk_widget_set_cursor_from_name(view->canvas, pointer_cursor_name(view, x, y));
    switch (view->pointer.drag.what) {
    case DRAG_DIAGRAM:
        view->pointer.drag.x = x;
        view->pointer.drag.y = y;
        scroll_pan(view, dx, dy);
        break;
    case DRAG_RANGE:
        range_input_drag(view, x, y);
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
    if (view->pointer.drag.what == DRAG_NOTHING && range_input_at(view, x, y)) {
        gtk_tooltip_set_text(tooltip, range_input_at(view, x, y) == RANGE_INPUT_END
                                          ? "Drag to move this end of the range"
                                          : "Drag to select a range of time; click to place a "
                                            "cursor, Ctrl+click to measure from it");
        return TRUE;
    }
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
