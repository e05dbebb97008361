#include "clients/view/drawer/page.h"

#include "clients/view/parts/marked.h"
#include "clients/view/parts/tabled.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"

#include "render/table.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_US 250000 /* a table of a run that grows is asked for no more often */
#define ROWS_MOST 5000u

struct paged {
    struct view *view;
    const struct page *page;
    struct tabled tabled;
    struct shown_table kept; /* those of its rows that are kept; columns none: all are */
    bool seen; /* it is looked at */
    bool unshown; /* the table is another one than the grid has */
    struct grid *grid;
    GtkWidget *box, *stack, *said, *working, *progress, *cancel, *foot;
    guint soon; /* it is asked for then */
    bool stale; /* there is more to know than is shown */
    bool given_up; /* somebody has cancelled it */
    bool wants_focus;
};

/* ---- asking ---- */

static void show_progress(struct paged *p)
{
    struct tabled *t = &p->tabled;
    bool runs = tabled_runs(t), slow = g_get_monotonic_time() - t->asked_us > EVERY_US;
    double share = t->count ? (double)t->known / (double)t->count : 0;
    gtk_widget_set_visible(p->working, (runs && slow) || p->given_up);
    gtk_widget_set_visible(p->progress, !p->given_up);
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(p->progress), CLAMP(share, 0, 1));
    char *text = g_strdup_printf("Looking at the run: %.0f %%", 100 * share);
    gtk_progress_bar_set_text(GTK_PROGRESS_BAR(p->progress), text);
    gtk_button_set_label(GTK_BUTTON(p->cancel), p->given_up ? "Ask again" : "Cancel");
    g_free(text);
}

static void ask(struct paged *p)
{
    if (!p->view->link.connected || !p->view->link.has_run)
        return;
    struct table_request request = tabled_request(p->page->what, p->page->by);
    request.top = ROWS_MOST;
    if (p->page->request)
        p->page->request(p->view, &request);
    p->stale = false;
    tabled_ask(&p->tabled, &request);
    show_progress(p);
}

static gboolean on_soon(gpointer data)
{
    struct paged *p = data;
    p->soon = 0;
    if (p->stale && !p->given_up && !tabled_runs(&p->tabled))
        ask(p);
    show_progress(p);
    return G_SOURCE_REMOVE;
}

/* Now, or when its turn comes. */
static void ask_soon(struct paged *p)
{
    p->stale = true;
    gint64 since = g_get_monotonic_time() - p->tabled.asked_us;
    if (p->soon || p->given_up)
        return;
    if (since >= EVERY_US && !tabled_runs(&p->tabled))
        ask(p);
    guint ms = (guint)(CLAMP(EVERY_US - since, 1000, EVERY_US) / 1000);
    p->soon = g_timeout_add(ms, on_soon, p);
}

static void show_said(struct paged *p);

static void on_cancel(GtkButton *button, gpointer data)
{
    struct paged *p = data;
    (void)button;
    p->given_up = !p->given_up;
    if (p->given_up)
        tabled_cancel(&p->tabled);
    else
        ask(p);
    show_said(p);
    show_progress(p);
}

/* ---- what is known ---- */

/* What stands below it: sums and remarks. */
static char *foot_of(struct paged *p)
{
    const struct shown_table *t = &p->tabled.table;
    struct table_names names = {the_book(p->view), p->view->link.sites};
    GString *s = g_string_new(NULL);
    for (uint32_t i = 0; t->total && i < t->column_count; i++) {
        const struct table_column *c = &t->columns[i];
        if (c->detail || t->total[i].is == CELL_NULL)
            continue;
        char *cell = table_say(&names, c, &t->total[i]);
        const char *unit = c->kind == TABLE_NS ? " ms" : "",
                   *title = strcmp(c->title, "%") == 0 ? "" : c->title; /* the cell says it */
        g_string_append_printf(s, "%s%s%s%s%s", s->len ? ", " : "In all: ", title,
                               *title ? " " : "", cell, unit);
        free(cell);
    }
    for (uint32_t i = 0; i < t->note_count; i++)
        g_string_append_printf(s, "%s%s", s->len ? " — " : "", t->notes[i]);
    return g_string_free(s, FALSE);
}

