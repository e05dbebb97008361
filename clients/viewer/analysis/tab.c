#include "clients/viewer/analysis/tab.h"

#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/state/request_slot.h"
#include "render/table_page.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_US 250000 /* between requests, while the run grows */
#define ROWS_MOST 5000u

struct tab_instance {
    struct view *view;
    const struct tab *page;
    struct table_model tabled;
    struct result_table kept; /* the rows that pass the filter; no columns: all pass */
    bool seen; /* the tab is visible */
    bool unshown; /* the grid has an earlier table */
    struct grid *grid;
    GtkWidget *box, *stack, *message, *working, *progress, *cancel, *foot;
    guint soon; /* timer of the next request */
    bool stale; /* the table is outdated */
    struct view_state_range range; /* that of the last request */
    bool given_up; /* the user cancelled it */
    bool wants_focus;
    bool divided; /* the width was divided between the table and what is beside it */
};

/* ---- requests ---- */

static void show_progress(struct tab_instance *p)
{
    struct table_model *t = &p->tabled;
    bool runs = table_model_is_running(t), slow = g_get_monotonic_time() - t->asked_us > EVERY_US;
    double share = t->count ? (double)t->known / (double)t->count : 0;
    gtk_widget_set_visible(p->working, (runs && slow) || p->given_up);
    gtk_widget_set_visible(p->progress, !p->given_up);
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(p->progress), CLAMP(share, 0, 1));
    char *text = g_strdup_printf("Computing: %.0f %%", 100 * share);
    gtk_progress_bar_set_text(GTK_PROGRESS_BAR(p->progress), text);
    gtk_button_set_label(GTK_BUTTON(p->cancel), p->given_up ? "Retry" : "Cancel");
    g_free(text);
}

/* Restricts a request to the selected range. */
static void tab_limit_request(struct tab_instance *p, struct table_request *request)
{
    struct view_state_range range = view_state_range_copy(&p->view->viewport.place.range);
    free(p->range.lines);
    p->range = range;
    if (!p->page->whole_run)
        time_range_limit_threads(p->view, request);
}

/* Returns whether the range has changed since the last request. */
static bool tab_has_other_range(const struct tab_instance *p)
{
    return !p->page->whole_run &&
           !view_state_range_equal(&p->range, &p->view->viewport.place.range);
}

static void tab_request_table(struct tab_instance *p)
{
    struct table_request request = table_model_request(p->page->preset, p->page->row_kind);
    request.top = ROWS_MOST;
    tab_limit_request(p, &request);
    if (p->page->request)
        p->page->request(p->view, &request);
    p->stale = false;
    table_model_send(&p->tabled, &request);
    show_progress(p);
}

static gboolean on_soon(gpointer data);

/* Requests the table now, or as soon as EVERY_US allows; while a request is pending, its response
 * leads to the next one. Another range waits for no time. */
static void tab_request_soon(struct tab_instance *p)
{
    gint64 since = g_get_monotonic_time() - p->tabled.asked_us;
    const struct server_link *link = &p->view->server_link;
    p->stale = true;
    if (p->given_up || table_model_is_running(&p->tabled) || !link->connected || !link->has_run)
        return;
    if (since >= EVERY_US || tab_has_other_range(p)) {
        tab_request_table(p);
        since = 0;
    }
    if (!p->soon)
        p->soon = g_timeout_add((guint)((EVERY_US - since) / 1000) + 1, on_soon, p);
}

static gboolean on_soon(gpointer data)
{
    struct tab_instance *p = data;
    p->soon = 0;
    if (p->stale && p->seen)
        tab_request_soon(p);
    show_progress(p);
    return G_SOURCE_REMOVE;
}

static void tab_show_message(struct tab_instance *p);

static void on_cancel(GtkButton *button, gpointer data)
{
    struct tab_instance *p = data;
    (void)button;
    p->given_up = !p->given_up;
    if (p->given_up)
        table_model_cancel(&p->tabled);
    else
        tab_request(p);
    tab_show_message(p);
    show_progress(p);
}

/* ---- contents ---- */

