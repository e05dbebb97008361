/* The program's source: what each line took, waited, and made others wait. */
#include "clients/view/drawer/source.h"

#include "clients/source/costs.h"
#include "clients/source/lined.h"
#include "clients/source/written.h"
#include "clients/view/drawer/grid.h"
#include "clients/view/drawer/linehits.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/parts/marked.h"
#include "clients/view/picture/editor.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"

#include <stdlib.h>
#include <string.h>

/* Kept with the window. */
struct sourced {
    struct view *view;
    GtkWidget *box, *files, *entry, *said;
    GtkStringList *names; /* of the files, as they are listed */
    struct grid *grid;
    struct costs costs;
    struct shown_table table; /* the lines that are shown */
    struct written written; /* the file that is shown */
    char *path; /* of it, as debug information has it; NULL: none yet */
    struct table_place wanted; /* its line is to be seen; address 0: none */
    struct linehits *hits;
    bool quiet; /* the list of files is being filled */
};

static struct sourced *sourced_of(struct view *view)
{
    return g_object_get_data(G_OBJECT(view->window), "page source");
}

static const struct costs_file *file_of(const struct sourced *s)
{
    for (uint32_t i = 0; s->path && i < s->costs.file_count; i++)
        if (strcmp(s->costs.files[i].path, s->path) == 0)
            return &s->costs.files[i];
    return NULL;
}

/* ---- the text of the file ---- */

/* Where it was compiled, else under its name where the viewer was started. */
static void read_text(struct sourced *s)
{
    struct written_map here = {NULL, "."};
    struct written_search around = {&here, 1};
    char *there = written_find(NULL, s->path);
    written_free(&s->written);
    written_read(&s->written, there ? NULL : &around, s->path);
    free(there);
}

static void say(struct sourced *s)
{
    const struct costs_file *file = file_of(s);
    const struct book *book = the_book(s->view);
    const char *problem = s->written.problem;
    char *text = NULL;
    if (file && !*file->path)
        text = g_strdup("Places without debug information");
    else if (file && problem)
        text = g_strdup_printf("Its text: %s", problem);
    else if (file && s->written.changed_ns > (int64_t)book->run.wall_ns)
        text = g_strdup("It has changed since the run began: its lines may be others");
    gtk_label_set_text(GTK_LABEL(s->said), text ? text : "");
    gtk_widget_set_tooltip_text(s->said, text);
    g_free(text);
}

/* ---- showing ---- */

static void show_lines(struct sourced *s)
{
    struct shown_table before = s->table;
    const struct costs_file *file = file_of(s);
    struct lined_wanted wanted = {.all = true};
    s->table = (struct shown_table){0};
    if (file)
        lined_lines(&s->table, &s->costs, file, &s->written, &wanted);
    grid_show(s->grid, &s->table);
    shown_table_free(&before);
    say(s);
}

static void choose(struct sourced *s, const char *path)
{
    if (s->path && strcmp(s->path, path) == 0)
        return;
    g_free(s->path);
    s->path = g_strdup(path);
    read_text(s);
}

/* "worker.c — 41.2 %": what weighs most stands first. */
static void list_files(struct sourced *s)
{
    guint at = 0, n = g_list_model_get_n_items(G_LIST_MODEL(s->names));
    const char **names = g_new0(const char *, s->costs.file_count + 1);
    s->quiet = true;
    for (uint32_t i = 0; i < s->costs.file_count; i++) {
        const struct costs_file *file = &s->costs.files[i];
        char *path = lined_path(costs_path(file));
        char *base = g_path_get_basename(path);
        names[i] =
            g_strdup_printf("%s — %.1f %%", base, 100 * costs_share(&s->costs, &file->figures));
        at = file == file_of(s) ? i : at;
        g_free(base);
        free(path);
    }
    bool same = n == s->costs.file_count;
    for (guint i = 0; same && i < n; i++)
        same = strcmp(gtk_string_list_get_string(s->names, i), names[i]) == 0;
    if (!same)
        gtk_string_list_splice(s->names, 0, n, names);
    if (s->costs.file_count)
        gtk_drop_down_set_selected(GTK_DROP_DOWN(s->files), at);
    for (uint32_t i = 0; i < s->costs.file_count; i++)
        g_free((char *)(uintptr_t)names[i]);
    g_free(names);
    s->quiet = false;
}

static int row_of_line(const struct sourced *s, int number)
{
    uint32_t line = table_find(&s->table, "line"), last = table_find(&s->table, "last");
    int found = -1;
    for (uint32_t i = 0; i < s->table.row_count; i++) {
        const struct table_cell *cells = table_cells(&s->table, i);
        if (cells[line].is == CELL_NUMBER && cells[line].number == number &&
            cells[last].is == CELL_NULL)
            found = (int)i;
    }
    return found;
}

