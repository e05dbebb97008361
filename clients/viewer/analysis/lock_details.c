#include "clients/viewer/analysis/lock_details.h"

#include "clients/viewer/analysis/grid.h"
#include "clients/viewer/analysis/state_intervals.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/letters.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/viewer_settings.h"
#include "render/palette.h"
#include "render/state_row_paint.h"
#include "render/text_cache.h"

#include <stdlib.h>

#define LISTED_MOST 5000u
#define THREADS_MOST 12u /* rows of the chart; the others are counted in its key */
#define ROW_PX 16
#define BAND_PX 12
#define KEY_PX 18
#define NAMES_PX 110
#define LABEL_PT 8

/* A time in which a thread held the lock, or waited for it. */
struct lock_span {
    uint32_t thread;
    bool waits;
    int64_t from_ns, to_ns;
};

struct lock_details {
    struct view *view;
    GtkWidget *box, *title, *chart;
    struct grid *list;
    struct table_model holds, waits;
    uint32_t line; /* the lock; 0: none */
    GArray *spans; /* struct lock_span */
    GArray *threads; /* uint32_t, in the order of their first span */
};

static const struct viewer_addon lock_details_addon = {"lock_details", sizeof(struct lock_details)};

static struct lock_details *lock_details_find(struct view *view)
{
    return viewer_addons_find(&view->addons, &lock_details_addon);
}

static const struct grid_column lock_details_columns[] = {
    {"from_ns", NULL, NULL}, {"thread", NULL, NULL},   {"held_ns", NULL, NULL},
    {"waiters", NULL, NULL}, {"location", NULL, NULL}, {0}};

/* ---- requests ---- */

static struct table_request lock_details_request(const struct lock_details *d, const char *what,
                                                 const char *by)
{
    struct table_request request = table_model_request(what, by);
    char line[16];
    g_snprintf(line, sizeof line, "%u", d->line);
    table_model_set_option(&request, "object", line);
    request.top = LISTED_MOST;
    time_range_limit_threads(d->view, &request);
    return request;
}

void lock_details_refresh(struct view *view)
{
    struct lock_details *d = lock_details_find(view);
    if (!d->line || !view->server_link.connected)
        return;
    struct table_request holds = lock_details_request(d, "locks", "hold"),
                         waits = lock_details_request(d, "waits", "wait");
    table_model_send(&d->holds, &holds);
    table_model_send(&d->waits, &waits);
}

bool lock_details_are_busy(struct view *view)
{
    struct lock_details *d = lock_details_find(view);
    return table_model_is_running(&d->holds) || table_model_is_running(&d->waits);
}

/* ---- contents ---- */

static void lock_details_add_thread(struct lock_details *d, uint32_t thread)
{
    for (guint i = 0; i < d->threads->len; i++)
        if (g_array_index(d->threads, uint32_t, i) == thread)
            return;
    g_array_append_val(d->threads, thread);
}

/* Adds the rows of a table that have a thread, a begin and a length. */
static void lock_details_add_spans(struct lock_details *d, const struct result_table *t,
                                   const char *length, bool waits)
{
    uint32_t thread = result_table_find_column(t, "thread"),
             from = result_table_find_column(t, "from_ns"),
             took = result_table_find_column(t, length), n = t->column_count;
    if (thread == n || from == n || took == n)
        return;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = result_table_cells(t, i);
        if (t->rows[i].depth || cells[thread].is != CELL_LINE || cells[from].is != CELL_NUMBER ||
            cells[took].is != CELL_NUMBER)
            continue;
        struct lock_span span = {cells[thread].line, waits, cells[from].number,
                                 cells[from].number + cells[took].number};
        g_array_append_val(d->spans, span);
    }
}

static int lock_details_by_time(const void *a, const void *b)
{
    const struct lock_span *x = a, *y = b;
    return x->from_ns != y->from_ns ? (x->from_ns < y->from_ns ? -1 : 1) : x->waits - y->waits;
}

static void lock_details_show_title(struct lock_details *d)
{
    const struct result_table *t = &d->holds.table;
    char *text = g_strdup_printf(
        "%s: held %s%u time%s by %u thread%s", metadata_label(view_metadata(d->view), d->line),
        t->row_count == LISTED_MOST ? "the first " : "", t->row_count, t->row_count == 1 ? "" : "s",
        d->threads->len, d->threads->len == 1 ? "" : "s");
    gtk_label_set_text(GTK_LABEL(d->title), text);
    accessible_name_set(d->chart, text);
    g_free(text);
}

static void lock_details_build(struct lock_details *d)
{
    g_array_set_size(d->spans, 0);
    g_array_set_size(d->threads, 0);
    lock_details_add_spans(d, &d->holds.table, "held_ns", false);
    lock_details_add_spans(d, &d->waits.table, "waited_ns", true);
    g_array_sort(d->spans, lock_details_by_time);
    for (guint i = 0; i < d->spans->len; i++)
        lock_details_add_thread(d, g_array_index(d->spans, struct lock_span, i).thread);
    lock_details_show_title(d);
    gtk_widget_set_size_request(
        d->chart, -1,
        letters_px(d->view, (int)MIN(d->threads->len, THREADS_MOST) * ROW_PX + KEY_PX));
    gtk_widget_queue_draw(d->chart);
}