/* Returns the text below the table: totals and notes. */
static char *tab_footer_text(struct tab_instance *p)
{
    const struct result_table *t = &p->tabled.table;
    struct table_names names = {view_metadata(p->view), p->view->server_link.sites};
    GString *s = g_string_new(NULL);
    for (uint32_t i = 0; t->total && i < t->column_count; i++) {
        const struct table_column *c = &t->columns[i];
        if (c->detail || t->total[i].is == CELL_NULL)
            continue;
        char *cell = result_table_cell_text(&names, c, &t->total[i]);
        const char *unit = c->kind == TABLE_NS ? " ms" : "",
                   *title = strcmp(c->title, "%") == 0 ? "" : c->title; /* the cell contains it */
        g_string_append_printf(s, "%s%s%s%s%s", s->len ? ", " : "Total: ", title, *title ? " " : "",
                               cell, unit);
        free(cell);
    }
    for (uint32_t i = 0; i < t->note_count; i++)
        g_string_append_printf(s, "%s%s", s->len ? " — " : "", t->notes[i]);
    return g_string_free(s, FALSE);
}

static void show_table(struct tab_instance *p);

/* Returns the text in place of rows; NULL: there are rows. */
static const char *tab_message_for(const struct tab_instance *p)
{
    const struct result_table *t = &p->tabled.table;
    return t->problem                          ? t->problem
           : t->row_count                      ? NULL
           : p->given_up                       ? "The analysis was canceled."
           : !p->view->server_link.has_run     ? "No run is open."
           : !p->tabled.has_answer             ? "Computing..."
           : t->total && p->page->no_rows_text ? p->page->no_rows_text
                                               : p->page->empty_text;
}

static void tab_show_message(struct tab_instance *p)
{
    const char *text = tab_message_for(p);
    GtkWidget *instead = p->page->replacement ? p->page->replacement(p->view) : NULL;
    if (instead && !gtk_widget_get_parent(instead))
        gtk_stack_add_child(GTK_STACK(p->stack), instead);
    gtk_label_set_text(GTK_LABEL(p->message), text ? text : "");
    if (p->unshown && !instead)
        show_table(p);
    gtk_stack_set_visible_child(GTK_STACK(p->stack), instead ? instead
                                                     : text || !p->tabled.has_answer
                                                         ? p->message
                                                         : grid_widget(p->grid));
    char *foot = instead ? g_strdup("") : tab_footer_text(p);
    gtk_label_set_text(GTK_LABEL(p->foot), foot);
    gtk_widget_set_tooltip_text(p->foot, foot);
    gtk_widget_set_visible(p->foot, *foot != 0);
    g_free(foot);
}

/* Returns whether the tab must change between the table and what replaces it. */
static bool is_another(const struct tab_instance *p)
{
    GtkWidget *shown = gtk_stack_get_visible_child(GTK_STACK(p->stack));
    GtkWidget *instead = p->page->replacement ? p->page->replacement(p->view) : NULL;
    return instead ? shown != instead : shown != p->message && shown != grid_widget(p->grid);
}

const struct result_table *tab_table(const struct tab_instance *p)
{
    return p->kept.columns ? &p->kept : &p->tabled.table;
}

/* Copies the rows to keep; what their cells point to still belongs to the table. */
static struct result_table keep_rows(const struct result_table *t, const bool *keeps)
{
    struct result_table kept = *t;
    kept.rows = g_new0(struct table_row, t->row_count + 1);
    kept.cells = g_new0(struct table_cell, (size_t)(t->row_count + 1) * t->column_count);
    kept.row_count = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (!keeps[i])
            continue;
        memcpy(result_table_cells(&kept, kept.row_count), result_table_cells(t, i),
               t->column_count * sizeof *t->cells);
        kept.rows[kept.row_count++] = t->rows[i];
    }
    return kept;
}

static void free_kept(struct result_table *kept)
{
    g_free(kept->rows);
    g_free(kept->cells);
}

/* Fills the grid, as soon as it is visible. */
static void show_table(struct tab_instance *p)
{
    const struct result_table *t = &p->tabled.table;
    struct result_table before = p->kept;
    bool *keeps = p->page->filter_rows && t->column_count ? p->page->filter_rows(p->view, t) : NULL;
    p->kept = keeps ? keep_rows(t, keeps) : (struct result_table){0};
    p->unshown = false;
    grid_show(p->grid, tab_table(p));
    free_kept(&before);
    g_free(keeps);
}

