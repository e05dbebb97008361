/* The viewer's state as text, as scripts (viewer_script.h) write it. */
#include "clients/viewer/viewer_script.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/actions.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/analysis/metric_page.h"
#include "clients/viewer/analysis/states_tab.h"
#include "clients/viewer/diagram/focus.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/row_search.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/diagram/wait_coloring.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/page_switcher.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/view_print.h"
#include "render/scene.h"
#include "wire/event_types.h"
#include "wire/trace_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the focus ---- */

/* Returns the text of the first label within a widget, NULL if there is none. */
static const char *focus_label(GtkWidget *widget)
{
    if (GTK_IS_LABEL(widget))
        return gtk_label_get_text(GTK_LABEL(widget));
    for (GtkWidget *w = gtk_widget_get_first_child(widget); w; w = gtk_widget_get_next_sibling(w)) {
        const char *text = focus_label(w);
        if (text && *text)
            return text;
    }
    return NULL;
}

/* Writes the type of the widget that has the focus, its position and size in the window, and its
 * action, tooltip or first label, of which it is the first line. */
static void write_focus(struct view *view, FILE *f)
{
    GtkWidget *at = focus_widget(view);
    graphene_rect_t place = {{0, 0}, {0, 0}};
    if (at && gtk_widget_get_mapped(at) && !gtk_widget_compute_bounds(at, view->window, &place))
        place.size.width = 0;
    const char *text =
        at && GTK_IS_ACTIONABLE(at) ? gtk_actionable_get_action_name(GTK_ACTIONABLE(at)) : NULL;
    if (at && !text && !(text = gtk_widget_get_tooltip_text(at)))
        text = focus_label(at);
    fprintf(f, "focus %s %.0f %.0f %.0f %.0f %.*s\n", at ? G_OBJECT_TYPE_NAME(at) : "none",
            (double)place.origin.x, (double)place.origin.y, (double)place.size.width,
            (double)place.size.height, (int)strcspn(text ? text : "", "\n"), text ? text : "");
}

/* ---- the selection ---- */

static void write_id(FILE *f, struct event_id at)
{
    char s[48];
    event_id_print(s, sizeof s, at);
    fprintf(f, " %s", at.line ? s : "none");
}

/* Writes the blocked threads, the events between the two selected ones, the wait before the
 * selected one, and the focus. */
static void write_more(struct view *view, FILE *f)
{
    static const char *const worst[] = {"none",      "asleep", "some",    "perhaps",
                                        "violation", "hang",   "deadlock"};
    unsigned waiting;
    fprintf(f, " worst %s", worst[blocked_panel_worst(view, &waiting)]);
    fprintf(f, " waiting %u stuck %u whole %d between %llu ns %lld", waiting,
            view->selection_relations.stuck_count / 2, view->selection_relations.count.whole,
            (unsigned long long)view->selection_relations.span.events,
            (long long)view->selection_relations.span.ns);
    const struct event_info *e =
        scene_cache_find_event(&view->scene_cache, view->viewport.place.selected);
    fprintf(f, " waited %lld", e ? (long long)e->waited_ns : -1LL);
    GtkWidget *at = focus_widget(view);
    fprintf(f, " focus %s", at ? G_OBJECT_TYPE_NAME(at) : "none");
    fprintf(f, " drawer %s",
            view->viewer_settings.drawer ? tab_definition(analysis_pane_current_tab(view))->name
                                         : "none");
}

static void write_selection(struct view *view, FILE *f)
{
    fprintf(f, " selected");
    write_id(f, view->viewport.place.selected);
    fprintf(f, " second");
    write_id(f, view->viewport.place.second);
    fprintf(f,
            " before %llu after %llu concurrent %llu same %llu related %d hits %llu unknown %llu",
            (unsigned long long)view->selection_relations.count.before,
            (unsigned long long)view->selection_relations.count.after,
            (unsigned long long)view->selection_relations.count.concurrent,
            (unsigned long long)view->selection_relations.count.same,
            view->selection_relations.related, (unsigned long long)view->search.count,
            (unsigned long long)view->selection_relations.count.unknown);
    write_more(view, f);
    fprintf(f, " chain");
    for (uint32_t i = 0; i < view->selection_relations.chain_count; i++)
        write_id(f, view->selection_relations.chain[i]);
    fprintf(f, " colours");
    for (uint32_t i = 0; view->scene_cache.scene && view->scene_cache.colored &&
                         i < view->scene_cache.scene->mark_count;
         i++) {
        const struct event_info *e = view->scene_cache.scene->marks[i].event;
        char s[48];
        event_id_print(s, sizeof s, e->at);
        fprintf(f, " %s=%u", s, e->to_selected);
    }
    fprintf(f, "\n");
}

/* ---- positions ---- */

