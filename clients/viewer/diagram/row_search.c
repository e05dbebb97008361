#define _GNU_SOURCE
#include "clients/viewer/diagram/row_search.h"

#include "clients/connection/view_state.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"

#include <fnmatch.h>
#include <string.h>

struct row_search_hit {
    uint32_t line; /* the first one of its row */
    uint32_t row; /* index among all rows */
};

struct row_search {
    GtkWidget *box, *entry, *label;
    GArray *hits;
    guint at; /* index of the current hit */
};

static const struct viewer_addon row_search_addon = {"row_search", sizeof(struct row_search)};

static struct row_search *row_search_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &row_search_addon);
}

/* ---- matching ---- */

/* Matches part of the label, ignoring case; text with * or ? is a pattern for the whole label, or
 * for the part after the colon. */
static bool row_search_name_matches(struct view *view, uint32_t line, const char *text)
{
    const char *label = metadata_label(view_metadata(view), line), *colon = strchr(label, ':');
    if (strpbrk(text, "*?"))
        return fnmatch(text, colon ? colon + 1 : label, FNM_CASEFOLD) == 0 ||
               fnmatch(text, label, FNM_CASEFOLD) == 0;
    char *in = g_utf8_casefold(label, -1), *what = g_utf8_casefold(text, -1);
    bool matches = strstr(in, what) != NULL;
    g_free(in);
    g_free(what);
    return matches;
}

static void row_search_add_hit(struct row_search *seek, uint32_t line, uint32_t row)
{
    struct row_search_hit hit = {line, row};
    g_array_append_val(seek->hits, hit);
}

/* Searches rows that the user arranged, which may have several lines. */
static void search_place(struct view *view, struct row_search *seek, const char *text)
{
    const struct view_state *p = &view->viewport.place;
    uint32_t row = 0, end;
    for (uint32_t first = 0; first < p->row_count; first = end) {
        uint32_t head = 0;
        bool matches = false;
        end = row_requests_end(p, first);
        for (uint32_t i = first; i < end; i++) {
            if (p->rows[i].hidden)
                continue;
            head = head ? head : p->rows[i].line;
            matches |= row_search_name_matches(view, p->rows[i].line, text);
        }
        if (matches)
            row_search_add_hit(seek, head, row);
        row += head != 0;
    }
}

/* Searches the rows of the window; of very many lines, no others are known. */
static void search_scene(struct view *view, struct row_search *seek, const char *text)
{
    const struct window_info *w = &view->scene_cache.window;
    for (uint32_t i = 0; view->scene_cache.scene && i < w->row_count; i++) {
        bool matches = row_search_name_matches(view, w->rows[i].line, text);
        for (uint32_t k = 0; k < w->rows[i].member_count; k++)
            matches |= row_search_name_matches(view, w->rows[i].members[k], text);
        if (matches)
            row_search_add_hit(seek, w->rows[i].line, view->scene_cache.row_base + i);
    }
}

static void search_all(struct view *view, struct row_search *seek, const char *text)
{
    uint32_t count, *lines = row_requests_all(view, &count);
    for (uint32_t i = 0; i < count; i++)
        if (row_search_name_matches(view, lines[i], text))
            row_search_add_hit(seek, lines[i], i);
    g_free(lines);
}

static void row_search_search_rows(struct view *view, const char *text)
{
    struct row_search *seek = row_search_find(view);
    bool here = !view->viewport.place.overview && !view->scene_cache.row_base &&
                view->scene_cache.scene &&
                view->scene_cache.row_total <= view->scene_cache.window.row_count;
    g_array_set_size(seek->hits, 0);
    seek->at = 0;
    if (!*text)
        return;
    if (here || row_requests_by_events(view))
        search_scene(view, seek, text);
    else if (view->viewport.place.row_count)
        search_place(view, seek, text);
    else
        search_all(view, seek, text);
}

bool row_search_is_hit(const struct view *view, uint32_t line)
{
    const struct row_search *seek = row_search_find(view);
    for (guint i = 0; i < seek->hits->len; i++)
        if (g_array_index(seek->hits, struct row_search_hit, i).line == line)
            return true;
    return false;
}

/* ---- navigation ---- */

static void row_search_show_count(struct view *view)
{
    struct row_search *seek = row_search_find(view);
    bool any = seek->hits->len, text = *gtk_editable_get_text(GTK_EDITABLE(seek->entry));
    char *sentence = any ? g_strdup_printf("%u of %u", seek->at + 1, seek->hits->len)
                         : g_strdup(!text                             ? ""
                                    : view->viewer_settings.busy_rows ? "No visible row matches "
                                                                        "(press E for all rows)"
                                                                      : "No row matches");
    gtk_label_set_text(GTK_LABEL(seek->label), sentence);
    g_free(sentence);
    if (text && !any)
        gtk_widget_add_css_class(seek->entry, "error");
    else
        gtk_widget_remove_css_class(seek->entry, "error");
}

