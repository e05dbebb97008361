/* The tab Source: source lines, with the time that each ran, waited, and made others wait. */
#include "clients/viewer/analysis/source_tab.h"

#include "clients/connection/result_table.h"
#include "clients/sourcefile/annotated_source.h"
#include "clients/symbols/symbolizer.h"
#include "clients/viewer/analysis/grid.h"
#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/source_code.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/state/request_slot.h"
#include "render/document.h"
#include "render/table_page.h"
#include "wire/limits.h"
#include "wire/query_results.h"
#include "wire/request.h"
#include "wire/table_rows.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Marks in the diagram for all events of some source lines, like search hits. */

struct source_hits {
    struct view *view;
    struct request_slot listing, searching;
    char *path; /* of the lines to mark; NULL: none */
    int first, last;
    struct search_site *sites; /* all call sites of the run, as last listed */
    uint32_t site_count;
};

static struct source_hits *source_hits_new(struct view *view)
{
    struct source_hits *h = g_new0(struct source_hits, 1);
    h->view = view;
    return h;
}

/* Cancels no request, as the link is closed by then. */
static void source_hits_free(struct source_hits *h)
{
    g_free(h->path);
    g_free(h->sites);
    g_free(h);
}

static bool is_wanted(const struct source_hits *h, const struct search_site *at)
{
    struct symbol_location site =
        symbolize_outer(h->view->server_link.sites, at->process, at->address);
    return site.line >= MIN(h->first, h->last) && site.line <= MAX(h->first, h->last) &&
           strcmp(site.path, h->path) == 0;
}

static void source_hits_receive_hits(void *user, const struct response_chunk *answer)
{
    struct source_hits *h = user;
    struct search_result found;
    if (answer->part != RESPONSE_FOUND)
        return;
    decode_search_result(answer->in, &found);
    struct event_id *events = g_new(struct event_id, found.hit_count + 1);
    for (uint32_t i = 0; i < found.hit_count; i++)
        events[i] = found.hits[i].at;
    if (decoder_finish(answer->in) && h->path && found.hit_count) {
        highlights_add(&h->view->highlights, events, found.hit_count);
        notifier_emit(&h->view->notifier, NOTIFY_HITS);
    }
    g_free(events);
    search_result_free(&found);
}

static void source_hits_search_events(struct source_hits *h)
{
    struct search_request r = {.limit = LIMIT_HITS, .text = (char *)(guintptr) ""};
    struct encoder body = {0};
    r.sites = g_new(struct search_site, h->site_count + 1);
    for (uint32_t i = 0; i < h->site_count; i++)
        if (is_wanted(h, &h->sites[i]))
            r.sites[r.site_count++] = h->sites[i];
    if (r.site_count) {
        encode_search_request(&body, &r);
        request_slot_send(&h->view->server_link, &h->searching, REQUEST_SEARCH, &body,
                          source_hits_receive_hits, h);
    }
    g_free(r.sites);
}

static void source_hits_receive_sites(void *user, const struct response_chunk *answer)
{
    struct source_hits *h = user;
    struct decoder *in = answer->in;
    if (answer->part != RESPONSE_SITES)
        return;
    uint32_t n = decode_count(in, 12);
    g_free(h->sites);
    h->sites = g_new(struct search_site, n + 1);
    for (h->site_count = 0; h->site_count < n; h->site_count++) {
        h->sites[h->site_count].process = decode_u32(in);
        h->sites[h->site_count].address = decode_u64(in);
    }
    if (h->path)
        source_hits_search_events(h);
}

static void source_hits_cancel(struct source_hits *h)
{
    request_slot_cancel(&h->view->server_link, &h->searching);
    g_clear_pointer(&h->path, g_free);
}

/* Lists the call sites again each time, since a growing run may have more. */
static void source_hits_mark(struct source_hits *h, const char *path, int first, int last)
{
    source_hits_cancel(h);
    h->path = g_strdup(path);
    h->first = first;
    h->last = last;
    if (!request_slot_is_running(&h->view->server_link, &h->listing))
        request_slot_send(&h->view->server_link, &h->listing, REQUEST_SITES, NULL,
                          source_hits_receive_sites, h);
}

