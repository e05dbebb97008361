/* The icicle chart of calls in the analysis pane: boxes can be pointed at, selected and entered.
 *
 * Click: selects a box and enters it; Backspace or Escape: up; arrows: to the box above, below,
 * beside; Enter: into the selected one; Home: to the root. Selection and position are kept if the
 * next table has them, too. */
#include "clients/viewer/analysis/calls_tab.h"

#include "clients/connection/result_table.h"
#include "clients/connection/table_tree.h"
#include "clients/metadata/icicle_layout.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/viewer_settings.h"
#include "render/icicle_drawing.h"
#include "render/scene_paint.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding boxes: by path, by neighborhood, by text ---- */

/* Returns the names of a box and its ancestors, from the top, without the root; empty for none. The
 * caller frees it. */
static GPtrArray *icicle_search_path_names(const struct icicle_layout *b, uint32_t node)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (uint32_t i = node; node < b->count && i; i = b->nodes[i].parent)
        g_ptr_array_insert(names, 0, g_strdup(b->nodes[i].name));
    return names;
}

static uint32_t icicle_search_child_called(const struct icicle_layout *b, uint32_t node,
                                           const char *name)
{
    for (uint32_t i = node + 1; i < b->nodes[node].end; i = b->nodes[i].end)
        if (strcmp(b->nodes[i].name, name) == 0)
            return i;
    return ICICLE_NONE;
}

/* Returns the box with that path; if there is none, and `exact` is false, the last existing one
 * along the path. */
static uint32_t icicle_search_find_node(const struct icicle_layout *b, GPtrArray *names, bool exact)
{
    uint32_t node = 0;
    for (guint i = 0; b->count && i < names->len; i++) {
        uint32_t child = icicle_search_child_called(b, node, names->pdata[i]);
        if (child == ICICLE_NONE)
            return exact ? ICICLE_NONE : node;
        node = child;
    }
    return b->count || !exact ? node : ICICLE_NONE;
}

/* Returns the previous (direction -1) or next (1) box with the same parent. */
static uint32_t icicle_search_sibling(const struct icicle_layout *b, uint32_t node, int direction)
{
    uint32_t parent = b->nodes[node].parent, before = ICICLE_NONE;
    if (parent == UINT32_MAX)
        return ICICLE_NONE;
    for (uint32_t i = parent + 1; i < b->nodes[parent].end; i = b->nodes[i].end) {
        if (direction < 0 && i == node)
            return before;
        if (direction > 0 && before == node)
            return i;
        before = i;
    }
    return ICICLE_NONE;
}

/* Returns, by node, whether its name or that of an ancestor contains the text, ignoring case; NULL:
 * no text. Free with g_free(). */
static bool *icicle_search_match_text(const struct icicle_layout *b, const char *text)
{
    if (!*text || !b->count)
        return NULL;
    char *folded = g_utf8_casefold(text, -1);
    bool *found = g_new0(bool, b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        char *name = g_utf8_casefold(b->nodes[i].name, -1);
        uint32_t parent = b->nodes[i].parent;
        found[i] = strstr(name, folded) != NULL || (parent != UINT32_MAX && found[parent]);
        g_free(name);
    }
    g_free(folded);
    return found;
}

/* ---- descriptions of boxes, for tooltips, assistive technologies and tests ---- */

static void icicle_tooltip_add_figure(GString *s, const struct result_table *t,
                                      const struct table_names *names, uint32_t row,
                                      const char *name, const char *before, const char *after)
{
    uint32_t column = result_table_find_column(t, name);
    const struct table_cell *cell =
        column < t->column_count ? &result_table_cells(t, row)[column] : NULL;
    if (!cell || cell->is == CELL_NULL)
        return;
    char *text = result_table_cell_text(names, &t->columns[column], cell);
    g_string_append_printf(s, "%s%s%s", before, text, after);
    free(text);
}

/* Returns "main > serve > parse: 12 calls, self 3.100 ms, total 4.200 ms, 12.3 %" in new memory. */
static char *icicle_tooltip_text(const struct icicle_layout *b, uint32_t node,
                                 const struct result_table *t, const struct table_names *names)
{
    uint32_t row = b->nodes[node].row;
    char *path = icicle_layout_path(b, node);
    GString *s = g_string_new(path);
    g_string_append(s, ": ");
    free(path);
    if (row >= t->row_count) {
        g_string_append(s, b->nodes[node].amount);
        return g_string_free(s, FALSE);
    }
    icicle_tooltip_add_figure(s, t, names, row, "calls", "", " calls");
    icicle_tooltip_add_figure(s, t, names, row, "self_ns", ", self ", " ms");
    icicle_tooltip_add_figure(s, t, names, row, "total_ns", ", total ", " ms");
    icicle_tooltip_add_figure(s, t, names, row, "total_share", ", ", "");
    icicle_tooltip_add_figure(s, t, names, row, "flags", " ", "");
    return g_strchomp(g_string_free(s, FALSE));
}