static void lock_details_on_table(void *user)
{
    struct lock_details *d = user;
    if (d->holds.fresh)
        grid_show(d->list, &d->holds.table);
    if (d->holds.fresh || d->waits.fresh)
        lock_details_build(d);
    d->holds.fresh = d->waits.fresh = false;
}

/* ---- the chart ---- */

/* Sets the times of the first begin and the last end; returns false if there is none. */
static bool lock_details_span(const struct lock_details *d, int64_t *from_ns, int64_t *to_ns)
{
    *from_ns = INT64_MAX;
    *to_ns = INT64_MIN;
    for (guint i = 0; i < d->spans->len; i++) {
        const struct lock_span *s = &g_array_index(d->spans, struct lock_span, i);
        *from_ns = MIN(*from_ns, s->from_ns);
        *to_ns = MAX(*to_ns, s->to_ns);
    }
    return *to_ns > *from_ns;
}

static void lock_details_paint_row(const struct lock_details *d, cairo_t *cr, uint32_t row,
                                   int width)
{
    uint32_t thread = g_array_index(d->threads, uint32_t, row);
    float *shares = g_new0(float, (size_t)MAX(width, 1) * THREAD_STATES_DRAWN);
    int64_t from, to;
    bool some = lock_details_span(d, &from, &to);
    for (guint i = 0; some && i < d->spans->len; i++) {
        const struct lock_span *s = &g_array_index(d->spans, struct lock_span, i);
        double scale = width / (double)(to - from);
        if (s->thread == thread)
            state_interval_add_share(
                shares, width, s->waits ? THREAD_STATE_BLOCKED : THREAD_STATE_RUNNING,
                (double)(s->from_ns - from) * scale, (double)(s->to_ns - from) * scale);
    }
    double y = (int)row * ROW_PX + (ROW_PX - BAND_PX) / 2.0;
    if (some)
        state_row_paint(cr, shares, width, (cairo_rectangle_t){NAMES_PX, y, width, BAND_PX},
                        (struct state_row_style){d->view->viewer_settings.look.grey, 0});
    g_free(shares);
}

static double lock_details_draw_key_entry(cairo_t *cr, double x, double y, unsigned state,
                                          const char *text, const struct paint_theme *theme)
{
    double v = theme->dark ? 0.75 : 0.35;
    cairo_rectangle(cr, x, y + 3, 12, 9);
    palette_fill(cr, state, theme->grey, (cairo_rectangle_t){x, y + 3, 12, 9});
    cairo_set_source_rgb(cr, v, v, v);
    text_cache_show(cr, x + 16, y + 1, text, LABEL_PT, false);
    return x + text_cache_width(NULL, text, LABEL_PT, false) + 30;
}

static void lock_details_draw_key(const struct lock_details *d, cairo_t *cr, double y,
                                  const struct paint_theme *theme)
{
    double v = theme->dark ? 0.75 : 0.35, x = NAMES_PX;
    x = lock_details_draw_key_entry(cr, x, y, THREAD_STATE_RUNNING, "holds", theme);
    x = lock_details_draw_key_entry(cr, x, y, THREAD_STATE_BLOCKED, "waits", theme);
    int64_t from, to;
    if (!lock_details_span(d, &from, &to))
        return;
    char *text = g_strdup_printf("%.3f ms to %.3f ms", (double)from / 1e6, (double)to / 1e6);
    if (d->threads->len > THREADS_MOST) {
        char *more = g_strdup_printf("%s; %u more threads", text, d->threads->len - THREADS_MOST);
        g_free(text);
        text = more;
    }
    cairo_set_source_rgb(cr, v, v, v);
    text_cache_show(cr, x, y + 1, text, LABEL_PT, false);
    g_free(text);
}

static void lock_details_draw(GtkDrawingArea *area, cairo_t *cr, int width, int height,
                              gpointer data)
{
    struct lock_details *d = data;
    struct paint_theme theme = viewer_settings_theme(&d->view->viewer_settings);
    uint32_t rows = MIN(d->threads->len, THREADS_MOST);
    double v = theme.dark ? 0.85 : 0.2;
    (void)area;
    letters_scale(d->view, cr, &width, &height);
    for (uint32_t row = 0; row < rows; row++) {
        cairo_save(cr);
        cairo_rectangle(cr, 0, row * ROW_PX, NAMES_PX - 6, ROW_PX);
        cairo_clip(cr);
        cairo_set_source_rgb(cr, v, v, v);
        text_cache_show(
            cr, 0, row * ROW_PX + 2,
            metadata_label(view_metadata(d->view), g_array_index(d->threads, uint32_t, row)),
            LABEL_PT + 1, false);
        cairo_restore(cr);
        lock_details_paint_row(d, cr, row, width - NAMES_PX);
    }
    lock_details_draw_key(d, cr, rows * ROW_PX, &theme);
}

