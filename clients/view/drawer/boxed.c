#include "clients/view/drawer/boxed.h"

#include "clients/source/boxing.h"
#include "clients/view/drawer/boxfind.h"
#include "clients/view/drawer/boxsaid.h"
#include "clients/view/parts/settings.h"
#include "clients/view/picture/view.h"
#include "render/icicle.h"
#include "render/paint.h"

#include <stdlib.h>
#include <string.h>

#define SCALE 1.2 /* pixels to a point */

struct boxed {
    struct view *view;
    const struct boxed_ears *ears;
    GtkWidget *area, *scrolled;
    const struct shown_table *table;
    struct boxes boxes;
    uint32_t top, selected, pointed; /* nodes; top: that is looked at */
    struct boxes_places places;
    double placed_pt; /* how wide the places are; 0: not known yet */
    guint sizing; /* its height is asked for then */
    char *text; /* looked for */
    bool *found; /* by node; NULL: nothing is looked for */
};

/* ---- which nodes ---- */

static bool is_node(const struct boxed *b, uint32_t node) { return node < b->boxes.count; }

/* ---- where they are ---- */

static double width_pt(const struct boxed *b)
{
    return MAX(gtk_widget_get_width(b->area), 50) / SCALE;
}

/* Not while it is being drawn. */
static gboolean on_size(gpointer data)
{
    struct boxed *b = data;
    double high = (ICICLE_RULER_PT + b->places.rows * ICICLE_ROW_PT + 4) * SCALE;
    b->sizing = 0;
    gtk_widget_set_size_request(b->area, -1, (int)high);
    return G_SOURCE_REMOVE;
}

static void place(struct boxed *b)
{
    double width = width_pt(b);
    if (b->placed_pt == width)
        return;
    boxes_places_free(&b->places);
    icicle_place(&b->boxes, b->top, width, &b->places);
    b->placed_pt = width;
    if (!b->sizing)
        b->sizing = g_idle_add(on_size, b);
}

static struct icicle_view seen(struct boxed *b)
{
    struct paint_theme theme = settings_theme(&b->view->settings);
    return (struct icicle_view){.width_pt = b->placed_pt,
                                .selected = b->selected,
                                .pointed = b->pointed,
                                .found = b->found,
                                .grey = theme.grey,
                                .dark = theme.dark};
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    struct boxed *b = data;
    struct paint_theme theme = settings_theme(&b->view->settings);
    double x0, x1;
    (void)area;
    (void)width;
    (void)height;
    paint_background(cr, &theme);
    if (!b->boxes.count)
        return;
    place(b);
    cairo_scale(cr, SCALE, SCALE);
    struct icicle_view view = seen(b);
    cairo_clip_extents(cr, &x0, &view.from_pt, &x1, &view.to_pt);
    icicle_paint(cr, &b->boxes, &b->places, &view);
}

static void changed(struct boxed *b, bool placing)
{
    if (placing)
        b->placed_pt = 0;
    if (b->boxes.count)
        place(b);
    gtk_widget_queue_draw(b->area);
}

/* ---- what is said of one ---- */

static char *say(struct boxed *b, uint32_t node)
{
    struct table_names names = {the_book(b->view), b->view->link.sites};
    return boxsaid_node(&b->boxes, node, b->table, &names);
}

static gboolean on_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip,
                           gpointer data)
{
    struct boxed *b = data;
    struct icicle_view view = seen(b);
    (void)widget;
    if (keyboard || !b->boxes.count)
        return FALSE;
    const struct boxes_placed *at = icicle_at(&b->boxes, &b->places, &view, x / SCALE, y / SCALE);
    char *said = !at            ? NULL
                 : !at->smaller ? say(b, at->node)
                                : g_strdup_printf("%u smaller ones in %s", at->smaller,
                                                  b->boxes.nodes[at->node].name);
    if (said)
        gtk_tooltip_set_text(tooltip, said);
    g_free(said);
    return at != NULL;
}

/* ---- choosing ---- */