/* As icicle_view_print. */
static void icicle_tooltip_print(const struct icicle_layout *b, const struct icicle_boxes *places,
                                 uint32_t top, uint32_t selected, const bool *found, FILE *f)
{
    int64_t all = b->count ? b->nodes[top].size : 0;
    for (uint32_t i = 0; all && i < places->count; i++) {
        const struct icicle_box *p = &places->items[i];
        char *path = icicle_layout_path(b, p->node);
        fprintf(f, "%s%u\t%.0f\t%s", p->node == selected && !p->smaller ? "*" : "", p->depth,
                1000 * (double)p->size / (double)all, path);
        if (p->smaller)
            fprintf(f, " (smaller: %u)\n", p->smaller);
        else
            fprintf(f, "\t%s%s\n", b->nodes[p->node].amount,
                    found && !found[p->node] ? "\tback" : "");
        free(path);
    }
}

#define SCALE 1.2 /* pixels per point */

struct icicle_widget {
    struct view *view;
    const struct icicle_callbacks *ears;
    GtkWidget *area, *scrolled;
    const struct result_table *table;
    struct icicle_layout boxes;
    uint32_t top, selected, pointed; /* nodes; top: the one zoomed into */
    struct icicle_boxes places;
    double placed_pt; /* width of the layout; 0: not known yet */
    guint sizing; /* when idle, the height is requested */
    char *text; /* of the search */
    bool *found; /* by node; NULL: no search */
};

/* ---- nodes ---- */

static bool is_node(const struct icicle_widget *b, uint32_t node) { return node < b->boxes.count; }

/* ---- layout ---- */

static double width_pt(const struct icicle_widget *b)
{
    return MAX(gtk_widget_get_width(b->area), 50) / SCALE;
}

/* Requests the height when idle, not during drawing. */
static gboolean on_size(gpointer data)
{
    struct icicle_widget *b = data;
    double high = (ICICLE_RULER_PT + b->places.rows * ICICLE_ROW_PT + 4) * SCALE;
    b->sizing = 0;
    gtk_widget_set_size_request(b->area, -1, (int)high);
    return G_SOURCE_REMOVE;
}

static void icicle_layout_boxes(struct icicle_widget *b)
{
    double width = width_pt(b);
    if (b->placed_pt == width)
        return;
    icicle_layout_places_free(&b->places);
    icicle_drawing_place(&b->boxes, b->top, width, &b->places);
    b->placed_pt = width;
    if (!b->sizing)
        b->sizing = g_idle_add(on_size, b);
}

static struct icicle_drawing_view icicle_paint_state(struct icicle_widget *b)
{
    struct paint_theme theme = viewer_settings_theme(&b->view->viewer_settings);
    return (struct icicle_drawing_view){.width_pt = b->placed_pt,
                                        .selected = b->selected,
                                        .pointed = b->pointed,
                                        .found = b->found,
                                        .grey = theme.grey,
                                        .dark = theme.dark};
}

static void icicle_draw_area(GtkDrawingArea *area, cairo_t *cr, int width, int height,
                             gpointer data)
{
    struct icicle_widget *b = data;
    struct paint_theme theme = viewer_settings_theme(&b->view->viewer_settings);
    double x0, x1;
    (void)area;
    (void)width;
    (void)height;
    painter_fill_background(cr, &theme);
    if (!b->boxes.count)
        return;
    icicle_layout_boxes(b);
    cairo_scale(cr, SCALE, SCALE);
    struct icicle_drawing_view view = icicle_paint_state(b);
    cairo_clip_extents(cr, &x0, &view.from_pt, &x1, &view.to_pt);
    icicle_drawing_paint(cr, &b->boxes, &b->places, &view);
}

static void icicle_redraw(struct icicle_widget *b, bool placing)
{
    if (placing)
        b->placed_pt = 0;
    if (b->boxes.count)
        icicle_layout_boxes(b);
    gtk_widget_queue_draw(b->area);
}

/* ---- text of a node ---- */

static char *icicle_node_text(struct icicle_widget *b, uint32_t node)
{
    struct table_names names = {view_metadata(b->view), b->view->server_link.sites};
    return icicle_tooltip_text(&b->boxes, node, b->table, &names);
}