/* ---- selection ---- */

static struct event_id lock_details_event(const struct lock_details *d, int row)
{
    const struct result_table *t = &d->holds.table;
    return row >= 0 && (uint32_t)row < t->row_count ? t->rows[row].event : (struct event_id){0};
}

static void lock_details_on_selected(void *user, int row)
{
    struct lock_details *d = user;
    struct event_id event = lock_details_event(d, row);
    highlights_set(&d->view->highlights, &event, 1, &d->line, row >= 0);
    notifier_emit(&d->view->notifier, NOTIFY_HITS);
}

static void lock_details_on_activated(void *user, int row)
{
    struct lock_details *d = user;
    struct event_id event = lock_details_event(d, row);
    if (event.line)
        go_to_event(d->view, event, NO_POSITION);
}

static void lock_details_on_pointed(void *user, int row)
{
    (void)user;
    (void)row;
}

static const struct grid_callbacks lock_details_callbacks = {
    lock_details_on_selected, lock_details_on_activated, lock_details_on_pointed};

void lock_details_show(struct view *view, uint32_t line)
{
    static const struct result_table none;
    struct lock_details *d = lock_details_find(view);
    if (line == d->line)
        return;
    grid_show(d->list, &none);
    table_model_clear(&d->holds);
    table_model_clear(&d->waits);
    d->line = line;
    gtk_widget_set_visible(d->box, line != 0);
    lock_details_build(d);
    lock_details_refresh(view);
}

void lock_details_print(struct view *view, FILE *f)
{
    struct lock_details *d = lock_details_find(view);
    if (!d->line)
        return;
    fprintf(f, "%s\n", gtk_label_get_text(GTK_LABEL(d->title)));
    for (guint row = 0; row < d->threads->len; row++) {
        uint32_t thread = g_array_index(d->threads, uint32_t, row);
        int64_t ns[2] = {0, 0};
        for (guint i = 0; i < d->spans->len; i++) {
            const struct lock_span *s = &g_array_index(d->spans, struct lock_span, i);
            ns[s->waits] += s->thread == thread ? s->to_ns - s->from_ns : 0;
        }
        fprintf(f, "row %s holds %lld waits %lld\n", metadata_label(view_metadata(view), thread),
                (long long)ns[0], (long long)ns[1]);
    }
    grid_print(d->list, f);
}

/* ---- construction ---- */

static void lock_details_on_close(GtkButton *button, gpointer data)
{
    (void)button;
    lock_details_show(((struct lock_details *)data)->view, 0);
}

static GtkWidget *lock_details_create_head(struct lock_details *d)
{
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0),
              *close = gtk_button_new_from_icon_name("window-close-symbolic");
    d->title = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(d->title), 0);
    gtk_label_set_ellipsize(GTK_LABEL(d->title), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(d->title, TRUE);
    g_object_set(d->title, "margin-start", 8, NULL);
    gtk_widget_add_css_class(close, "flat");
    gtk_widget_set_tooltip_text(close, "Show all locks only");
    accessible_name_set(close, "Close the details of the lock");
    g_signal_connect(close, "clicked", G_CALLBACK(lock_details_on_close), d);
    gtk_box_append(GTK_BOX(head), d->title);
    gtk_box_append(GTK_BOX(head), close);
    return head;
}

static void lock_details_on_destroy(GtkWidget *widget, gpointer data)
{
    struct lock_details *d = data;
    (void)widget;
    table_model_clear(&d->holds);
    table_model_clear(&d->waits);
    g_array_free(d->spans, TRUE);
    g_array_free(d->threads, TRUE);
}

static struct lock_details *lock_details_create(struct view *view)
{
    struct lock_details *d = viewer_addons_add(&view->addons, &lock_details_addon);
    d->view = view;
    d->spans = g_array_new(FALSE, FALSE, sizeof(struct lock_span));
    d->threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    d->holds = d->waits = (struct table_model){
        .link = &view->server_link, .on_table = lock_details_on_table, .user = d};
    d->list = grid_new(view, "Holds of the lock", lock_details_columns, &lock_details_callbacks, d);
    d->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    d->chart = gtk_drawing_area_new();
    g_object_set(d->chart, "margin-start", 8, "margin-end", 8, "margin-bottom", 4, NULL);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(d->chart), lock_details_draw, d, NULL);
    gtk_box_append(GTK_BOX(d->box), lock_details_create_head(d));
    gtk_box_append(GTK_BOX(d->box), d->chart);
    gtk_box_append(GTK_BOX(d->box), grid_widget(d->list));
    gtk_widget_set_vexpand(grid_widget(d->list), TRUE);
    gtk_widget_set_visible(d->box, FALSE);
    g_signal_connect(d->box, "destroy", G_CALLBACK(lock_details_on_destroy), d);
    return d;
}

GtkWidget *lock_details_widget(struct view *view)
{
    struct lock_details *d = lock_details_find(view);
    return (d ? d : lock_details_create(view))->box;
}
