#include "clients/viewer/analysis/state_details.h"

#include "clients/viewer/analysis/grid.h"
#include "clients/viewer/analysis/state_intervals.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/letters.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/viewer_settings.h"
#include "render/state_row_paint.h"

#include <stdlib.h>

#define LISTED_MOST 5000u
#define BAND_PX 16
#define KEY_PX 18

struct state_details {
    struct view *view;
    GtkWidget *box, *title, *chart;
    struct grid *sums, *list;
    struct table_model summed, listed;
    uint32_t line; /* the thread; 0: none */
    int64_t from_ns; /* begin of the list; INT64_MIN: that of the thread */
    struct event_id followed; /* the last selected event of which the thread was shown */
    bool seeks; /* the interval at sought_ns is to be selected */
    int64_t sought_ns;
};

static const struct viewer_addon state_details_addon = {"state_details",
                                                        sizeof(struct state_details)};

static struct state_details *state_details_find(struct view *view)
{
    return viewer_addons_find(&view->addons, &state_details_addon);
}

static const struct grid_column state_details_sums[] = {{"state", NULL, NULL},
                                                        {"total_ns", NULL, NULL},
                                                        {"share", NULL, "%"},
                                                        {"count", NULL, NULL},
                                                        {"min_ns", NULL, NULL},
                                                        {"max_ns", NULL, NULL},
                                                        {0}};

static const struct grid_column state_details_list[] = {
    {"from_ns", NULL, NULL},  {"state", NULL, NULL},
    {"location", NULL, NULL}, {"duration_ns", NULL, NULL},
    {"object", NULL, NULL},   {"elapsed_ns", NULL, NULL},
    {"worker", NULL, NULL},   {0}};

/* ---- requests ---- */

static struct table_request state_details_request(const struct state_details *d, const char *what,
                                                  const char *by)
{
    struct table_request request = table_model_request(what, by);
    request.lines = g_new(uint32_t, 1);
    request.lines[request.line_count++] = d->line;
    time_range_limit(d->view, &request);
    return request;
}

static void state_details_request_list(struct state_details *d)
{
    struct table_request request = state_details_request(d, "intervals", "");
    request.top = LISTED_MOST;
    if (d->from_ns != INT64_MIN && (!time_range_is_set(d->view) || d->from_ns > request.from.at))
        request.from = (struct table_end){.is = TABLE_AT_NS, .at = d->from_ns};
    table_model_send(&d->listed, &request);
}

void state_details_refresh(struct view *view)
{
    struct state_details *d = state_details_find(view);
    if (!d->line || !view->server_link.connected)
        return;
    struct table_request sums = state_details_request(d, "states", "state");
    table_model_send(&d->summed, &sums);
    state_details_request_list(d);
}

bool state_details_are_busy(struct view *view)
{
    struct state_details *d = state_details_find(view);
    return table_model_is_running(&d->summed) || table_model_is_running(&d->listed);
}

/* ---- contents ---- */

static void state_details_show_title(struct state_details *d)
{
    const struct result_table *t = &d->listed.table;
    GString *text = g_string_new(metadata_label(view_metadata(d->view), d->line));
    g_string_append_printf(text, ": %s%u state interval%s",
                           t->row_count == LISTED_MOST ? "the first " : "", t->row_count,
                           t->row_count == 1 ? "" : "s");
    if (d->from_ns != INT64_MIN)
        g_string_append_printf(text, " from %.3f ms on", (double)d->from_ns / 1e6);
    gtk_label_set_text(GTK_LABEL(d->title), text->str);
    accessible_name_set(d->chart, text->str);
    g_string_free(text, TRUE);
}

/* Returns the row of the last interval that begins by then; -1: none. */
static int state_details_row_by(const struct state_details *d, int64_t ns)
{
    const struct result_table *t = &d->listed.table;
    struct state_interval spell;
    int found = -1;
    for (uint32_t i = 0; i < t->row_count && state_interval_read_row(t, i, &spell); i++)
        if (spell.from_ns <= ns)
            found = (int)i;
    return found;
}

/* Selects the interval that was sought; lists others if it is not among these. */
static void state_details_reveal_sought(struct state_details *d)
{
    if (!d->seeks)
        return;
    int row = state_details_row_by(d, d->sought_ns);
    if (row < 0 ? d->from_ns != INT64_MIN : row + 1 == (int)LISTED_MOST) {
        d->from_ns = row < 0 ? INT64_MIN : d->sought_ns;
        state_details_request_list(d);
        return;
    }
    d->seeks = row < 0;
    if (row >= 0)
        grid_reveal(d->list, row);
}

static void state_details_on_sums(void *user)
{
    struct state_details *d = user;
    if (d->summed.fresh)
        grid_show(d->sums, &d->summed.table);
    d->summed.fresh = false;
}

static void state_details_on_list(void *user)
{
    struct state_details *d = user;
    if (!d->listed.fresh)
        return;
    d->listed.fresh = false;
    grid_show(d->list, &d->listed.table);
    state_details_reveal_sought(d);
    state_details_show_title(d);
    gtk_widget_queue_draw(d->chart);
}

/* ---- the chart ---- */