/* another run */
static void source_hits_clear(struct source_hits *h)
{
    source_hits_cancel(h);
    request_slot_cancel(&h->view->server_link, &h->listing);
    g_clear_pointer(&h->sites, g_free);
    h->site_count = 0;
}

/* ---- the table of the lines (clients/sourcefile/annotated_source.h) ---- */

/* Returns the row of a line, -1: none. Prefers the row of the line itself to those above and below
 * it, in parentheses, for code that ran before or after it. */
static int source_rows_find_line(const struct result_table *t, int number)
{
    uint32_t line = result_table_find_column(t, "line"), last = result_table_find_column(t, "last"),
             text = result_table_find_column(t, "text");
    int found = -1;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = result_table_cells(t, i);
        if (cells[line].is != CELL_NUMBER || cells[line].number != number ||
            cells[last].is != CELL_NULL)
            continue;
        if (cells[text].is == CELL_TEXT && *cells[text].text != '(')
            return (int)i;
        found = found < 0 ? (int)i : found;
    }
    return found;
}

/* Returns the row with the greatest share, -1: none. */
static int source_rows_find_heaviest(const struct result_table *t)
{
    uint32_t share = result_table_find_column(t, "share");
    double most = 0;
    int row = -1;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cell = &result_table_cells(t, i)[share];
        if (cell->is != CELL_REAL || cell->real <= most)
            continue;
        most = cell->real;
        row = (int)i;
    }
    return row;
}

static bool source_rows_has_text(const struct result_table *t, uint32_t row, uint32_t column,
                                 const char *text)
{
    const struct table_cell *cell = &result_table_cells(t, row)[column];
    char *line = cell->is == CELL_TEXT ? g_utf8_casefold(cell->text, -1) : g_strdup("");
    bool has = strstr(line, text) != NULL;
    g_free(line);
    return has;
}

/* Returns the first row that contains a text, ignoring case, from a row on, wrapping around; -1:
 * none. */
static int source_rows_find_text(const struct result_table *t, uint32_t from, const char *text)
{
    char *folded = g_utf8_casefold(text, -1);
    uint32_t column = result_table_find_column(t, "text"), i = 0;
    while (i < t->row_count && !source_rows_has_text(t, (from + i) % t->row_count, column, folded))
        i++;
    bool found = *folded && i < t->row_count;
    g_free(folded);
    return found ? (int)((from + i) % t->row_count) : -1;
}

/* The text comes first, then the costs. */
static const struct grid_column source_rows_columns[] = {
    {"share", NULL, " "},           {"line", "last", NULL},   {"text", NULL, NULL},
    {"caused_wait_ns", NULL, NULL}, {"self_ns", NULL, NULL},  {"waited_ns", NULL, NULL},
    {"path_ns", NULL, NULL},        {"total_ns", NULL, NULL}, {"calls", NULL, NULL},
    {"share", NULL, NULL},          {"ran_ns", NULL, NULL},   {0}};
/* Of each column. */
static const unsigned source_rows_styles[] = {GRID_BAR,
                                              GRID_BLANK | GRID_SHADED,
                                              GRID_BLANK | GRID_CODE,
                                              GRID_BLANK,
                                              GRID_BLANK,
                                              GRID_BLANK,
                                              GRID_BLANK,
                                              GRID_BLANK,
                                              GRID_BLANK,
                                              GRID_BLANK,
                                              GRID_BLANK};

/* Writes it as poet source does; returns false with the reason in *why. */
static bool source_rows_write(const struct result_table *t, const struct table_names *names,
                              const struct document_options *options, const char *file,
                              const char **why)
{
    struct text_table sheet = {0};
    annotated_source_write(&sheet, names, t);
    bool written = table_page_write(&sheet, 1, options, file, why);
    text_table_free(&sheet);
    return written;
}

/* ---- the tab ---- */