static void tell(struct boxed *b)
{
    bool is = is_node(b, b->selected);
    char *said = is ? say(b, b->selected) : g_strdup("Calls as boxes: none is selected");
    gtk_accessible_update_property(GTK_ACCESSIBLE(b->area), GTK_ACCESSIBLE_PROPERTY_LABEL, said,
                                   -1);
    g_free(said);
    uint32_t row = is ? b->boxes.nodes[b->selected].row : UINT32_MAX;
    b->ears->selected(b->view, row == UINT32_MAX ? -1 : (int)row);
}

static void choose(struct boxed *b, uint32_t node)
{
    if (!is_node(b, node))
        return;
    b->selected = node;
    changed(b, false);
    tell(b);
}

static void go_into(struct boxed *b, uint32_t node)
{
    if (is_node(b, node) && node != b->top) {
        b->top = node;
        changed(b, true);
    }
}

void boxed_enter(struct boxed *b) { go_into(b, is_node(b, b->selected) ? b->selected : 0); }

bool boxed_up(struct boxed *b)
{
    if (!b->top || !is_node(b, b->top))
        return false;
    go_into(b, b->boxes.nodes[b->top].parent);
    return true;
}

static bool is_drawn(const struct boxed *b, uint32_t node, uint32_t top)
{
    const struct boxes_node *nodes = b->boxes.nodes;
    return node >= top && node < nodes[top].end && nodes[node].size &&
           nodes[node].size >= icicle_least(&b->boxes, top, width_pt(b));
}

/* What is too narrow to be seen is looked at from nearer. */
static void show_node(struct boxed *b, uint32_t node)
{
    uint32_t parent = b->boxes.nodes[node].parent;
    if (is_drawn(b, node, b->top))
        return;
    go_into(b, is_drawn(b, node, 0)                                ? 0
               : parent != UINT32_MAX && is_drawn(b, node, parent) ? parent
                                                                   : node);
}

void boxed_select(struct boxed *b, int row)
{
    b->selected = ICICLE_NONE;
    for (uint32_t i = 0; row >= 0 && i < b->boxes.count; i++)
        if (b->boxes.nodes[i].row == (uint32_t)row)
            b->selected = i;
    if (is_node(b, b->selected))
        show_node(b, b->selected);
    changed(b, false);
}

/* ---- mouse and keys ---- */

static void on_click(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct boxed *b = data;
    struct icicle_view view = seen(b);
    (void)gesture;
    (void)presses;
    gtk_widget_grab_focus(b->area);
    const struct boxes_placed *at =
        b->boxes.count ? icicle_at(&b->boxes, &b->places, &view, x / SCALE, y / SCALE) : NULL;
    if (!at)
        return;
    uint32_t node = at->node; /* the places are others then */
    go_into(b, node);
    choose(b, node);
}

static void on_motion(GtkEventControllerMotion *motion, double x, double y, gpointer data)
{
    struct boxed *b = data;
    struct icicle_view view = seen(b);
    (void)motion;
    const struct boxes_placed *at =
        b->boxes.count ? icicle_at(&b->boxes, &b->places, &view, x / SCALE, y / SCALE) : NULL;
    uint32_t node = at && !at->smaller ? at->node : ICICLE_NONE;
    if (node == b->pointed)
        return;
    b->pointed = node;
    gtk_widget_queue_draw(b->area);
}

static uint32_t towards(const struct boxed *b, guint key)
{
    uint32_t node = is_node(b, b->selected) ? b->selected : ICICLE_NONE;
    if (node == ICICLE_NONE)
        return b->top;
    switch (key) {
    case GDK_KEY_Left:
        return boxfind_beside(&b->boxes, node, -1);
    case GDK_KEY_Right:
        return boxfind_beside(&b->boxes, node, 1);
    case GDK_KEY_Up:
        return b->boxes.nodes[node].parent;
    default:
        return b->boxes.nodes[node].end > node + 1 ? node + 1 : ICICLE_NONE;
    }
}