/* Empties the grid, which is not visible, since its table has been freed. */
static void empty_grid(struct tab_instance *p)
{
    static const struct result_table none;
    grid_show(p->grid, &none);
    free_kept(&p->kept);
    p->kept = (struct result_table){0};
}

static void tab_on_table(void *user)
{
    struct tab_instance *p = user;
    show_progress(p);
    if (!p->tabled.fresh)
        return;
    p->tabled.fresh = false;
    p->unshown = true;
    if (p->page->replacement && p->page->replacement(p->view))
        empty_grid(p);
    if (p->page->rewrite)
        p->page->rewrite(p->view, &p->tabled.table);
    if (p->page->on_table)
        p->page->on_table(p->view, &p->tabled.table);
    if (p->stale && p->seen)
        tab_request_soon(p);
    tab_show_message(p);
    if (p->wants_focus)
        tab_focus(p);
}

/* ---- rows ---- */

static struct event_id event_of(const struct tab_instance *p, int row)
{
    const struct result_table *t = tab_table(p);
    return row >= 0 && (uint32_t)row < t->row_count ? t->rows[row].event : (struct event_id){0};
}

/* Returns the row that has the event: this one, or one above it. */
static int tab_header_text(const struct tab_instance *p, int row)
{
    while (row > 0 && !event_of(p, row).line && tab_table(p)->rows[row].depth)
        row--;
    return row;
}

static void on_selected(void *user, int row)
{
    struct tab_instance *p = user;
    struct view *view = p->view;
    if (row < 0) {
        highlights_clear(&view->highlights);
    } else {
        const struct table_row *r = &tab_table(p)->rows[row];
        struct event_id event = event_of(p, tab_header_text(p, row));
        highlights_set(&view->highlights, &event, 1, r->lines, r->line_count);
    }
    if (p->page->selected)
        p->page->selected(view, tab_table(p), row < 0 ? row : tab_header_text(p, row));
    if (p->page->on_row_selected)
        p->page->on_row_selected(view, tab_table(p), row);
    notifier_emit(&view->notifier, NOTIFY_HITS);
}

static void on_activated(void *user, int row)
{
    struct tab_instance *p = user;
    struct event_id at = event_of(p, tab_header_text(p, row));
    if (at.line)
        go_to_event(p->view, at, NO_POSITION);
}

static void on_pointed(void *user, int row)
{
    struct tab_instance *p = user;
    if (row >= 0 && p->page->pointed)
        p->page->pointed(p->view);
}

static const struct grid_callbacks tab_grid_callbacks = {on_selected, on_activated, on_pointed};

void tab_select(struct tab_instance *p, int row)
{
    if (p->page->select && p->page->select(p->view, row))
        return;
    if (row < (int)tab_table(p)->row_count)
        grid_select(p->grid, row);
}

void tab_enter(struct tab_instance *p)
{
    int row = grid_selected(p->grid);
    if (p->page->enter && p->page->enter(p->view))
        return;
    if (row >= 0)
        on_activated(p, row);
}

void tab_print(struct tab_instance *p, FILE *f)
{
    if (!p->page->print || !p->page->print(p->view, f))
        grid_print(p->grid, f);
}

void tab_print_aside(struct tab_instance *p, FILE *f)
{
    if (p->page->aside)
        p->page->aside->print(p->view, f);
}

void tab_request(struct tab_instance *p)
{
    table_model_cancel(&p->tabled);
    p->tabled.asked_us = 0;
    tab_request_soon(p);
    tab_show_message(p);
}

void tab_filter(struct tab_instance *p)
{
    p->unshown = p->tabled.has_answer;
    tab_show_message(p);
}

bool tab_is_shown(const struct tab_instance *p) { return p->seen; }

bool tab_has_rows(const struct tab_instance *p)
{
    return p->tabled.has_answer && tab_table(p)->row_count;
}

/* ---- export ---- */