static void write_position(struct view *view, FILE *f, GtkWidget *widget, const char *what,
                           const char *name, double x, double y)
{
    graphene_point_t at;
    bool drawn = widget == view->canvas, turned = drawn && viewport_vertical(&view->viewport);
    double unit = drawn ? view->viewport.unit_px : 1;
    x *= unit;
    y *= unit;
    if (!gtk_widget_compute_point(
            widget, view->window,
            &GRAPHENE_POINT_INIT((float)(turned ? y : x), (float)(turned ? x : y)), &at))
        return;
    fprintf(f, "%s %s %.0f %.0f\n", what, name, (double)at.x, (double)at.y);
}

/* Writes the positions of buttons, by action, and of the slider. */
static void write_buttons(struct view *view, FILE *f, GtkWidget *in)
{
    const char *action =
        GTK_IS_ACTIONABLE(in) ? gtk_actionable_get_action_name(GTK_ACTIONABLE(in)) : NULL;
    double x = gtk_widget_get_width(in) / 2.0, y = gtk_widget_get_height(in) / 2.0;
    if (!gtk_widget_get_mapped(in))
        return;
    if (action && gtk_widget_is_sensitive(in))
        write_position(view, f, in, "button", action, x, y);
    if (GTK_IS_SCALE(in))
        write_position(view, f, in, "slider", "time", x, y);
    for (GtkWidget *child = gtk_widget_get_first_child(in); child;
         child = gtk_widget_get_next_sibling(child))
        write_buttons(view, f, child);
}

/* Writes the positions in the window, in pixels, of marks, names, their arrows, the overview map,
 * enabled buttons, and an empty place of the diagram, so that tests can click on them. */
static void write_positions(struct view *view, FILE *f)
{
    const struct scene *s = view->scene_cache.scene;
    double names = viewport_names_px(&view->viewport);
    for (uint32_t i = 0; s && i < s->mark_count; i++) {
        char at[48];
        event_id_print(at, sizeof at, s->marks[i].event->at);
        if (viewport_sees(&view->viewport, &s->marks[i]))
            write_position(view, f, view->canvas, "event", at,
                           viewport_x_px(&view->viewport, &s->marks[i]),
                           viewport_y_px(&view->viewport, s->marks[i].row));
    }
    for (uint32_t i = 0; s && i < s->row_count; i++) {
        char line[16];
        snprintf(line, sizeof line, "%u", s->rows[i].line);
        write_position(view, f, view->canvas, "name", line, 30, viewport_y_px(&view->viewport, i));
        write_position(view, f, view->canvas, "back", line, names - 13,
                       viewport_y_px(&view->viewport, i));
        write_position(view, f, view->canvas, "on", line, names - 4,
                       viewport_y_px(&view->viewport, i));
    }
    write_position(view, f, view->overview_map.widget, "map", "begin", 30, 20);
    write_position(view, f, view->overview_map.widget, "map", "middle",
                   gtk_widget_get_width(view->overview_map.widget) / 2.0, 20);
    write_buttons(view, f, view->window);
    double along = viewport_along_px(&view->viewport) - names;
    write_position(view, f, view->canvas, "ruler", "quarter", names + along / 4, 8);
    write_position(view, f, view->canvas, "ruler", "middle", names + along / 2, 8);
    write_position(view, f, view->canvas, "picture", "free", names + 60,
                   viewport_across_px(&view->viewport) - 30);
}

/* Writes the rows: their lines, heights, and middles on the canvas. */
static void write_rows(struct view *view, FILE *f)
{
    const struct viewport *c = &view->viewport;
    const struct scene *s = view->scene_cache.scene;
    uint32_t count = c->place.overview ? view->overview.strip.row_count : s ? s->row_count : 0;
    double zoom = c->place.overview ? 1 : c->place.zoom;
    fprintf(f, "rows %u high %.1f canvas %.0f pinned %u rise %.1f\n", count,
            viewport_row_pt(c) * zoom, viewport_across_px(c), view->scene_cache.pinned,
            c->place.rise_pt);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t line = c->place.overview ? view->overview.strip.rows[i] : s->rows[i].line;
        double y = c->place.overview ? bands_view_y_px(view, i) : viewport_y_px(c, i);
        fprintf(f, "%u %s %.0f%s%s\n", line, metadata_label(view_metadata(view), line), y,
                i < view->scene_cache.pinned ? " pinned" : "",
                row_search_is_hit(view, line) ? " found" : "");
    }
}

/* ---- what is highlighted and drawn over the diagram ---- */

static void write_highlights(struct view *view, FILE *f)
{
    fprintf(f, "events");
    for (uint32_t i = 0; i < view->highlights.event_count; i++)
        write_id(f, view->highlights.events[i]);
    fprintf(f, " lines");
    for (uint32_t i = 0; i < view->highlights.line_count; i++)
        fprintf(f, " %u", view->highlights.lines[i]);
    fprintf(f, "\n");
}

/* Writes the events of the diagram that have a breakpoint. */
static void write_breakpoints(struct view *view, FILE *f)
{
    fprintf(f, "stops");
    for (uint32_t i = 0; i < view->breakpoint_marks.event_count; i++)
        write_id(f, view->breakpoint_marks.events[i]);
    fprintf(f, "\n");
}