static void step(struct boxed *b, guint key)
{
    uint32_t node = towards(b, key);
    if (!is_node(b, node))
        return;
    show_node(b, node);
    choose(b, node);
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       gpointer data)
{
    struct boxed *b = data;
    (void)keys;
    (void)code;
    if (!b->boxes.count || state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SHIFT_MASK))
        return FALSE;
    switch (key) {
    case GDK_KEY_Left:
    case GDK_KEY_Right:
    case GDK_KEY_Up:
    case GDK_KEY_Down:
        step(b, key);
        return TRUE;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
        boxed_enter(b);
        return TRUE;
    case GDK_KEY_Home:
        go_into(b, 0);
        return TRUE;
    case GDK_KEY_BackSpace:
        boxed_up(b);
        return TRUE;
    case GDK_KEY_Escape:
        return boxed_up(b);
    default:
        return FALSE;
    }
}

/* ---- showing ---- */

static void find(struct boxed *b)
{
    g_free(b->found);
    b->found = b->text ? boxfind_text(&b->boxes, b->text) : NULL;
}

void boxed_find(struct boxed *b, const char *text)
{
    g_free(b->text);
    b->text = g_strdup(text);
    find(b);
    gtk_widget_queue_draw(b->area);
}

void boxed_show(struct boxed *b, const struct shown_table *table)
{
    struct table_names names = {the_book(b->view), b->view->link.sites};
    GPtrArray *top = boxfind_names(&b->boxes, b->top),
              *selected = boxfind_names(&b->boxes, b->selected);
    bool had = is_node(b, b->selected);
    uint32_t column = boxing_column(table, NULL);
    boxes_free(&b->boxes);
    b->table = table;
    b->pointed = ICICLE_NONE;
    if (column < table->column_count)
        boxing_make(&b->boxes, &names, table, column);
    b->top = boxfind_node(&b->boxes, top, false);
    b->selected = had ? boxfind_node(&b->boxes, selected, true) : ICICLE_NONE;
    g_ptr_array_unref(top);
    g_ptr_array_unref(selected);
    find(b);
    changed(b, true);
}

static void free_boxed(gpointer data)
{
    struct boxed *b = data;
    if (b->sizing)
        g_source_remove(b->sizing);
    boxes_places_free(&b->places);
    boxes_free(&b->boxes);
    g_free(b->text);
    g_free(b->found);
    g_free(b);
}

static void build(struct boxed *b)
{
    GtkGesture *click = gtk_gesture_click_new();
    GtkEventController *keys = gtk_event_controller_key_new(),
                       *motion = gtk_event_controller_motion_new();
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(b->area), draw, b, NULL);
    gtk_widget_set_has_tooltip(b->area, TRUE);
    gtk_widget_set_focusable(b->area, TRUE);
    g_object_set_data(G_OBJECT(b->area), "keys", b->area); /* it has a use for them */
    g_signal_connect(b->area, "query-tooltip", G_CALLBACK(on_tooltip), b);
    g_signal_connect(click, "pressed", G_CALLBACK(on_click), b);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), b);
    g_signal_connect(motion, "motion", G_CALLBACK(on_motion), b);
    gtk_widget_add_controller(b->area, GTK_EVENT_CONTROLLER(click));
    gtk_widget_add_controller(b->area, keys);
    gtk_widget_add_controller(b->area, motion);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(b->scrolled), b->area);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(b->scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_widget_set_vexpand(b->scrolled, TRUE);
}

struct boxed *boxed_new(struct view *view, const struct boxed_ears *ears)
{
    struct boxed *b = g_new0(struct boxed, 1);
    b->view = view;
    b->ears = ears;
    b->selected = b->pointed = ICICLE_NONE;
    b->area = gtk_drawing_area_new();
    b->scrolled = gtk_scrolled_window_new();
    g_object_ref_sink(b->scrolled);
    build(b);
    gtk_accessible_update_property(GTK_ACCESSIBLE(b->area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Calls as boxes: none is selected", -1);
    g_object_set_data_full(G_OBJECT(b->scrolled), "boxed", b, free_boxed);
    return b;
}

GtkWidget *boxed_widget(struct boxed *b) { return b->scrolled; }

void boxed_print(struct boxed *b, FILE *f)
{
    changed(b, true);
    boxsaid_print(&b->boxes, &b->places, b->top, b->selected, b->found, f);
}

const char *boxed_write(struct boxed *b, const struct page_options *options, const char *file)
{
    return icicle_write(&b->boxes, b->top, options, file);
}