static void show_table(struct paged *p);

/* Instead of rows; NULL: there are some.  That there is nothing is said once the table is here. */
static const char *said_of(const struct paged *p)
{
    const struct shown_table *t = &p->tabled.table;
    return t->problem                  ? t->problem
           : t->row_count              ? NULL
           : p->given_up               ? "The analysis was canceled."
           : !p->view->link.has_run    ? "No run is open."
           : !p->tabled.here           ? "Looking at the run..."
           : t->total && p->page->none ? p->page->none
                                       : p->page->nothing;
}

static void show_said(struct paged *p)
{
    const char *said = said_of(p);
    GtkWidget *instead = p->page->instead ? p->page->instead(p->view) : NULL;
    if (instead && !gtk_widget_get_parent(instead))
        gtk_stack_add_child(GTK_STACK(p->stack), instead);
    gtk_label_set_text(GTK_LABEL(p->said), said ? said : "");
    if (p->unshown && !instead)
        show_table(p);
    gtk_stack_set_visible_child(GTK_STACK(p->stack), instead ? instead
                                                     : said || !p->tabled.here
                                                         ? p->said
                                                         : grid_widget(p->grid));
    char *foot = instead ? g_strdup("") : foot_of(p);
    gtk_label_set_text(GTK_LABEL(p->foot), foot);
    gtk_widget_set_tooltip_text(p->foot, foot);
    gtk_widget_set_visible(p->foot, *foot != 0);
    g_free(foot);
}

/* Is what is to be shown instead of the table, or the table, not what is shown? */
static bool is_another(const struct paged *p)
{
    GtkWidget *shown = gtk_stack_get_visible_child(GTK_STACK(p->stack));
    GtkWidget *instead = p->page->instead ? p->page->instead(p->view) : NULL;
    return instead ? shown != instead : shown != p->said && shown != grid_widget(p->grid);
}

const struct shown_table *page_table(const struct paged *p)
{
    return p->kept.columns ? &p->kept : &p->tabled.table;
}

/* Rows and cells are arrays of their own, what is in them is the table's. */
static struct shown_table keep_rows(const struct shown_table *t, const bool *keeps)
{
    struct shown_table kept = *t;
    kept.rows = g_new0(struct table_row, t->row_count + 1);
    kept.cells = g_new0(struct table_cell, (size_t)(t->row_count + 1) * t->column_count);
    kept.row_count = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (!keeps[i])
            continue;
        memcpy(table_cells(&kept, kept.row_count), table_cells(t, i),
               t->column_count * sizeof *t->cells);
        kept.rows[kept.row_count++] = t->rows[i];
    }
    return kept;
}

static void free_kept(struct shown_table *kept)
{
    g_free(kept->rows);
    g_free(kept->cells);
}

/* The grid is filled when it is seen. */
static void show_table(struct paged *p)
{
    const struct shown_table *t = &p->tabled.table;
    struct shown_table before = p->kept;
    bool *keeps = p->page->keeps && t->column_count ? p->page->keeps(p->view, t) : NULL;
    p->kept = keeps ? keep_rows(t, keeps) : (struct shown_table){0};
    p->unshown = false;
    grid_show(p->grid, page_table(p));
    free_kept(&before);
    g_free(keeps);
}

/* It is not seen, and what it is of is gone. */
static void empty_grid(struct paged *p)
{
    static const struct shown_table none;
    grid_show(p->grid, &none);
    free_kept(&p->kept);
    p->kept = (struct shown_table){0};
}

static void on_told(void *user)
{
    struct paged *p = user;
    show_progress(p);
    if (!p->tabled.fresh)
        return;
    p->tabled.fresh = false;
    p->unshown = true;
    if (p->page->instead && p->page->instead(p->view))
        empty_grid(p);
    if (p->page->remake)
        p->page->remake(p->view, &p->tabled.table);
    if (p->page->told)
        p->page->told(p->view, &p->tabled.table);
    show_said(p);
    if (p->wants_focus)
        page_focus(p);
}