static gboolean on_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip,
                           gpointer data)
{
    struct icicle_widget *b = data;
    struct icicle_drawing_view view = icicle_paint_state(b);
    (void)widget;
    if (keyboard || !b->boxes.count)
        return FALSE;
    const struct icicle_box *at =
        icicle_drawing_at(&b->boxes, &b->places, &view, x / SCALE, y / SCALE);
    char *sentence = !at            ? NULL
                     : !at->smaller ? icicle_node_text(b, at->node)
                                    : g_strdup_printf("%u smaller functions in %s", at->smaller,
                                                      b->boxes.nodes[at->node].name);
    if (sentence)
        gtk_tooltip_set_text(tooltip, sentence);
    g_free(sentence);
    return at != NULL;
}

/* ---- selection ---- */

static void icicle_report_selection(struct icicle_widget *b)
{
    bool is = is_node(b, b->selected);
    char *sentence =
        is ? icicle_node_text(b, b->selected) : g_strdup("Icicle graph: no function selected");
    accessible_name_set(b->area, sentence);
    g_free(sentence);
    uint32_t row = is ? b->boxes.nodes[b->selected].row : UINT32_MAX;
    b->ears->selected(b->view, row == UINT32_MAX ? -1 : (int)row);
}

static void icicle_select_node(struct icicle_widget *b, uint32_t node)
{
    if (!is_node(b, node))
        return;
    b->selected = node;
    icicle_redraw(b, false);
    icicle_report_selection(b);
}

static void icicle_zoom_into(struct icicle_widget *b, uint32_t node)
{
    if (is_node(b, node) && node != b->top) {
        b->top = node;
        icicle_redraw(b, true);
    }
}

void icicle_view_enter(struct icicle_widget *b)
{
    icicle_zoom_into(b, is_node(b, b->selected) ? b->selected : 0);
}

/* Returns false if the root is already shown. */
static bool icicle_view_go_up(struct icicle_widget *b)
{
    if (!b->top || !is_node(b, b->top))
        return false;
    icicle_zoom_into(b, b->boxes.nodes[b->top].parent);
    return true;
}

static bool is_drawn(const struct icicle_widget *b, uint32_t node, uint32_t top)
{
    const struct icicle_node *nodes = b->boxes.nodes;
    return node >= top && node < nodes[top].end && nodes[node].size &&
           nodes[node].size >= icicle_drawing_min_share(&b->boxes, top, width_pt(b));
}

/* Zooms such that the node is wide enough to be drawn. */
static void show_node(struct icicle_widget *b, uint32_t node)
{
    uint32_t parent = b->boxes.nodes[node].parent;
    if (is_drawn(b, node, b->top))
        return;
    icicle_zoom_into(b, is_drawn(b, node, 0)                                ? 0
                        : parent != UINT32_MAX && is_drawn(b, node, parent) ? parent
                                                                            : node);
}

void icicle_view_select(struct icicle_widget *b, int row)
{
    b->selected = ICICLE_NONE;
    for (uint32_t i = 0; row >= 0 && i < b->boxes.count; i++)
        if (b->boxes.nodes[i].row == (uint32_t)row)
            b->selected = i;
    if (is_node(b, b->selected))
        show_node(b, b->selected);
    icicle_redraw(b, false);
}

/* ---- mouse and keys ---- */

static void on_click(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct icicle_widget *b = data;
    struct icicle_drawing_view view = icicle_paint_state(b);
    (void)gesture;
    (void)presses;
    gtk_widget_grab_focus(b->area);
    const struct icicle_box *at =
        b->boxes.count ? icicle_drawing_at(&b->boxes, &b->places, &view, x / SCALE, y / SCALE)
                       : NULL;
    if (!at)
        return;
    uint32_t node = at->node; /* zooming changes the layout */
    icicle_zoom_into(b, node);
    icicle_select_node(b, node);
}

static void on_motion(GtkEventControllerMotion *motion, double x, double y, gpointer data)
{
    struct icicle_widget *b = data;
    struct icicle_drawing_view view = icicle_paint_state(b);
    (void)motion;
    const struct icicle_box *at =
        b->boxes.count ? icicle_drawing_at(&b->boxes, &b->places, &view, x / SCALE, y / SCALE)
                       : NULL;
    uint32_t node = at && !at->smaller ? at->node : ICICLE_NONE;
    if (node == b->pointed)
        return;
    b->pointed = node;
    gtk_widget_queue_draw(b->area);
}

static uint32_t icicle_neighbor(const struct icicle_widget *b, guint key)
{
    uint32_t node = is_node(b, b->selected) ? b->selected : ICICLE_NONE;
    if (node == ICICLE_NONE)
        return b->top;
    switch (key) {
    case GDK_KEY_Left:
        return icicle_search_sibling(&b->boxes, node, -1);
    case GDK_KEY_Right:
        return icicle_search_sibling(&b->boxes, node, 1);
    case GDK_KEY_Up:
        return b->boxes.nodes[node].parent;
    default:
        return b->boxes.nodes[node].end > node + 1 ? node + 1 : ICICLE_NONE;
    }
}