static struct document_options options_for(struct tab_instance *p, const char *file,
                                           const char *title)
{
    struct document_options o = {.title = title,
                                 .format = g_str_has_suffix(file, ".svg")   ? DOCUMENT_SVG
                                           : g_str_has_suffix(file, ".png") ? DOCUMENT_PNG
                                                                            : DOCUMENT_PDF,
                                 .date =
                                     (time_t)(view_metadata(p->view)->run.wall_ns / 1000000000u)};
    o.theme.grey = p->view->viewer_settings.look.grey;
    return o;
}

static bool save_table(struct tab_instance *p, const struct document_options *o, const char *file,
                       const char **why)
{
    struct table_names names = {view_metadata(p->view), p->view->server_link.sites};
    uint32_t count, *columns = result_table_choose_columns(tab_table(p), NULL, &count, NULL);
    struct text_table sheet = {0};
    result_table_to_text(&sheet, &names, tab_table(p), columns, count);
    free(sheet.title);
    sheet.title = g_strdup(o->title);
    bool written = table_page_write(&sheet, 1, o, file, why);
    text_table_free(&sheet);
    free(columns);
    return written;
}

bool tab_save(struct tab_instance *p, const char *file, const char **why)
{
    char *title = g_strdup_printf("%s: %s", view_metadata(p->view)->run.name, tab_table(p)->title);
    struct document_options o = options_for(p, file, title);
    *why = NULL;
    if (!p->page->write || !p->page->write(p->view, &o, file, why))
        save_table(p, &o, file, why);
    g_free(title);
    return !*why;
}

/* ---- notifications ---- */

void tab_notify(struct tab_instance *p, enum notification what, bool seen)
{
    bool more = what == NOTIFY_TAB_SHOWN || what == NOTIFY_QUIET || what == NOTIFY_RUN_UPDATED;
    if (what == NOTIFY_TAB_SHOWN && p->tabled.has_answer && !p->stale)
        more = false;
    more |= tab_has_other_range(p);
    p->stale |= more;
    p->seen = seen;
    if (!seen)
        return;
    if (more)
        tab_request_soon(p);
    if (p->page->on_notification)
        p->page->on_notification(p->view, what);
    if (what == NOTIFY_DIAGRAM && p->tabled.has_answer)
        grid_refresh(p->grid);
    if ((what == NOTIFY_DIAGRAM || what == NOTIFY_TAB_SHOWN || what == NOTIFY_SETTINGS ||
         is_another(p)) &&
        p->page->replacement)
        tab_show_message(p);
}

void tab_clear(struct tab_instance *p)
{
    static const struct result_table none;
    empty_grid(p);
    p->unshown = false;
    table_model_clear(&p->tabled);
    if (p->page->on_table)
        p->page->on_table(p->view, &none);
    p->given_up = false;
    p->stale = true;
    if (p->page->clear)
        p->page->clear(p->view);
    tab_show_message(p);
    show_progress(p);
}

/* If no widget on the tab takes the focus, the tab itself has it: for Escape, and as the start for
 * Tab. */
static void tab_grab_focus(GtkWidget *shown)
{
    gtk_widget_set_focusable(shown, TRUE);
    g_object_set_data(G_OBJECT(shown), "keys", shown);
    gtk_widget_grab_focus(shown);
}

void tab_focus(struct tab_instance *p)
{
    GtkWidget *shown = gtk_stack_get_visible_child(GTK_STACK(p->stack));
    p->wants_focus = !p->tabled.has_answer;
    bool has = false;
    if (shown == grid_widget(p->grid))
        grid_focus(p->grid), has = true;
    else if (shown != p->message)
        has = (p->page->focus && p->page->focus(p->view)) ||
              gtk_widget_child_focus(shown, GTK_DIR_TAB_FORWARD);
    if (!has)
        tab_grab_focus(shown);
}

const char *tab_message(const struct tab_instance *p)
{
    bool visible = gtk_stack_get_visible_child(GTK_STACK(p->stack)) == p->message;
    return visible ? gtk_label_get_text(GTK_LABEL(p->message)) : NULL;
}

bool tab_is_busy(const struct tab_instance *p)
{
    return table_model_is_running(&p->tabled) || (p->soon && p->stale) ||
           (p->page->aside && p->page->aside->is_busy && p->page->aside->is_busy(p->view));
}