static void write_overlay(struct view *view, FILE *f)
{
    if (view->viewport.place.overview) {
        overview_overlay_print(view, f);
    } else {
        path_overlay_print(view, f);
        wait_coloring_print(view, f);
        function_highlight_print(view, f);
    }
}

static void write_bands(struct view *view, FILE *f)
{
    overview_states_are_shown(view) ? overview_states_print(view, f) : band_rows_print(view, f);
}

/* Writes the state bands of the overview. */
static void write_overview_bands(struct view *view, FILE *f)
{
    if (view->viewport.place.overview)
        bands_view_print(view, f);
}

/* Writes the visible part of the diagram: the marks, arrows and texts of its scene, which arrives
 * later. */
static void write_scene(struct view *view, FILE *f)
{
    FILE *own = fdopen(dup(fileno(f)), "a");
    if (own)
        view_print_to_file(view, own);
}

/* ---- texts and tables ---- */

/* Writes the table of the tab, separated by tabs: depth and cells of each row, * before the
 * selected one. */
static void write_table(struct view *view, FILE *f)
{
    tab_print(analysis_pane_current_tab(view), f);
}

/* Writes what is beside the table. */
static void write_aside(struct view *view, FILE *f)
{
    tab_print_aside(analysis_pane_current_tab(view), f);
}

/* Writes the curve of metrics above the table. */
static void write_curve(struct view *view, FILE *f)
{
    metric_page_print(view, tab_definition(analysis_pane_current_tab(view))->name, f);
}

/* Writes the text of the tab in place of rows. */
static void write_tab(struct view *view, FILE *f)
{
    struct tab_instance *tab = analysis_pane_current_tab(view);
    const char *text = tab_message(tab);
    fprintf(f, "%s: %s\n", tab_definition(tab)->name, text ? text : "rows");
}

static void write_labels(GtkWidget *widget, FILE *f)
{
    if (GTK_IS_LABEL(widget) && gtk_widget_get_mapped(widget))
        fprintf(f, "%s\n", gtk_label_get_text(GTK_LABEL(widget)));
    for (GtkWidget *w = gtk_widget_get_first_child(widget); w; w = gtk_widget_get_next_sibling(w))
        write_labels(w, f);
}

/* Writes the labels of the visible panel, line by line. */
static void write_panel(struct view *view, FILE *f) { write_labels(view->panels, f); }

/* Writes whether the tab of the sidebar's shown panel is in view. */
static void write_tabs(struct view *view, FILE *f)
{
    GtkWidget *box = gtk_widget_get_parent(view->panels);
    fprintf(f, "in view %d\n", page_switcher_is_in_view(gtk_widget_get_first_child(box)));
}

static void write_wait_cause(struct view *view, FILE *f)
{
    const char *text = wait_cause_sentence(view, NULL);
    fprintf(f, "reason: %s\n", text ? text : "none");
}

static void write_status(struct view *view, FILE *f)
{
    fprintf(f, "said: %s\n", status_line_text(&view->status_line));
}

static int script_state_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Writes the names of all actions, and the titles of those of the menu and the keys. */
static void write_actions(struct view *view, FILE *f)
{
    char **names = g_action_group_list_actions(G_ACTION_GROUP(view->window));
    qsort(names, g_strv_length(names), sizeof *names, script_state_compare);
    for (char **name = names; *name; name++) {
        const char *title = action_title(*name);
        fprintf(f, "%s%s%s\n", *name, title ? "\t" : "", title ? title : "");
    }
    g_strfreev(names);
}

static const struct script_state_part {
    const char *name;
    void (*write)(struct view *view, FILE *f);
} script_state_parts[] = {
    {"actions", write_actions},
    {"focus", write_focus},
    {"selection", write_selection},
    {"positions", write_positions},
    {"rows", write_rows},
    {"scene", write_scene},
    {"highlights", write_highlights},
    {"breakpoints", write_breakpoints},
    {"overlay", write_overlay},
    {"bands", write_bands},
    {"overview-bands", write_overview_bands},
    {"table", write_table},
    {"aside", write_aside},
    {"curve", write_curve},
    {"tab", write_tab},
    {"panel", write_panel},
    {"tabs", write_tabs},
    {"wait-cause", write_wait_cause},
    {"status", write_status},
    {"range", time_range_print},
};

bool script_state_write(struct view *view, const char *part, const char *file)
{
    const struct script_state_part *wanted = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(script_state_parts); i++)
        if (strcmp(script_state_parts[i].name, part) == 0)
            wanted = &script_state_parts[i];
    if (!wanted)
        return false;
    FILE *f = *file ? fopen(file, "ae") : stdout;
    if (!f) {
        fprintf(stderr, "poet view: --script: %s: %s\n", file, g_strerror(errno));
        return true;
    }
    wanted->write(view, f);
    *file ? fclose(f) : fflush(f);
    return true;
}