/* ---- rows ---- */

static struct ref event_of(const struct paged *p, int row)
{
    const struct shown_table *t = page_table(p);
    return row >= 0 && (uint32_t)row < t->row_count ? t->rows[row].event : (struct ref){0};
}

/* A row without an event of its own belongs to the one above it. */
static int head_of(const struct paged *p, int row)
{
    while (row > 0 && !event_of(p, row).line && page_table(p)->rows[row].depth)
        row--;
    return row;
}

static void on_selected(void *user, int row)
{
    struct paged *p = user;
    struct view *view = p->view;
    if (row < 0) {
        marked_clear(&view->marked);
    } else {
        const struct table_row *r = &page_table(p)->rows[row];
        struct ref event = event_of(p, head_of(p, row));
        marked_set(&view->marked, &event, 1, r->lines, r->line_count);
    }
    if (p->page->selected)
        p->page->selected(view, page_table(p), row < 0 ? row : head_of(p, row));
    if (p->page->chosen)
        p->page->chosen(view, page_table(p), row);
    news_tell(&view->news, NEWS_HITS);
}

static void on_activated(void *user, int row)
{
    struct paged *p = user;
    struct ref at = event_of(p, head_of(p, row));
    if (at.line)
        jump_to_event(p->view, at, NO_POSITION);
}

static void on_pointed(void *user, int row)
{
    struct paged *p = user;
    if (row >= 0 && p->page->pointed)
        p->page->pointed(p->view);
}

static const struct grid_ears ears = {on_selected, on_activated, on_pointed};

void page_select(struct paged *p, int row)
{
    if (p->page->select && p->page->select(p->view, row))
        return;
    if (row < (int)page_table(p)->row_count)
        grid_select(p->grid, row);
}

void page_enter(struct paged *p)
{
    int row = grid_selected(p->grid);
    if (p->page->enter && p->page->enter(p->view))
        return;
    if (row >= 0)
        on_activated(p, row);
}

void page_print(struct paged *p, FILE *f)
{
    if (!p->page->print || !p->page->print(p->view, f))
        grid_print(p->grid, f);
}

void page_ask(struct paged *p)
{
    tabled_cancel(&p->tabled);
    p->tabled.asked_us = 0;
    ask_soon(p);
    show_said(p);
}

void page_filter(struct paged *p)
{
    p->unshown = p->tabled.here;
    show_said(p);
}

bool page_seen(const struct paged *p) { return p->seen; }

bool page_has_rows(const struct paged *p) { return p->tabled.here && page_table(p)->row_count; }

/* ---- as a picture ---- */

static struct page_options options_for(struct paged *p, const char *file, const char *title)
{
    struct page_options o = {.title = title,
                             .format = g_str_has_suffix(file, ".svg")   ? PAGE_SVG
                                       : g_str_has_suffix(file, ".png") ? PAGE_PNG
                                                                        : PAGE_PDF,
                             .date = (time_t)(the_book(p->view)->run.wall_ns / 1000000000u)};
    o.theme.grey = p->view->settings.look.grey;
    return o;
}

static const char *save_table(struct paged *p, const struct page_options *o, const char *file)
{
    struct table_names names = {the_book(p->view), p->view->link.sites};
    uint32_t count, *columns = table_choose(page_table(p), NULL, &count, NULL);
    struct sheet sheet = {0};
    table_sheet(&sheet, &names, page_table(p), columns, count);
    free(sheet.title);
    sheet.title = g_strdup(o->title);
    const char *why = render_table_write(&sheet, 1, o, file);
    sheet_free(&sheet);
    free(columns);
    return why;
}

const char *page_save(struct paged *p, const char *file)
{
    char *title = g_strdup_printf("%s: %s", the_book(p->view)->run.name, page_table(p)->title);
    struct page_options o = options_for(p, file, title);
    const char *why = NULL;
    if (!p->page->write || !p->page->write(p->view, &o, file, &why))
        why = save_table(p, &o, file);
    g_free(title);
    return why;
}

/* ---- news ---- */