/* What somebody wants to see, if it is a line of a file that is there. */
static void reveal(struct sourced *s)
{
    struct table_place at = s->wanted;
    if (!at.address || !s->costs.file_count)
        return;
    struct site_is site = sites_outer(s->view->link.sites, at.process, at.address);
    char *path = g_strdup(site.path);
    int number = site.line;
    bool several;
    s->wanted = (struct table_place){0};
    if (*path && number > 0 && costs_find(&s->costs, path, &several)) {
        bool other = g_strcmp0(s->path, path) != 0;
        choose(s, path);
        if (other) {
            list_files(s);
            show_lines(s);
        }
        grid_reveal(s->grid, row_of_line(s, number));
    }
    g_free(path);
}

static void told(struct view *view, const struct shown_table *t)
{
    struct sourced *s = sourced_of(view);
    struct table_names names = {the_book(view), view->link.sites};
    costs_free(&s->costs);
    if (!t->row_count || !costs_make(&s->costs, &names, t))
        s->costs = (struct costs){0};
    if (s->costs.file_count && !file_of(s))
        choose(s, s->costs.files[0].path);
    list_files(s);
    show_lines(s);
    reveal(s);
}

static GtkWidget *instead(struct view *view)
{
    struct sourced *s = sourced_of(view);
    return s->costs.file_count ? s->box : NULL;
}

/* ---- what is chosen ---- */

static void on_selected(void *user, int row)
{
    struct sourced *s = user;
    struct view *view = s->view;
    uint32_t line = table_find(&s->table, "line"), last = table_find(&s->table, "last");
    linehits_cancel(s->hits);
    if (row < 0) {
        marked_clear(&view->marked);
    } else {
        const struct table_row *r = &s->table.rows[row];
        const struct table_cell *cells = table_cells(&s->table, (uint32_t)row);
        marked_set(&view->marked, &r->event, 1, r->lines, r->line_count);
        if (cells[line].is == CELL_NUMBER && s->path && *s->path)
            linehits_mark(s->hits, s->path, (int)cells[line].number,
                          (int)(cells[last].is == CELL_NUMBER ? cells[last] : cells[line]).number);
    }
    news_tell(&view->news, NEWS_HITS);
}

static void on_activated(void *user, int row)
{
    struct sourced *s = user;
    const struct table_cell *cell =
        &table_cells(&s->table, (uint32_t)row)[table_find(&s->table, "line")];
    char *path = s->written.problem ? NULL : g_canonicalize_filename(s->written.path, NULL);
    if (path && cell->is == CELL_NUMBER)
        editor_open(s->view, path, (int)cell->number);
    else
        status_say(&s->view->status, "Its source is not here");
    g_free(path);
}

static void on_pointed(void *user, int row)
{
    struct sourced *s = user;
    struct ref at = row >= 0 ? s->table.rows[row].event : (struct ref){0};
    if (at.line)
        jump_to_event(s->view, at, NO_POSITION);
}

static const struct grid_ears ears = {on_selected, on_activated, on_pointed};

static void on_file(GObject *object, GParamSpec *spec, gpointer data)
{
    struct sourced *s = data;
    guint at = gtk_drop_down_get_selected(GTK_DROP_DOWN(object));
    (void)spec;
    if (s->quiet || at >= s->costs.file_count)
        return;
    choose(s, s->costs.files[at].path);
    show_lines(s);
}

/* ---- looking for a text ---- */

static bool has_text(const struct sourced *s, uint32_t row, const char *wanted)
{
    const struct table_cell *cell = &table_cells(&s->table, row)[table_find(&s->table, "text")];
    char *text = cell->is == CELL_TEXT ? g_utf8_casefold(cell->text, -1) : g_strdup("");
    bool has = strstr(text, wanted) != NULL;
    g_free(text);
    return has;
}

/* From the line behind the selected one on, and around. */
static void on_find(GtkWidget *entry, gpointer data)
{
    struct sourced *s = data;
    char *wanted = g_utf8_casefold(gtk_editable_get_text(GTK_EDITABLE(entry)), -1);
    uint32_t count = s->table.row_count, at = (uint32_t)(grid_selected(s->grid) + 1);
    for (uint32_t i = 0; *wanted && i < count; i++)
        if (has_text(s, (at + i) % count, wanted)) {
            grid_reveal(s->grid, (int)((at + i) % count));
            on_selected(s, (int)((at + i) % count));
            g_free(wanted);
            return;
        }
    if (*wanted)
        status_say(&s->view->status, "No line of this file has that");
    g_free(wanted);
}

bool source_find(struct view *view)
{
    struct sourced *s = sourced_of(view);
    GtkWidget *at = gtk_window_get_focus(GTK_WINDOW(view->window));
    if (!s || !at || !gtk_widget_is_ancestor(at, s->box))
        return false;
    return gtk_widget_grab_focus(s->entry);
}