/* Attached to the window. */
struct source_tab {
    struct view *view;
    GtkWidget *box;
    struct source_header head;
    struct grid *grid;
    struct line_costs costs;
    struct result_table table; /* the lines that are shown */
    struct source_file_text written; /* the file that is shown */
    char *path; /* its path in the debug information; NULL: none yet */
    struct table_place wanted; /* call site of the line to be shown; address 0: none */
    struct event_id revealed; /* the last event of which the line was shown */
    struct source_hits *hits;
    bool fresh; /* the file was not shown before */
};

static struct source_tab *source_tab_state(struct view *view)
{
    return g_object_get_data(G_OBJECT(view->window), "page source");
}

static const struct line_costs_file *file_of(const struct source_tab *s)
{
    for (uint32_t i = 0; s->path && i < s->costs.file_count; i++)
        if (strcmp(s->costs.files[i].path, s->path) == 0)
            return &s->costs.files[i];
    return NULL;
}

static void source_tab_show_file_state(struct source_tab *s)
{
    source_header_show_file_state(&s->head, file_of(s), &s->written,
                                  (int64_t)view_metadata(s->view)->run.wall_ns);
}

/* ---- contents ---- */

static void show_lines(struct source_tab *s)
{
    struct result_table before = s->table;
    const struct line_costs_file *file = file_of(s);
    struct annotated_source_options wanted = {.all = true};
    s->table = (struct result_table){0};
    if (file)
        annotated_source_lines(&s->table, &s->costs, file, &s->written, &wanted);
    grid_show(s->grid, &s->table);
    result_table_free(&before);
    if (s->fresh) /* show the line with the greatest share first */
        grid_seek(s->grid, source_rows_find_heaviest(&s->table));
    s->fresh = false;
    if (grid_selected(s->grid) < 0)
        source_tab_show_file_state(s);
}

static void source_tab_select_file(struct source_tab *s, const char *path)
{
    if (s->path && strcmp(s->path, path) == 0)
        return;
    g_free(s->path);
    s->path = g_strdup(path);
    s->fresh = true;
    source_files_free(&s->written);
    source_files_excerpt(&s->written, path);
}

static void list_files(struct source_tab *s)
{
    const struct line_costs_file *file = file_of(s);
    source_header_show_files(&s->head, &s->costs, file ? (uint32_t)(file - s->costs.files) : 0);
}

/* Shows what was called on these lines, and waited for. */
static void source_tab_show_line_status(struct source_tab *s, int first, int last)
{
    const struct line_costs_file *file = file_of(s);
    struct table_names names = {view_metadata(s->view), s->view->server_link.sites};
    for (uint32_t i = 0; file && i < file->line_count; i++) {
        const struct line_costs_line *line = &file->lines[i];
        if (line->first != first || line->last != last || line->from)
            continue;
        char *text = annotated_source_line_text(&names, &s->costs, line);
        if (*text)
            source_header_show_message(&s->head, text);
        free(text);
    }
}

/* Shows the requested line, if its file is there. */
static void source_tab_reveal_wanted(struct source_tab *s)
{
    struct table_place at = s->wanted;
    if (!at.address || !s->costs.file_count)
        return;
    struct symbol_location site =
        symbolize_outer(s->view->server_link.sites, at.process, at.address);
    char *path = g_strdup(site.path);
    int number = site.line;
    bool several;
    s->wanted = (struct table_place){0};
    if (*path && number > 0 && line_costs_find(&s->costs, path, &several)) {
        bool other = g_strcmp0(s->path, path) != 0;
        source_tab_select_file(s, path);
        if (other) {
            list_files(s);
            show_lines(s);
        }
        grid_reveal(s->grid, source_rows_find_line(&s->table, number));
        source_tab_show_file_state(s);
        source_tab_show_line_status(s, number, number);
    }
    g_free(path);
}

static void source_tab_on_table(struct view *view, const struct result_table *t)
{
    struct source_tab *s = source_tab_state(view);
    struct table_names names = {view_metadata(view), view->server_link.sites};
    line_costs_free(&s->costs);
    if (!t->row_count || !line_costs_make(&s->costs, &names, t))
        s->costs = (struct line_costs){0};
    if (s->costs.file_count && !file_of(s))
        source_tab_select_file(s, s->costs.files[0].path);
    list_files(s);
    show_lines(s);
    source_tab_reveal_wanted(s);
}

