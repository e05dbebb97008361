/* The call graph in the analysis pane: boxes and arrows; boxes can be selected by click or arrow
 * keys. */
#include "clients/viewer/analysis/calls_tab.h"

#include "clients/connection/table_tree.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/viewer_settings.h"
#include "render/call_graph_drawing.h"
#include "render/scene_paint.h"

#define SCALE 1.2 /* pixels per point */

struct callgraph_view {
    struct view *view;
    void (*selected)(struct view *view, int row);
    GtkWidget *area, *scrolled;
    struct call_graph calls;
    struct call_graph_drawing *graph; /* NULL: nothing to show, or the layout is outdated */
    bool dark, grey; /* theme of the layout */
    uint32_t node; /* the selected one, or CALL_GRAPH_DRAWING_NONE */
};

/* ---- drawing ---- */

static void lay_out(struct callgraph_view *g)
{
    struct paint_theme theme = viewer_settings_theme(&g->view->viewer_settings);
    double width, height;
    if (g->graph && theme.dark == g->dark && theme.grey == g->grey)
        return;
    call_graph_drawing_free(g->graph);
    g->dark = theme.dark;
    g->grey = theme.grey;
    g->graph = call_graph_drawing_new(&g->calls, "Call graph", g->grey, g->dark);
    call_graph_drawing_size(g->graph, &width, &height);
    gtk_drawing_area_set_content_width(GTK_DRAWING_AREA(g->area), (int)(width * SCALE));
    gtk_drawing_area_set_content_height(GTK_DRAWING_AREA(g->area), (int)(height * SCALE));
}

static void callgraph_draw_area(GtkDrawingArea *area, cairo_t *cr, int width, int height,
                                gpointer data)
{
    struct callgraph_view *g = data;
    struct paint_theme theme = viewer_settings_theme(&g->view->viewer_settings);
    (void)area;
    (void)width;
    (void)height;
    painter_fill_background(cr, &theme);
    if (!g->calls.count || !g->graph)
        return;
    cairo_scale(cr, SCALE, SCALE);
    call_graph_paint(g->graph, cr, g->node);
}

/* ---- selection ---- */

static void callgraph_select_node(struct callgraph_view *g, uint32_t node)
{
    bool valid = node < g->calls.count;
    char *text =
        valid ? g_strdup_printf("%s: %s", g->calls.nodes[node].name, g->calls.nodes[node].amount)
              : g_strdup("Call graph: no function selected");
    g->node = valid ? node : CALL_GRAPH_DRAWING_NONE;
    accessible_name_set(g->area, text);
    g_free(text);
    gtk_widget_queue_draw(g->area);
    g->selected(g->view, valid ? (int)g->calls.nodes[node].row : -1);
}

void callgraph_view_select(struct callgraph_view *g, int row)
{
    g->node = CALL_GRAPH_DRAWING_NONE;
    for (uint32_t i = 0; row >= 0 && i < g->calls.count; i++)
        if (g->calls.nodes[i].row == (uint32_t)row)
            g->node = i;
    gtk_widget_queue_draw(g->area);
}

static void on_click(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct callgraph_view *g = data;
    (void)gesture;
    (void)presses;
    gtk_widget_grab_focus(g->area);
    if (g->graph)
        callgraph_select_node(g, call_graph_drawing_at(g->graph, x / SCALE, y / SCALE));
}

/* Returns the first callee for Down, the first caller for Up, the neighbor for Left and Right. */
static uint32_t callgraph_neighbor(const struct callgraph_view *g, guint key)
{
    if (g->node >= g->calls.count)
        return 0;
    if (key == GDK_KEY_Left || key == GDK_KEY_Right)
        return (g->node + (key == GDK_KEY_Right ? 1 : g->calls.count - 1)) % g->calls.count;
    for (uint32_t i = 0; i < g->calls.arc_count; i++) {
        const struct call_graph_arc *arc = &g->calls.arcs[i];
        if (arc->from == arc->to || (key == GDK_KEY_Down ? arc->from : arc->to) != g->node)
            continue;
        return key == GDK_KEY_Down ? arc->to : arc->from;
    }
    return g->node;
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       gpointer data)
{
    struct callgraph_view *g = data;
    (void)keys;
    (void)code;
    bool arrow =
        key == GDK_KEY_Left || key == GDK_KEY_Right || key == GDK_KEY_Up || key == GDK_KEY_Down;
    if (!arrow || !g->calls.count || state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SHIFT_MASK))
        return FALSE;
    callgraph_select_node(g, callgraph_neighbor(g, key));
    return TRUE;
}