static void on_stop(GtkWidget *entry, gpointer data)
{
    (void)entry;
    grid_focus(((struct sourced *)data)->grid);
}

/* ---- news ---- */

void source_reveal(struct view *view, struct table_place place)
{
    struct sourced *s = sourced_of(view);
    s->wanted = place;
    reveal(s);
}

static void take(struct view *view, enum news news)
{
    const struct shown_event *e = stage_event(&view->stage, view->camera.place.selected);
    if (news == NEWS_SELECTED && e && e->site)
        source_reveal(view, (struct table_place){e->process, e->site});
}

static void clear(struct view *view)
{
    struct sourced *s = sourced_of(view);
    linehits_clear(s->hits);
    s->wanted = (struct table_place){0};
    g_clear_pointer(&s->path, g_free);
    written_free(&s->written);
}

static bool select_row(struct view *view, int row)
{
    struct sourced *s = sourced_of(view);
    if (row < (int)s->table.row_count)
        grid_select(s->grid, row);
    return true;
}

static bool enter(struct view *view)
{
    struct sourced *s = sourced_of(view);
    if (grid_selected(s->grid) >= 0)
        on_activated(s, grid_selected(s->grid));
    return true;
}

static bool print(struct view *view, FILE *f)
{
    struct sourced *s = sourced_of(view);
    if (!s->table.column_count)
        return false;
    grid_print(s->grid, f);
    return true;
}

/* ---- making it ---- */

static const struct grid_column columns[] = {
    {"calls", NULL, NULL},   {"self_ns", NULL, NULL},   {"total_ns", NULL, NULL},
    {"ran_ns", NULL, NULL},  {"waited_ns", NULL, NULL}, {"made_ns", NULL, NULL},
    {"path_ns", NULL, NULL}, {"share", NULL, NULL},     {"share", NULL, " "},
    {"line", "last", NULL},  {"text", NULL, NULL},      {0}};
static const unsigned styles[] = {GRID_BLANK,
                                  GRID_BLANK,
                                  GRID_BLANK,
                                  GRID_BLANK,
                                  GRID_BLANK,
                                  GRID_BLANK,
                                  GRID_BLANK,
                                  GRID_BLANK,
                                  GRID_BAR,
                                  GRID_BLANK | GRID_SHADED,
                                  GRID_BLANK | GRID_CODE};

static void free_sourced(gpointer data)
{
    struct sourced *s = data;
    costs_free(&s->costs);
    shown_table_free(&s->table);
    written_free(&s->written);
    g_free(s->path);
    g_free(s->hits);
    g_object_unref(s->box);
    g_free(s);
}

static GtkWidget *head_new(struct sourced *s)
{
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    s->names = gtk_string_list_new(NULL);
    s->files = gtk_drop_down_new(G_LIST_MODEL(s->names), NULL);
    s->entry = gtk_search_entry_new();
    s->said = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(s->said), 0);
    gtk_label_set_ellipsize(GTK_LABEL(s->said), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(s->said, "dim-label");
    gtk_widget_set_hexpand(s->said, TRUE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(s->files), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Files by their shares", -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(s->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Find in this file (Ctrl+F)", -1);
    gtk_widget_set_tooltip_text(s->entry, "Find in this file (Ctrl+F; Enter: the next one)");
    g_object_set(head, "margin-start", 8, "margin-end", 8, "margin-top", 4, "margin-bottom", 4,
                 NULL);
    g_signal_connect(s->files, "notify::selected", G_CALLBACK(on_file), s);
    g_signal_connect(s->entry, "activate", G_CALLBACK(on_find), s);
    g_signal_connect(s->entry, "stop-search", G_CALLBACK(on_stop), s);
    gtk_box_append(GTK_BOX(head), s->files);
    gtk_box_append(GTK_BOX(head), s->said);
    gtk_box_append(GTK_BOX(head), s->entry);
    return head;
}

/* (Nothing stands above; it is where the page is made.) */
static GtkWidget *above(struct view *view)
{
    struct sourced *s = g_new0(struct sourced, 1);
    s->view = view;
    s->hits = linehits_new(view);
    s->grid = grid_new(view, "Source", columns, &ears, s);
    grid_style(s->grid, styles);
    s->box = g_object_ref_sink(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0));
    gtk_box_append(GTK_BOX(s->box), head_new(s));
    gtk_box_append(GTK_BOX(s->box), grid_widget(s->grid));
    g_object_set_data_full(G_OBJECT(view->window), "page source", s, free_sourced);
    return gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
}

const struct page page_source = {
    .name = "source",
    .title = "Source",
    .what = "source",
    .by = "",
    .nothing = "Nothing is known of places of the code yet.",
    .about = "What each line of the source took, waited, and made others wait",
    .above = above,
    .instead = instead,
    .take = take,
    .clear = clear,
    .told = told,
    .select = select_row,
    .enter = enter,
    .print = print,
};