static GtkWidget *source_tab_replacement_widget(struct view *view)
{
    struct source_tab *s = source_tab_state(view);
    return s->costs.file_count ? s->box : NULL;
}

/* ---- selection ---- */

static void mark_line(struct source_tab *s, int row)
{
    const struct table_cell *cells = result_table_cells(&s->table, (uint32_t)row),
                            *first = &cells[result_table_find_column(&s->table, "line")],
                            *last = &cells[result_table_find_column(&s->table, "last")];
    if (first->is != CELL_NUMBER || !s->path || !*s->path)
        return;
    last = last->is == CELL_NUMBER ? last : first;
    source_hits_mark(s->hits, s->path, (int)first->number, (int)last->number);
    source_tab_show_line_status(s, (int)first->number, (int)last->number);
}

static void on_selected(void *user, int row)
{
    struct source_tab *s = user;
    struct view *view = s->view;
    source_hits_cancel(s->hits);
    source_tab_show_file_state(s);
    if (row < 0) {
        highlights_clear(&view->highlights);
    } else {
        const struct table_row *r = &s->table.rows[row];
        highlights_set(&view->highlights, &r->event, 1, r->lines, r->line_count);
        mark_line(s, row);
    }
    notifier_emit(&view->notifier, NOTIFY_HITS);
}

static void on_activated(void *user, int row)
{
    struct source_tab *s = user;
    const struct table_cell *cell =
        &result_table_cells(&s->table, (uint32_t)row)[result_table_find_column(&s->table, "line")];
    char *path = s->written.problem ? NULL : g_canonicalize_filename(s->written.path, NULL);
    if (path && cell->is == CELL_NUMBER)
        source_code_open(s->view, path, (int)cell->number);
    else
        status_line_show(&s->view->status_line, "Source file not found");
    g_free(path);
}

static void on_pointed(void *user, int row)
{
    struct source_tab *s = user;
    struct event_id at = row >= 0 ? s->table.rows[row].event : (struct event_id){0};
    if (at.line)
        go_to_event(s->view, at, NO_POSITION);
}

static const struct grid_callbacks source_tab_grid_callbacks = {on_selected, on_activated,
                                                                on_pointed};

static void on_file(void *user, uint32_t at)
{
    struct source_tab *s = user;
    if (at >= s->costs.file_count)
        return;
    source_tab_select_file(s, s->costs.files[at].path);
    show_lines(s);
}

/* ---- search ---- */

/* Searches from the line after the selected one, and wraps around. */
static void on_find(void *user, const char *text)
{
    struct source_tab *s = user;
    int row = source_rows_find_text(&s->table, (uint32_t)(grid_selected(s->grid) + 1), text);
    if (row >= 0) {
        grid_reveal(s->grid, row);
        on_selected(s, row);
    } else if (*text) {
        status_line_show(&s->view->status_line, "No matching line");
    }
}

bool source_tab_find(struct view *view)
{
    struct source_tab *s = source_tab_state(view);
    GtkWidget *at = gtk_window_get_focus(GTK_WINDOW(view->window));
    if (!s || !at || !gtk_widget_is_ancestor(at, s->box))
        return false;
    return gtk_widget_grab_focus(s->head.entry);
}

static void on_left(void *user) { grid_focus(((struct source_tab *)user)->grid); }

/* ---- notifications ---- */

/* Shows the source line of a place, once it is known. */
static void source_tab_reveal(struct view *view, struct table_place place)
{
    struct source_tab *s = source_tab_state(view);
    s->wanted = place;
    source_tab_reveal_wanted(s);
}