/* ---- construction ---- */

static void build_working(struct tab_instance *p)
{
    p->working = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    p->progress = gtk_progress_bar_new();
    p->cancel = gtk_button_new_with_label("Cancel");
    gtk_progress_bar_set_show_text(GTK_PROGRESS_BAR(p->progress), TRUE);
    gtk_widget_set_hexpand(p->progress, TRUE);
    gtk_widget_set_valign(p->progress, GTK_ALIGN_CENTER);
    g_object_set(p->working, "margin-start", 8, "margin-end", 8, NULL);
    g_signal_connect(p->cancel, "clicked", G_CALLBACK(on_cancel), p);
    gtk_box_append(GTK_BOX(p->working), p->progress);
    gtk_box_append(GTK_BOX(p->working), p->cancel);
    gtk_widget_set_visible(p->working, FALSE);
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct tab_instance *p = data;
    (void)widget;
    g_clear_handle_id(&p->soon, g_source_remove);
    table_model_clear(&p->tabled);
}

static GtkWidget *label_new(bool dim)
{
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), dim ? 0 : 0.5f);
    g_object_set(label, "margin-start", 8, "margin-end", 8, "margin-top", 2, "margin-bottom", 2,
                 NULL);
    if (dim)
        gtk_widget_add_css_class(label, "dim-label");
    return label;
}

/* Divides the width when there is something beside the table for the first time. */
static void tab_on_width(GObject *object, GParamSpec *spec, gpointer data)
{
    struct tab_instance *p = data;
    int width = gtk_widget_get_width(GTK_WIDGET(object));
    (void)spec;
    if (p->divided || width <= 0 ||
        !gtk_widget_get_visible(gtk_paned_get_end_child(GTK_PANED(object))))
        return;
    p->divided = true;
    gtk_paned_set_position(GTK_PANED(object), (int)(width * (1 - p->page->aside->share)));
}

/* Returns the table with what is beside it. */
static GtkWidget *tab_contents(struct tab_instance *p)
{
    if (!p->page->aside)
        return p->stack;
    GtkWidget *paned = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    gtk_paned_set_start_child(GTK_PANED(paned), p->stack);
    gtk_paned_set_end_child(GTK_PANED(paned), p->page->aside->widget(p->view));
    g_signal_connect(paned, "notify::max-position", G_CALLBACK(tab_on_width), p);
    return paned;
}

struct tab_instance *tab_new(struct view *view, const struct tab *page)
{
    struct tab_instance *p = g_new0(struct tab_instance, 1);
    *p = (struct tab_instance){
        .view = view,
        .page = page,
        .stale = true,
        .tabled = {.link = &view->server_link, .on_table = tab_on_table, .user = p}};
    p->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    p->stack = gtk_stack_new();
    p->message = label_new(false);
    p->foot = label_new(true);
    gtk_label_set_wrap(GTK_LABEL(p->message), TRUE);
    gtk_label_set_ellipsize(GTK_LABEL(p->foot), PANGO_ELLIPSIZE_END);
    p->grid = grid_new(view, page->title, page->columns, &tab_grid_callbacks, p);
    grid_style(p->grid, page->styles);
    gtk_stack_add_child(GTK_STACK(p->stack), p->message);
    gtk_stack_add_child(GTK_STACK(p->stack), grid_widget(p->grid));
    gtk_widget_set_vexpand(p->stack, TRUE);
    build_working(p);
    gtk_box_append(GTK_BOX(p->box), p->working);
    if (page->header)
        gtk_box_append(GTK_BOX(p->box), page->header(view));
    gtk_box_append(GTK_BOX(p->box), tab_contents(p));
    gtk_box_append(GTK_BOX(p->box), p->foot);
    g_signal_connect(p->box, "destroy", G_CALLBACK(on_destroy), p);
    g_object_set_data_full(G_OBJECT(p->box), "page", p, g_free);
    if (page->on_created)
        page->on_created(view, p);
    return p;
}

GtkWidget *tab_widget(struct tab_instance *p) { return p->box; }

const struct tab *tab_definition(const struct tab_instance *p) { return p->page; }