/* Sets the times of the first and the last interval's ends; returns false if there is none. */
static bool state_details_span(const struct state_details *d, int64_t *from_ns, int64_t *to_ns)
{
    const struct result_table *t = &d->listed.table;
    struct state_interval first, last;
    if (!state_interval_read_row(t, 0, &first) ||
        !state_interval_read_row(t, t->row_count - 1, &last))
        return false;
    *from_ns = first.from_ns;
    *to_ns = last.from_ns + last.took_ns;
    return *to_ns > *from_ns;
}

static double state_details_x(int64_t ns, int64_t from_ns, int64_t to_ns, int width)
{
    return (double)(ns - from_ns) / (double)(to_ns - from_ns) * width;
}

static void state_details_paint_bands(const struct state_details *d, cairo_t *cr, int width)
{
    const struct result_table *t = &d->listed.table;
    float *shares = g_new0(float, (size_t)MAX(width, 1) * THREAD_STATES_DRAWN);
    struct state_interval spell;
    int64_t from, to;
    bool some = state_details_span(d, &from, &to);
    for (uint32_t i = 0; some && i < t->row_count; i++)
        if (state_interval_read_row(t, i, &spell))
            state_interval_add_share(
                shares, width, spell.state, state_details_x(spell.from_ns, from, to, width),
                state_details_x(spell.from_ns + spell.took_ns, from, to, width));
    if (some)
        state_row_paint(cr, shares, width, (cairo_rectangle_t){0, 0, width, BAND_PX},
                        (struct state_row_style){d->view->viewer_settings.look.grey, 0});
    g_free(shares);
}

/* Draws a frame around the selected interval. */
static void state_details_frame_selected(const struct state_details *d, cairo_t *cr, int width)
{
    int row = grid_selected(d->list);
    struct state_interval spell;
    int64_t from, to;
    if (row < 0 || !state_interval_read_row(&d->listed.table, (uint32_t)row, &spell) ||
        !state_details_span(d, &from, &to))
        return;
    double x = state_details_x(spell.from_ns, from, to, width),
           end = state_details_x(spell.from_ns + spell.took_ns, from, to, width),
           v = viewer_settings_theme(&d->view->viewer_settings).dark ? 1 : 0;
    cairo_set_source_rgb(cr, v, v, v);
    cairo_set_line_width(cr, 1.5);
    cairo_rectangle(cr, x + 0.75, 0.75, MAX(end - x - 1.5, 1), BAND_PX - 1.5);
    cairo_stroke(cr);
}

static void state_details_draw_chart(GtkDrawingArea *area, cairo_t *cr, int width, int height,
                                     gpointer data)
{
    struct state_details *d = data;
    struct paint_theme theme = viewer_settings_theme(&d->view->viewer_settings);
    (void)area;
    letters_scale(d->view, cr, &width, &height);
    state_details_paint_bands(d, cr, width);
    state_details_frame_selected(d, cr, width);
    state_interval_draw_key(cr, -8, BAND_PX, theme.dark, theme.grey);
}

/* Returns the row of the interval at a place of the chart; -1: none. */
static int state_details_row_at(struct state_details *d, double x)
{
    int64_t from, to;
    int width = gtk_widget_get_width(d->chart);
    if (!state_details_span(d, &from, &to) || width <= 0)
        return -1;
    return state_details_row_by(d, from + (int64_t)(x / width * (double)(to - from)));
}

static gboolean on_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip,
                           gpointer data)
{
    struct state_details *d = data;
    struct table_names names = {view_metadata(d->view), d->view->server_link.sites};
    struct state_interval spell;
    int row = keyboard ? -1 : state_details_row_at(d, x);
    (void)widget;
    (void)y;
    if (row < 0 || !state_interval_read_row(&d->listed.table, (uint32_t)row, &spell))
        return FALSE;
    char *text = state_interval_describe(&names, &spell);
    gtk_tooltip_set_text(tooltip, text);
    free(text);
    return TRUE;
}

static void on_click(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct state_details *d = data;
    int row = state_details_row_at(d, x);
    (void)gesture;
    (void)presses;
    (void)y;
    if (row < 0)
        return;
    grid_select(d->list, row);
    grid_seek(d->list, row);
}

/* ---- selection ---- */

static struct event_id state_details_event(const struct state_details *d, int row)
{
    const struct result_table *t = &d->listed.table;
    return row >= 0 && (uint32_t)row < t->row_count ? t->rows[row].event : (struct event_id){0};
}

static void on_list_selected(void *user, int row)
{
    struct state_details *d = user;
    struct event_id event = state_details_event(d, row);
    highlights_set(&d->view->highlights, &event, 1, &d->line, row >= 0);
    gtk_widget_queue_draw(d->chart);
    notifier_emit(&d->view->notifier, NOTIFY_HITS);
}

static void on_list_activated(void *user, int row)
{
    struct state_details *d = user;
    struct event_id event = state_details_event(d, row);
    if (event.line)
        go_to_event(d->view, event, NO_POSITION);
}

static void on_nothing(void *user, int row)
{
    (void)user;
    (void)row;
}

