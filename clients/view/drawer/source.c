/* The program's source: what each line took, waited, and made others wait. */
#include "clients/view/drawer/source.h"

#include "clients/source/costs.h"
#include "clients/source/lined.h"
#include "clients/source/linesaid.h"
#include "clients/source/written.h"
#include "clients/view/drawer/grid.h"
#include "clients/view/drawer/linehits.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/drawer/sourcehead.h"
#include "clients/view/drawer/sourcerows.h"
#include "clients/view/parts/marked.h"
#include "clients/view/picture/editor.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"

#include <stdlib.h>
#include <string.h>

/* Kept with the window. */
struct sourced {
    struct view *view;
    GtkWidget *box;
    struct sourcehead head;
    struct grid *grid;
    struct costs costs;
    struct shown_table table; /* the lines that are shown */
    struct written written; /* the file that is shown */
    char *path; /* of it, as debug information has it; NULL: none yet */
    struct table_place wanted; /* its line is to be seen; address 0: none */
    struct ref revealed; /* the event whose line was brought to be seen last */
    struct linehits *hits;
    bool fresh; /* the file was not shown before */
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

static void say(struct sourced *s)
{
    sourcehead_about(&s->head, file_of(s), &s->written, (int64_t)the_book(s->view)->run.wall_ns);
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
    if (s->fresh) /* what weighs most is seen first */
        grid_seek(s->grid, sourcerows_heaviest(&s->table));
    s->fresh = false;
    if (grid_selected(s->grid) < 0)
        say(s);
}

static void choose(struct sourced *s, const char *path)
{
    if (s->path && strcmp(s->path, path) == 0)
        return;
    g_free(s->path);
    s->path = g_strdup(path);
    s->fresh = true;
    written_free(&s->written);
    written_around(&s->written, path);
}

static void list_files(struct sourced *s)
{
    const struct costs_file *file = file_of(s);
    sourcehead_files(&s->head, &s->costs, file ? (uint32_t)(file - s->costs.files) : 0);
}

/* What was called on the lines of a number, and waited for. */
static void say_line(struct sourced *s, int first, int last)
{
    const struct costs_file *file = file_of(s);
    struct table_names names = {the_book(s->view), s->view->link.sites};
    for (uint32_t i = 0; file && i < file->line_count; i++) {
        const struct costs_line *line = &file->lines[i];
        if (line->first != first || line->last != last || line->from)
            continue;
        char *text = linesaid(&names, &s->costs, line);
        if (*text)
            sourcehead_say(&s->head, text);
        free(text);
    }
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
        grid_reveal(s->grid, sourcerows_line(&s->table, number));
        say(s);
        say_line(s, number, number);
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

static void mark_line(struct sourced *s, int row)
{
    const struct table_cell *cells = table_cells(&s->table, (uint32_t)row),
                            *first = &cells[table_find(&s->table, "line")],
                            *last = &cells[table_find(&s->table, "last")];
    if (first->is != CELL_NUMBER || !s->path || !*s->path)
        return;
    last = last->is == CELL_NUMBER ? last : first;
    linehits_mark(s->hits, s->path, (int)first->number, (int)last->number);
    say_line(s, (int)first->number, (int)last->number);
}

static void on_selected(void *user, int row)
{
    struct sourced *s = user;
    struct view *view = s->view;
    linehits_cancel(s->hits);
    say(s);
    if (row < 0) {
        marked_clear(&view->marked);
    } else {
        const struct table_row *r = &s->table.rows[row];
        marked_set(&view->marked, &r->event, 1, r->lines, r->line_count);
        mark_line(s, row);
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

static void on_file(void *user, uint32_t at)
{
    struct sourced *s = user;
    if (at >= s->costs.file_count)
        return;
    choose(s, s->costs.files[at].path);
    show_lines(s);
}

/* ---- looking for a text ---- */

/* From the line behind the selected one on, and around. */
static void on_find(void *user, const char *text)
{
    struct sourced *s = user;
    int row = sourcerows_text(&s->table, (uint32_t)(grid_selected(s->grid) + 1), text);
    if (row >= 0) {
        grid_reveal(s->grid, row);
        on_selected(s, row);
    } else if (*text) {
        status_say(&s->view->status, "No line of this file has that");
    }
}

bool source_find(struct view *view)
{
    struct sourced *s = sourced_of(view);
    GtkWidget *at = gtk_window_get_focus(GTK_WINDOW(view->window));
    if (!s || !at || !gtk_widget_is_ancestor(at, s->box))
        return false;
    return gtk_widget_grab_focus(s->head.entry);
}

static void on_left(void *user) { grid_focus(((struct sourced *)user)->grid); }

/* ---- news ---- */

void source_reveal(struct view *view, struct table_place place)
{
    struct sourced *s = sourced_of(view);
    s->wanted = place;
    reveal(s);
}

/* Once for each event that is selected: then it is the reader's. */
static void take(struct view *view, enum news news)
{
    struct sourced *s = sourced_of(view);
    struct ref selected = view->camera.place.selected;
    const struct shown_event *e = stage_event(&view->stage, selected);
    (void)news;
    if (!selected.line)
        s->revealed = selected;
    if (ref_equal(selected, s->revealed) || !e)
        return;
    s->revealed = selected;
    if (e->site)
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

static bool focus(struct view *view)
{
    grid_focus(sourced_of(view)->grid);
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

static bool save(struct view *view, const struct page_options *options, const char *file,
                 const char **why)
{
    struct sourced *s = sourced_of(view);
    struct table_names names = {the_book(view), view->link.sites};
    if (!s->table.column_count)
        return false;
    *why = sourcerows_write(&s->table, &names, options, file);
    return true;
}

/* ---- making it ---- */

/* A link to a place, as "PROCESS:ADDRESS". */
static void on_place(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    char *end;
    const char *text = g_variant_get_string(parameter, NULL);
    uint32_t process = (uint32_t)strtoul(text, &end, 16);
    (void)action;
    source_reveal(data, (struct table_place){process, *end ? strtoull(end + 1, NULL, 16) : 0});
    gtk_widget_activate_action(((struct view *)data)->window, "win.show-source", NULL);
}

static void add_action(struct view *view)
{
    GSimpleAction *action = g_simple_action_new("source-line", G_VARIANT_TYPE_STRING);
    g_signal_connect(action, "activate", G_CALLBACK(on_place), view);
    g_action_map_add_action(G_ACTION_MAP(view->window), G_ACTION(action));
    g_object_unref(action);
}

static void free_sourced(gpointer data)
{
    struct sourced *s = data;
    costs_free(&s->costs);
    shown_table_free(&s->table);
    written_free(&s->written);
    g_free(s->path);
    linehits_free(s->hits);
    g_object_unref(s->box);
    g_free(s);
}

/* (Nothing stands above; it is where the page is made.) */
static GtkWidget *above(struct view *view)
{
    struct sourced *s = g_new0(struct sourced, 1);
    s->view = view;
    s->hits = linehits_new(view);
    s->grid = grid_new(view, "Source", sourcerows_columns, &ears, s);
    grid_style(s->grid, sourcerows_styles);
    s->box = g_object_ref_sink(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0));
    s->head = (struct sourcehead){.chosen = on_file, .sought = on_find, .left = on_left, .user = s};
    sourcehead_build(&s->head);
    gtk_box_append(GTK_BOX(s->box), s->head.box);
    gtk_box_append(GTK_BOX(s->box), grid_widget(s->grid));
    g_object_set_data_full(G_OBJECT(view->window), "page source", s, free_sourced);
    add_action(view);
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
    .focus = focus,
    .print = print,
    .write = save,
};