/* Shows the line of a selected event once, so that the user can scroll away. */
static void source_tab_on_notification(struct view *view, enum notification what)
{
    struct source_tab *s = source_tab_state(view);
    struct event_id selected = view->viewport.place.selected;
    const struct event_info *e = scene_cache_find_event(&view->scene_cache, selected);
    (void)what;
    if (!selected.line)
        s->revealed = selected;
    if (event_id_equal(selected, s->revealed) || !e)
        return;
    s->revealed = selected;
    if (e->site)
        source_tab_reveal(view, (struct table_place){e->process, e->site});
}

static void source_tab_clear_source(struct view *view)
{
    struct source_tab *s = source_tab_state(view);
    source_hits_clear(s->hits);
    s->wanted = (struct table_place){0};
    g_clear_pointer(&s->path, g_free);
    source_files_free(&s->written);
}

static bool select_row(struct view *view, int row)
{
    struct source_tab *s = source_tab_state(view);
    if (row < (int)s->table.row_count)
        grid_select(s->grid, row);
    return true;
}

static bool source_tab_activate_row(struct view *view)
{
    struct source_tab *s = source_tab_state(view);
    if (grid_selected(s->grid) >= 0)
        on_activated(s, grid_selected(s->grid));
    return true;
}

static bool source_tab_focus_grid(struct view *view)
{
    grid_focus(source_tab_state(view)->grid);
    return true;
}

static bool source_tab_print_lines(struct view *view, FILE *f)
{
    struct source_tab *s = source_tab_state(view);
    if (!s->table.column_count)
        return false;
    grid_print(s->grid, f);
    return true;
}

static bool source_tab_write_file(struct view *view, const struct document_options *options,
                                  const char *file, const char **why)
{
    struct source_tab *s = source_tab_state(view);
    struct table_names names = {view_metadata(view), view->server_link.sites};
    if (!s->table.column_count)
        return false;
    source_rows_write(&s->table, &names, options, file, why);
    return true;
}

/* ---- construction ---- */

/* A link to a place, as "PROCESS:ADDRESS". */
static void on_place(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    char *end;
    const char *text = g_variant_get_string(parameter, NULL);
    uint32_t process = (uint32_t)strtoul(text, &end, 16);
    (void)action;
    source_tab_reveal(data, (struct table_place){process, *end ? strtoull(end + 1, NULL, 16) : 0});
    gtk_widget_activate_action(((struct view *)data)->window, "win.show-source", NULL);
}

static void free_sourced(gpointer data)
{
    struct source_tab *s = data;
    line_costs_free(&s->costs);
    result_table_free(&s->table);
    source_files_free(&s->written);
    g_free(s->path);
    source_hits_free(s->hits);
    g_object_unref(s->box);
    g_free(s);
}

/* Creates the contents, which replace the table; returns an empty header. */
static GtkWidget *source_tab_create(struct view *view)
{
    struct source_tab *s = g_new0(struct source_tab, 1);
    s->view = view;
    s->hits = source_hits_new(view);
    s->grid = grid_new(view, "Source", source_rows_columns, &source_tab_grid_callbacks, s);
    grid_style(s->grid, source_rows_styles);
    s->box = g_object_ref_sink(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0));
    s->head =
        (struct source_header){.chosen = on_file, .sought = on_find, .left = on_left, .user = s};
    source_header_build(&s->head);
    gtk_box_append(GTK_BOX(s->box), s->head.box);
    gtk_box_append(GTK_BOX(s->box), grid_widget(s->grid));
    g_object_set_data_full(G_OBJECT(view->window), "page source", s, free_sourced);
    tab_controls_add_action(view, "source-line", G_VARIANT_TYPE_STRING, NULL, G_CALLBACK(on_place));
    return gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
}

const struct tab page_source = {
    .name = "source",
    .title = "Source",
    .preset = "source",
    .row_kind = "",
    .empty_text = "No call sites yet.",
    .tooltip = "Run time and wait time per source line",
    .header = source_tab_create,
    .replacement = source_tab_replacement_widget,
    .on_notification = source_tab_on_notification,
    .clear = source_tab_clear_source,
    .on_table = source_tab_on_table,
    .select = select_row,
    .enter = source_tab_activate_row,
    .focus = source_tab_focus_grid,
    .print = source_tab_print_lines,
    .write = source_tab_write_file,
};
