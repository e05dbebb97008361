/* Where threads waited, for whom, and what those did meanwhile. */
#include "clients/site/site.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/parts/marked.h"
#include "clients/view/parts/tabled.h"
#include "clients/view/picture/reason.h"
#include "clients/view/picture/view.h"

#include <string.h>

#define WAITS_MOST 5000u /* the longest, among which those of a row are looked for */

/* Kept with the label. */
struct single {
    struct view *view;
    GtkWidget *label, *button, *box;
    struct tabled waits; /* each for itself */
    /* what the selected row has in common, as it said it */
    struct table_place where;
    char *type, *kind; /* of the wait; of what it was for; NULL: it does not say */
    bool wanted; /* its events are to be marked */
};

static struct single *single_of(struct view *view)
{
    return g_object_get_data(G_OBJECT(view->window), "single waits");
}

/* ---- which waits stand in the row ---- */

static bool is_text(const struct table_cell *cell, const char *text)
{
    return text ? cell->is == CELL_TEXT && strcmp(cell->text, text) == 0 : cell->is == CELL_NULL;
}

static bool is_kind(struct view *view, const struct table_cell *cell, const char *kind)
{
    if (cell->is != CELL_LINE)
        return !kind;
    const struct target_kind *is = book_kind(the_book(view), cell->line);
    return kind && is && strcmp(is->name, kind) == 0;
}

static void mark(struct view *view, struct single *s)
{
    const struct shown_table *t = &s->waits.table;
    uint32_t where = table_find(t, "where"), type = table_find(t, "type"),
             what = table_find(t, "for"), until = table_find(t, "until"), n = t->column_count;
    s->wanted = false;
    if (where == n || type == n || what == n || until == n)
        return;
    GArray *events = g_array_new(FALSE, FALSE, sizeof(struct ref));
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = table_cells(t, i);
        struct table_place place =
            cells[where].is == CELL_PLACE ? cells[where].place : (struct table_place){0};
        if (t->rows[i].depth || place.address != s->where.address ||
            place.process != s->where.process || !is_text(&cells[type], s->type) ||
            !is_kind(view, &cells[what], s->kind))
            continue;
        g_array_append_val(events, t->rows[i].event);
        if (cells[until].is == CELL_EVENT)
            g_array_append_val(events, cells[until].event);
    }
    marked_add(&view->marked, (struct ref *)(void *)events->data, events->len);
    g_array_free(events, TRUE);
    news_tell(&view->news, NEWS_HITS);
}

static void on_told(void *user)
{
    struct single *s = user;
    if (s->waits.fresh && s->wanted)
        mark(s->view, s);
    s->waits.fresh = false;
}

static void ask(struct single *s)
{
    struct table_request request = tabled_request("waits", "wait");
    request.top = WAITS_MOST;
    s->wanted = true;
    tabled_ask(&s->waits, &request);
}

static char *text_of(const struct table_cell *cell)
{
    return cell->is == CELL_TEXT ? g_strdup(cell->text) : NULL;
}

static void selected(struct view *view, const struct shown_table *t, int row)
{
    struct single *s = single_of(view);
    uint32_t where = table_find(t, "where"), type = table_find(t, "type"),
             what = table_find(t, "for"), n = t->column_count;
    s->wanted = false;
    if (row < 0 || where == n || type == n || what == n)
        return;
    const struct table_cell *cells = table_cells(t, (uint32_t)row);
    g_free(s->type);
    g_free(s->kind);
    s->where = cells[where].is == CELL_PLACE ? cells[where].place : (struct table_place){0};
    s->type = text_of(&cells[type]);
    s->kind = text_of(&cells[what]);
    reason_ask(view, t->rows[row].event);
    ask(s);
}

/* ---- the sentence above ---- */

static void say(struct view *view)
{
    struct single *s = single_of(view);
    const char *said = reason_said(view, NULL);
    gtk_label_set_text(GTK_LABEL(s->label), said ? said : "");
    gtk_widget_set_tooltip_text(s->label, said);
    gtk_widget_set_visible(s->box, said != NULL);
}

static void take(struct view *view, enum news news)
{
    if (news == NEWS_REASON || news == NEWS_SHOWN)
        say(view);
}

static void clear(struct view *view)
{
    struct single *s = single_of(view);
    tabled_clear(&s->waits);
    s->wanted = false;
}

static void free_single(gpointer data)
{
    struct single *s = data;
    g_free(s->type);
    g_free(s->kind);
    shown_table_free(&s->waits.table);
    g_free(s);
}

static GtkWidget *above(struct view *view)
{
    struct single *s = g_new0(struct single, 1);
    s->view = view;
    s->waits = (struct tabled){.link = &view->link, .told = on_told, .user = s};
    s->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    s->label = gtk_label_new("");
    s->button = gtk_button_new_with_label("To its cause");
    gtk_label_set_xalign(GTK_LABEL(s->label), 0);
    gtk_label_set_wrap(GTK_LABEL(s->label), TRUE);
    gtk_label_set_lines(GTK_LABEL(s->label), 3);
    gtk_label_set_ellipsize(GTK_LABEL(s->label), PANGO_ELLIPSIZE_END);
    gtk_label_set_selectable(GTK_LABEL(s->label), TRUE);
    gtk_widget_set_hexpand(s->label, TRUE);
    gtk_widget_set_valign(s->button, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(s->button, "Select the event that ended the wait (Ctrl+[)");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(s->button), "win.wait-cause");
    g_object_set(s->box, "margin-start", 8, "margin-end", 8, "margin-top", 4, "margin-bottom", 4,
                 NULL);
    gtk_box_append(GTK_BOX(s->box), s->label);
    gtk_box_append(GTK_BOX(s->box), s->button);
    gtk_widget_set_visible(s->box, FALSE);
    g_object_set_data_full(G_OBJECT(view->window), "single waits", s, free_single);
    return s->box;
}

static const struct grid_column columns[] = {{"waited_ns", "charge_ns", "waited, charged ms"},
                                             {"share", NULL, NULL},
                                             {"waits", NULL, NULL},
                                             {"where", "step", "where, and what was done"},
                                             {"type", "direct", "what"},
                                             {"for", "thread", "for, by"},
                                             {"kind", NULL, NULL},
                                             {"released_by", NULL, NULL},
                                             {0}};

const struct page page_waits = {
    .name = "waits",
    .title = "Waits",
    .what = "waits",
    .by = "",
    .nothing = "No thread has waited for another one.",
    .about = "Where threads waited, and why so long",
    .columns = columns,
    .above = above,
    .selected = selected,
    .pointed = reason_go,
    .take = take,
    .clear = clear,
};