/* Scrolls to the row of the current hit, to the middle if it was not visible. */
static void row_search_scroll_to_hit(struct view *view)
{
    const struct row_search *seek = row_search_find(view);
    row_search_show_count(view);
    gtk_widget_queue_draw(view->canvas);
    if (!seek->hits->len)
        return;
    const struct viewport *c = &view->viewport;
    uint32_t row = g_array_index(seek->hits, struct row_search_hit, seek->at).row;
    double high = viewport_row_pt(c), page = viewport_page_pt(c), rise = c->place.rise_pt;
    double above = viewport_height_pt(c) - view->scene_cache.row_total * high;
    double top = above + row * high, band = view->scene_cache.pinned * high + above;
    status_line_show(
        &view->status_line, "%s",
        metadata_label(view_metadata(view),
                       g_array_index(seek->hits, struct row_search_hit, seek->at).line));
    if (row >= view->scene_cache.pinned && (top < rise + band || top + high > rise + page))
        row_scrollbar_scroll_to(view, top + high / 2 - (band + page) / 2);
}

static void on_changed(GtkEditable *entry, gpointer data)
{
    row_search_search_rows(data, gtk_editable_get_text(entry));
    row_search_scroll_to_hit(data);
}

static void row_search_step_hits(struct view *view, int by)
{
    struct row_search *seek = row_search_find(view);
    if (seek->hits->len)
        seek->at = (seek->at + seek->hits->len + (guint)by) % seek->hits->len;
    row_search_scroll_to_hit(view);
}

static void on_next(GtkWidget *widget, gpointer data)
{
    (void)widget;
    row_search_step_hits(data, 1);
}

static void on_previous(GtkWidget *widget, gpointer data)
{
    (void)widget;
    row_search_step_hits(data, -1);
}

static void row_search_close(struct view *view)
{
    struct row_search *seek = row_search_find(view);
    gtk_widget_set_visible(seek->box, FALSE);
    g_array_set_size(seek->hits, 0);
    gtk_widget_grab_focus(view->canvas);
    gtk_widget_queue_draw(view->canvas);
}

static void on_stop(GtkWidget *widget, gpointer data)
{
    (void)widget;
    row_search_close(data);
}

static void row_search_on_only_hits(GtkWidget *widget, gpointer data)
{
    struct view *view = data;
    GArray *hits = row_search_find(view)->hits;
    (void)widget;
    if (!hits->len)
        return;
    uint32_t *lines = g_new(uint32_t, hits->len);
    for (guint i = 0; i < hits->len; i++)
        lines[i] = g_array_index(hits, struct row_search_hit, i).line;
    line_arrangement_keep_lines(view, lines, hits->len);
    g_free(lines);
    row_search_close(view);
}

void row_search_open(struct view *view)
{
    if (!view->server_link.has_run)
        return;
    struct row_search *seek = row_search_find(view);
    gtk_widget_set_visible(seek->box, TRUE);
    gtk_widget_grab_focus(seek->entry);
    gtk_editable_select_region(GTK_EDITABLE(seek->entry), 0, -1);
    on_changed(GTK_EDITABLE(seek->entry), view);
}

/* ---- the entry ---- */

static GtkWidget *row_search_new_button(struct view *view, const char *icon, const char *text,
                                        const char *tip, GCallback clicked)
{
    GtkWidget *b = icon ? gtk_button_new_from_icon_name(icon) : gtk_button_new_with_mnemonic(text);
    gtk_widget_set_tooltip_text(b, tip);
    accessible_name_set(b, tip);
    g_signal_connect(b, "clicked", clicked, view);
    gtk_box_append(GTK_BOX(row_search_find(view)->box), b);
    return b;
}

GtkWidget *row_search_new(struct view *view)
{
    struct row_search *seek = viewer_addons_add(&view->addons, &row_search_addon);
    seek->hits = g_array_new(FALSE, FALSE, sizeof(struct row_search_hit));
    seek->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    seek->entry = gtk_search_entry_new();
    seek->label = gtk_label_new("");
    g_object_set(seek->box, "margin-top", 4, "margin-bottom", 4, "margin-start", 6, "visible",
                 FALSE, NULL);
    g_object_set(seek->entry, "placeholder-text", "Row name: worker, or work*", "width-chars", 30,
                 NULL);
    accessible_name_set(seek->entry, "Row name");
    gtk_box_append(GTK_BOX(seek->box), seek->entry);
    row_search_new_button(view, "go-up-symbolic", NULL, "Previous row (Shift+Ctrl+G)",
                          G_CALLBACK(on_previous));
    row_search_new_button(view, "go-down-symbolic", NULL, "Next row (Enter)", G_CALLBACK(on_next));
    row_search_new_button(view, NULL, "Show _only matches", "Hide all other rows",
                          G_CALLBACK(row_search_on_only_hits));
    gtk_box_append(GTK_BOX(seek->box), seek->label);
    g_signal_connect(seek->entry, "changed", G_CALLBACK(on_changed), view);
    g_signal_connect(seek->entry, "activate", G_CALLBACK(on_next), view);
    g_signal_connect(seek->entry, "next-match", G_CALLBACK(on_next), view);
    g_signal_connect(seek->entry, "previous-match", G_CALLBACK(on_previous), view);
    g_signal_connect(seek->entry, "stop-search", G_CALLBACK(on_stop), view);
    return seek->box;
}