void page_tell(struct paged *p, enum news news, bool seen)
{
    bool more = news == NEWS_SHOWN || news == NEWS_QUIET || news == NEWS_GROWN;
    if (news == NEWS_SHOWN && p->tabled.here && !p->stale)
        more = false;
    p->stale |= more;
    p->seen = seen;
    if (!seen)
        return;
    if (more)
        ask_soon(p);
    if (p->page->take)
        p->page->take(p->view, news);
    if (news == NEWS_PICTURE && p->tabled.here)
        grid_again(p->grid);
    if ((news == NEWS_PICTURE || news == NEWS_SHOWN || news == NEWS_SETTINGS || is_another(p)) &&
        p->page->instead)
        show_said(p);
}

void page_clear(struct paged *p)
{
    static const struct shown_table none;
    empty_grid(p);
    p->unshown = false;
    tabled_clear(&p->tabled);
    if (p->page->told)
        p->page->told(p->view, &none);
    p->given_up = false;
    p->stale = true;
    if (p->page->clear)
        p->page->clear(p->view);
    show_said(p);
    show_progress(p);
}

/* Where nothing on the page takes the focus it has it as a whole: Escape is for it, and Tab goes on
 * from there. */
static void take_focus(GtkWidget *shown)
{
    gtk_widget_set_focusable(shown, TRUE);
    g_object_set_data(G_OBJECT(shown), "keys", shown);
    gtk_widget_grab_focus(shown);
}

void page_focus(struct paged *p)
{
    GtkWidget *shown = gtk_stack_get_visible_child(GTK_STACK(p->stack));
    p->wants_focus = !p->tabled.here;
    bool has = false;
    if (shown == grid_widget(p->grid))
        grid_focus(p->grid), has = true;
    else if (shown != p->said)
        has = (p->page->focus && p->page->focus(p->view)) ||
              gtk_widget_child_focus(shown, GTK_DIR_TAB_FORWARD);
    if (!has)
        take_focus(shown);
}

const char *page_said(const struct paged *p)
{
    bool said = gtk_stack_get_visible_child(GTK_STACK(p->stack)) == p->said;
    return said ? gtk_label_get_text(GTK_LABEL(p->said)) : NULL;
}

bool page_busy(const struct paged *p) { return tabled_runs(&p->tabled) || (p->soon && p->stale); }

/* ---- making it ---- */

static void build_working(struct paged *p)
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
    struct paged *p = data;
    (void)widget;
    if (p->soon)
        g_source_remove(p->soon);
    p->soon = 0;
    tabled_clear(&p->tabled);
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

struct paged *page_new(struct view *view, const struct page *page)
{
    struct paged *p = g_new0(struct paged, 1);
    *p = (struct paged){.view = view,
                        .page = page,
                        .stale = true,
                        .tabled = {.link = &view->link, .told = on_told, .user = p}};
    p->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    p->stack = gtk_stack_new();
    p->said = label_new(false);
    p->foot = label_new(true);
    gtk_label_set_wrap(GTK_LABEL(p->said), TRUE);
    gtk_label_set_ellipsize(GTK_LABEL(p->foot), PANGO_ELLIPSIZE_END);
    p->grid = grid_new(view, page->title, page->columns, &ears, p);
    grid_style(p->grid, page->styles);
    gtk_stack_add_child(GTK_STACK(p->stack), p->said);
    gtk_stack_add_child(GTK_STACK(p->stack), grid_widget(p->grid));
    gtk_widget_set_vexpand(p->stack, TRUE);
    build_working(p);
    gtk_box_append(GTK_BOX(p->box), p->working);
    if (page->above)
        gtk_box_append(GTK_BOX(p->box), page->above(view));
    gtk_box_append(GTK_BOX(p->box), p->stack);
    gtk_box_append(GTK_BOX(p->box), p->foot);
    g_signal_connect(p->box, "destroy", G_CALLBACK(on_destroy), p);
    g_object_set_data_full(G_OBJECT(p->box), "page", p, g_free);
    if (page->made)
        page->made(view, p);
    return p;
}

GtkWidget *page_widget(struct paged *p) { return p->box; }

const struct page *page_of(const struct paged *p) { return p->page; }