static gboolean on_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip,
                           gpointer data)
{
    struct callgraph_view *g = data;
    (void)widget;
    uint32_t node = keyboard || !g->graph ? CALL_GRAPH_DRAWING_NONE
                                          : call_graph_drawing_at(g->graph, x / SCALE, y / SCALE);
    if (node >= g->calls.count)
        return FALSE;
    char *text = g_strdup_printf("%s: %s", g->calls.nodes[node].name, g->calls.nodes[node].amount);
    gtk_tooltip_set_text(tooltip, text);
    g_free(text);
    return TRUE;
}

/* ---- contents ---- */

void callgraph_view_show(struct callgraph_view *g, const struct result_table *table)
{
    struct table_names names = {view_metadata(g->view), g->view->server_link.sites};
    char *selected = g->node < g->calls.count ? g_strdup(g->calls.nodes[g->node].name) : NULL;
    call_graph_drawing_free(g->graph);
    g->graph = NULL;
    table_tree_callgraph_free(&g->calls);
    table_tree_callgraph_make(&g->calls, &names, table);
    g->node = CALL_GRAPH_DRAWING_NONE;
    for (uint32_t i = 0; selected && i < g->calls.count; i++)
        if (g_strcmp0(g->calls.nodes[i].name, selected) == 0)
            g->node = i;
    g_free(selected);
    lay_out(g);
    gtk_widget_queue_draw(g->area);
}

static void free_graphed(gpointer data)
{
    struct callgraph_view *g = data;
    call_graph_drawing_free(g->graph);
    table_tree_callgraph_free(&g->calls);
    g_free(g);
}

static void callgraph_connect_area(struct callgraph_view *g)
{
    GtkGesture *click = gtk_gesture_click_new();
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(g->area), callgraph_draw_area, g, NULL);
    gtk_widget_set_has_tooltip(g->area, TRUE);
    gtk_widget_set_focusable(g->area, TRUE);
    g_object_set_data(G_OBJECT(g->area), "keys", g->area); /* it handles keys (focus_return.c) */
    g_signal_connect(g->area, "query-tooltip", G_CALLBACK(on_tooltip), g);
    g_signal_connect(click, "pressed", G_CALLBACK(on_click), g);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), g);
    gtk_widget_add_controller(g->area, GTK_EVENT_CONTROLLER(click));
    gtk_widget_add_controller(g->area, keys);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(g->scrolled), g->area);
    gtk_widget_set_vexpand(g->scrolled, TRUE);
}

struct callgraph_view *callgraph_view_new(struct view *view,
                                          void (*selected)(struct view *view, int row))
{
    struct callgraph_view *g = g_new0(struct callgraph_view, 1);
    g->view = view;
    g->selected = selected;
    g->node = CALL_GRAPH_DRAWING_NONE;
    g->area = gtk_drawing_area_new();
    g->scrolled = gtk_scrolled_window_new();
    g_object_ref_sink(g->scrolled);
    callgraph_connect_area(g);
    accessible_name_set(g->area, "Call graph: no function selected");
    g_object_set_data_full(G_OBJECT(g->scrolled), "graphed", g, free_graphed);
    return g;
}

GtkWidget *callgraph_view_widget(struct callgraph_view *g) { return g->scrolled; }

void callgraph_view_print(struct callgraph_view *g, FILE *f)
{
    for (uint32_t i = 0; i < g->calls.count; i++)
        fprintf(f, "%s%s\t%s\n", i == g->node ? "*" : "", g->calls.nodes[i].name,
                g->calls.nodes[i].amount);
    for (uint32_t i = 0; i < g->calls.arc_count; i++) {
        const struct call_graph_arc *arc = &g->calls.arcs[i];
        fprintf(f, "arrow\t%s\t%s\t%s\n", g->calls.nodes[arc->from].name,
                g->calls.nodes[arc->to].name, arc->calls);
    }
}

bool callgraph_view_write(struct callgraph_view *g, const struct document_options *options,
                          const char *file, const char **why)
{
    return call_graph_drawing_write(&g->calls, options, file, why);
}