static void icicle_move_selection(struct icicle_widget *b, guint key)
{
    uint32_t node = icicle_neighbor(b, key);
    if (!is_node(b, node))
        return;
    show_node(b, node);
    icicle_select_node(b, node);
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       gpointer data)
{
    struct icicle_widget *b = data;
    (void)keys;
    (void)code;
    if (!b->boxes.count || state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SHIFT_MASK))
        return FALSE;
    switch (key) {
    case GDK_KEY_Left:
    case GDK_KEY_Right:
    case GDK_KEY_Up:
    case GDK_KEY_Down:
        icicle_move_selection(b, key);
        return TRUE;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
        icicle_view_enter(b);
        return TRUE;
    case GDK_KEY_Home:
        icicle_zoom_into(b, 0);
        return TRUE;
    case GDK_KEY_BackSpace:
        icicle_view_go_up(b);
        return TRUE;
    case GDK_KEY_Escape:
        return icicle_view_go_up(b);
    default:
        return FALSE;
    }
}

/* ---- contents ---- */

static void icicle_update_matches(struct icicle_widget *b)
{
    g_free(b->found);
    b->found = b->text ? icicle_search_match_text(&b->boxes, b->text) : NULL;
}

void icicle_view_highlight(struct icicle_widget *b, const char *text)
{
    g_free(b->text);
    b->text = g_strdup(text);
    icicle_update_matches(b);
    gtk_widget_queue_draw(b->area);
}

void icicle_view_show(struct icicle_widget *b, const struct result_table *table)
{
    struct table_names names = {view_metadata(b->view), b->view->server_link.sites};
    GPtrArray *top = icicle_search_path_names(&b->boxes, b->top),
              *selected = icicle_search_path_names(&b->boxes, b->selected);
    bool had = is_node(b, b->selected);
    uint32_t column = table_tree_icicle_column(table, NULL);
    icicle_layout_free(&b->boxes);
    b->table = table;
    b->pointed = ICICLE_NONE;
    if (column < table->column_count)
        table_tree_icicle_make(&b->boxes, &names, table, column);
    b->top = icicle_search_find_node(&b->boxes, top, false);
    b->selected = had ? icicle_search_find_node(&b->boxes, selected, true) : ICICLE_NONE;
    g_ptr_array_unref(top);
    g_ptr_array_unref(selected);
    icicle_update_matches(b);
    icicle_redraw(b, true);
}

static void free_boxed(gpointer data)
{
    struct icicle_widget *b = data;
    if (b->sizing)
        g_source_remove(b->sizing);
    icicle_layout_places_free(&b->places);
    icicle_layout_free(&b->boxes);
    g_free(b->text);
    g_free(b->found);
    g_free(b);
}

static void icicle_connect_area(struct icicle_widget *b)
{
    GtkGesture *click = gtk_gesture_click_new();
    GtkEventController *keys = gtk_event_controller_key_new(),
                       *motion = gtk_event_controller_motion_new();
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(b->area), icicle_draw_area, b, NULL);
    gtk_widget_set_has_tooltip(b->area, TRUE);
    gtk_widget_set_focusable(b->area, TRUE);
    g_object_set_data(G_OBJECT(b->area), "keys", b->area); /* it handles keys (focus_return.c) */
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

struct icicle_widget *icicle_view_new(struct view *view, const struct icicle_callbacks *ears)
{
    struct icicle_widget *b = g_new0(struct icicle_widget, 1);
    b->view = view;
    b->ears = ears;
    b->selected = b->pointed = ICICLE_NONE;
    b->area = gtk_drawing_area_new();
    b->scrolled = gtk_scrolled_window_new();
    g_object_ref_sink(b->scrolled);
    icicle_connect_area(b);
    accessible_name_set(b->area, "Icicle graph: no function selected");
    g_object_set_data_full(G_OBJECT(b->scrolled), "boxed", b, free_boxed);
    return b;
}

GtkWidget *icicle_view_widget(struct icicle_widget *b) { return b->scrolled; }

void icicle_view_print(struct icicle_widget *b, FILE *f)
{
    icicle_redraw(b, true);
    icicle_tooltip_print(&b->boxes, &b->places, b->top, b->selected, b->found, f);
}

bool icicle_view_write(struct icicle_widget *b, const struct document_options *options,
                       const char *file, const char **why)
{
    return icicle_page_write(&b->boxes, b->top, options, file, why);
}
