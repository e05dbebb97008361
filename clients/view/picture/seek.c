#define _GNU_SOURCE
#include "clients/view/picture/seek.h"

#include "clients/book/book.h"
#include "clients/source/place.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/arrange.h"
#include "clients/view/picture/bar.h"
#include "clients/view/picture/rows.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"

#include <fnmatch.h>
#include <string.h>

struct hit {
    uint32_t line; /* the first of its row */
    uint32_t row; /* counted from the first of all */
};

struct seek {
    GtkWidget *box, *entry, *said;
    GArray *hits;
    guint at; /* the one that was gone to */
};

/* ---- what is called so ---- */

/* Anywhere in its label, whether large or small; with * or ? all of what stands behind the letter of its kind. */
static bool is_called(struct view *view, uint32_t line, const char *text)
{
    const char *label = book_label(the_book(view), line), *colon = strchr(label, ':');
    if (strpbrk(text, "*?"))
        return fnmatch(text, colon ? colon + 1 : label, FNM_CASEFOLD) == 0 ||
               fnmatch(text, label, FNM_CASEFOLD) == 0;
    char *in = g_utf8_casefold(label, -1), *what = g_utf8_casefold(text, -1);
    bool is = strstr(in, what) != NULL;
    g_free(in);
    g_free(what);
    return is;
}

static void add(struct seek *seek, uint32_t line, uint32_t row)
{
    struct hit hit = {line, row};
    g_array_append_val(seek->hits, hit);
}

/* Of rows that somebody has arranged: one for several lines, too. */
static void search_place(struct view *view, struct seek *seek, const char *text)
{
    const struct place *p = &view->camera.place;
    uint32_t row = 0, end;
    for (uint32_t first = 0; first < p->row_count; first = end) {
        uint32_t head = 0;
        bool is = false;
        end = rows_end(p, first);
        for (uint32_t i = first; i < end; i++) {
            if (p->rows[i].hidden)
                continue;
            head = head ? head : p->rows[i].line;
            is |= is_called(view, p->rows[i].line, text);
        }
        if (is)
            add(seek, head, row);
        row += head != 0;
    }
}

/* Of those that are in the picture: all that are known, where there are very many. */
static void search_scene(struct view *view, struct seek *seek, const char *text)
{
    const struct shown_window *w = &view->stage.window;
    for (uint32_t i = 0; view->stage.scene && i < w->row_count; i++) {
        bool is = is_called(view, w->rows[i].line, text);
        for (uint32_t k = 0; k < w->rows[i].member_count; k++)
            is |= is_called(view, w->rows[i].members[k], text);
        if (is)
            add(seek, w->rows[i].line, view->stage.row_base + i);
    }
}

static void search_all(struct view *view, struct seek *seek, const char *text)
{
    uint32_t count, *lines = rows_all(view, &count);
    for (uint32_t i = 0; i < count; i++)
        if (is_called(view, lines[i], text))
            add(seek, lines[i], i);
    g_free(lines);
}

static void search(struct view *view, const char *text)
{
    struct seek *seek = view->seek;
    bool here = !view->camera.place.far && !view->stage.row_base && view->stage.scene &&
                view->stage.row_total <= view->stage.window.row_count;
    g_array_set_size(seek->hits, 0);
    seek->at = 0;
    if (!*text)
        return;
    if (here || rows_by_events(view))
        search_scene(view, seek, text);
    else if (view->camera.place.row_count)
        search_place(view, seek, text);
    else
        search_all(view, seek, text);
}

bool seek_hit(const struct view *view, uint32_t line)
{
    const struct seek *seek = view->seek;
    for (guint i = 0; i < seek->hits->len; i++)
        if (g_array_index(seek->hits, struct hit, i).line == line)
            return true;
    return false;
}

/* ---- going there ---- */

static void say(struct view *view)
{
    struct seek *seek = view->seek;
    bool any = seek->hits->len, text = *gtk_editable_get_text(GTK_EDITABLE(seek->entry));
    char *said =
        any ? g_strdup_printf("%u of %u", seek->at + 1, seek->hits->len)
            : g_strdup(!text                      ? ""
                       : view->settings.busy_rows ? "No row with something in view is called "
                                                    "so (Lines, or E: all rows)"
                                                  : "No row is called so");
    gtk_label_set_text(GTK_LABEL(seek->said), said);
    g_free(said);
    if (text && !any)
        gtk_widget_add_css_class(seek->entry, "error");
    else
        gtk_widget_remove_css_class(seek->entry, "error");
}