static const struct grid_callbacks state_details_list_callbacks = {on_list_selected,
                                                                   on_list_activated, on_nothing},
                                   state_details_sums_callbacks = {on_nothing, on_nothing,
                                                                   on_nothing};

void state_details_show(struct view *view, uint32_t line)
{
    static const struct result_table none;
    struct state_details *d = state_details_find(view);
    if (line == d->line)
        return;
    grid_show(d->sums, &none);
    grid_show(d->list, &none);
    table_model_clear(&d->summed);
    table_model_clear(&d->listed);
    d->seeks = false;
    d->from_ns = INT64_MIN;
    d->line = line;
    gtk_widget_set_visible(d->box, line != 0);
    gtk_label_set_text(GTK_LABEL(d->title), line ? metadata_label(view_metadata(view), line) : "");
    state_details_refresh(view);
}

void state_details_follow_selection(struct view *view)
{
    struct state_details *d = state_details_find(view);
    struct event_id selected = view->viewport.place.selected;
    const struct event_info *e = scene_cache_find_event(&view->scene_cache, selected);
    if (event_id_equal(selected, d->followed) || (selected.line && !e))
        return;
    d->followed = selected;
    if (!selected.line || !e->thread || !d->line)
        return;
    state_details_show(view, e->thread);
    d->seeks = true;
    d->sought_ns = e->time_ns;
    if (d->listed.has_answer)
        state_details_reveal_sought(d);
    gtk_widget_queue_draw(d->chart);
}

void state_details_print(struct view *view, FILE *f)
{
    struct state_details *d = state_details_find(view);
    if (!d->line)
        return;
    fprintf(f, "%s\n", gtk_label_get_text(GTK_LABEL(d->title)));
    grid_print(d->sums, f);
    grid_print(d->list, f);
}

/* ---- construction ---- */

static void on_close(GtkButton *button, gpointer data)
{
    (void)button;
    state_details_show(((struct state_details *)data)->view, 0);
}

static GtkWidget *state_details_create_head(struct state_details *d)
{
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0),
              *close = gtk_button_new_from_icon_name("window-close-symbolic");
    d->title = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(d->title), 0);
    gtk_label_set_ellipsize(GTK_LABEL(d->title), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(d->title, TRUE);
    g_object_set(d->title, "margin-start", 8, NULL);
    gtk_widget_add_css_class(close, "flat");
    gtk_widget_set_tooltip_text(close, "Show all threads only");
    accessible_name_set(close, "Close the states of the thread");
    g_signal_connect(close, "clicked", G_CALLBACK(on_close), d);
    gtk_box_append(GTK_BOX(head), d->title);
    gtk_box_append(GTK_BOX(head), close);
    return head;
}

static void state_details_on_destroy(GtkWidget *widget, gpointer data)
{
    struct state_details *d = data;
    (void)widget;
    table_model_clear(&d->summed);
    table_model_clear(&d->listed);
}

static void state_details_create_chart(struct state_details *d)
{
    GtkGesture *click = gtk_gesture_click_new();
    d->chart = gtk_drawing_area_new();
    gtk_widget_set_size_request(d->chart, -1, letters_px(d->view, BAND_PX + KEY_PX));
    gtk_widget_set_has_tooltip(d->chart, TRUE);
    g_object_set(d->chart, "margin-start", 8, "margin-end", 8, "margin-bottom", 4, NULL);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(d->chart), state_details_draw_chart, d, NULL);
    g_signal_connect(d->chart, "query-tooltip", G_CALLBACK(on_tooltip), d);
    g_signal_connect(click, "pressed", G_CALLBACK(on_click), d);
    gtk_widget_add_controller(d->chart, GTK_EVENT_CONTROLLER(click));
}

static struct state_details *state_details_create(struct view *view)
{
    struct state_details *d = viewer_addons_add(&view->addons, &state_details_addon);
    GtkWidget *paned = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    d->view = view;
    d->from_ns = INT64_MIN;
    d->summed = d->listed = (struct table_model){.link = &view->server_link, .user = d};
    d->summed.on_table = state_details_on_sums;
    d->listed.on_table = state_details_on_list;
    d->sums = grid_new(view, "Time per state of the thread", state_details_sums,
                       &state_details_sums_callbacks, d);
    d->list = grid_new(view, "State intervals of the thread", state_details_list,
                       &state_details_list_callbacks, d);
    d->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *head = state_details_create_head(d);
    state_details_create_chart(d);
    gtk_paned_set_start_child(GTK_PANED(paned), grid_widget(d->sums));
    gtk_paned_set_end_child(GTK_PANED(paned), grid_widget(d->list));
    gtk_box_append(GTK_BOX(d->box), head);
    gtk_box_append(GTK_BOX(d->box), d->chart);
    gtk_box_append(GTK_BOX(d->box), paned);
    gtk_widget_set_visible(d->box, FALSE);
    g_signal_connect(d->box, "destroy", G_CALLBACK(state_details_on_destroy), d);
    return d;
}

GtkWidget *state_details_widget(struct view *view)
{
    struct state_details *d = state_details_find(view);
    return (d ? d : state_details_create(view))->box;
}