/* Its row is seen, in the middle if it was not. */
static void go(struct view *view)
{
    const struct seek *seek = view->seek;
    say(view);
    gtk_widget_queue_draw(view->canvas);
    if (!seek->hits->len)
        return;
    const struct camera *c = &view->camera;
    uint32_t row = g_array_index(seek->hits, struct hit, seek->at).row;
    double high = camera_row_pt(c), page = camera_page_pt(c), rise = c->place.rise_pt;
    double above = camera_height_pt(c) - view->stage.row_total * high;
    double top = above + row * high, band = view->stage.pinned * high + above;
    status_say(&view->status, "%s",
               book_label(the_book(view), g_array_index(seek->hits, struct hit, seek->at).line));
    if (row >= view->stage.pinned && (top < rise + band || top + high > rise + page))
        bar_to(view, top + high / 2 - (band + page) / 2);
}

static void on_changed(GtkEditable *entry, gpointer data)
{
    search(data, gtk_editable_get_text(entry));
    go(data);
}

static void step(struct view *view, int by)
{
    struct seek *seek = view->seek;
    if (seek->hits->len)
        seek->at = (seek->at + seek->hits->len + (guint)by) % seek->hits->len;
    go(view);
}

static void on_next(GtkWidget *widget, gpointer data)
{
    (void)widget;
    step(data, 1);
}

static void on_previous(GtkWidget *widget, gpointer data)
{
    (void)widget;
    step(data, -1);
}

static void leave(struct view *view)
{
    gtk_widget_set_visible(view->seek->box, FALSE);
    g_array_set_size(view->seek->hits, 0);
    gtk_widget_grab_focus(view->canvas);
    gtk_widget_queue_draw(view->canvas);
}

static void on_stop(GtkWidget *widget, gpointer data)
{
    (void)widget;
    leave(data);
}

static void on_only(GtkWidget *widget, gpointer data)
{
    struct view *view = data;
    GArray *hits = view->seek->hits;
    (void)widget;
    if (!hits->len)
        return;
    uint32_t *lines = g_new(uint32_t, hits->len);
    for (guint i = 0; i < hits->len; i++)
        lines[i] = g_array_index(hits, struct hit, i).line;
    arrange_keep(view, lines, hits->len);
    g_free(lines);
    leave(view);
}

void seek_open(struct view *view)
{
    if (!view->link.has_run)
        return;
    gtk_widget_set_visible(view->seek->box, TRUE);
    gtk_widget_grab_focus(view->seek->entry);
    gtk_editable_select_region(GTK_EDITABLE(view->seek->entry), 0, -1);
    on_changed(GTK_EDITABLE(view->seek->entry), view);
}

void seek_text(struct view *view, const char *text)
{
    seek_open(view);
    gtk_editable_set_text(GTK_EDITABLE(view->seek->entry), text);
}

/* ---- the entry ---- */

static GtkWidget *button(struct view *view, const char *icon, const char *text, const char *tip,
                         GCallback clicked)
{
    GtkWidget *b = icon ? gtk_button_new_from_icon_name(icon) : gtk_button_new_with_mnemonic(text);
    gtk_widget_set_tooltip_text(b, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, tip, -1);
    g_signal_connect(b, "clicked", clicked, view);
    gtk_box_append(GTK_BOX(view->seek->box), b);
    return b;
}

GtkWidget *seek_new(struct view *view)
{
    struct seek *seek = view->seek = g_new0(struct seek, 1);
    seek->hits = g_array_new(FALSE, FALSE, sizeof(struct hit));
    seek->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    seek->entry = gtk_search_entry_new();
    seek->said = gtk_label_new("");
    g_object_set(seek->box, "margin-top", 4, "margin-bottom", 4, "margin-start", 6, "visible",
                 FALSE, NULL);
    g_object_set(seek->entry, "placeholder-text", "Rows by name: worker, or work*", "width-chars",
                 30, NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(seek->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Rows by name", -1);
    gtk_box_append(GTK_BOX(seek->box), seek->entry);
    button(view, "go-up-symbolic", NULL, "The row before (Shift+Ctrl+G)", G_CALLBACK(on_previous));
    button(view, "go-down-symbolic", NULL, "The next row (Enter)", G_CALLBACK(on_next));
    button(view, NULL, "_Only these", "Hide all other rows", G_CALLBACK(on_only));
    gtk_box_append(GTK_BOX(seek->box), seek->said);
    g_signal_connect(seek->entry, "changed", G_CALLBACK(on_changed), view);
    g_signal_connect(seek->entry, "activate", G_CALLBACK(on_next), view);
    g_signal_connect(seek->entry, "next-match", G_CALLBACK(on_next), view);
    g_signal_connect(seek->entry, "previous-match", G_CALLBACK(on_previous), view);
    g_signal_connect(seek->entry, "stop-search", G_CALLBACK(on_stop), view);
    return seek->box;
}
