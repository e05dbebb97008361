/* The search panel: the search expression, and the list of all events or hits. */
#include "clients/viewer/sidebar/panel.h"

#include "clients/symbols/symbolizer.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/sidebar/event_list.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/icon_button.h"
#include "clients/viewer/state/pattern_hits.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/search.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"
#include "wire/trace_view.h"

struct search_panel {
    GtkWidget *entry, *expression, *where, *summary;
    struct event_list *events;
    uint64_t origin; /* position in the log that the search begins from */
};

static struct search_panel *search_panel_state(const struct view *view)
{
    return panel_state(view, &panel_find);
}

/* Returns the position of the selected event if it is in the scene, otherwise of the first visible
 * one. */
static uint64_t search_panel_start_position(const struct view *view)
{
    const struct scene_mark *m =
        scene_cache_find_mark(&view->scene_cache, view->viewport.place.selected);
    uint64_t first, last;
    if (m && m->event->position != NO_POSITION)
        return m->event->position;
    viewport_positions(&view->viewport, &first, &last);
    return first == NO_POSITION ? 0 : first;
}

/* Searches for the text of the entry. */
static void search_panel_start_search(struct view *view)
{
    const struct search_panel *f = search_panel_state(view);
    search_start(&view->search, gtk_editable_get_text(GTK_EDITABLE(f->entry)),
                 gtk_drop_down_get_selected(GTK_DROP_DOWN(f->where)),
                 gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(f->expression)), f->origin);
}

void search_panel_text(struct view *view, const char *text)
{
    search_panel_state(view)->origin = search_panel_start_position(view);
    gtk_editable_set_text(GTK_EDITABLE(search_panel_state(view)->entry), text);
    search_panel_start_search(view);
}

void search_panel_site(struct view *view)
{
    const struct event_info *e =
        scene_cache_find_event(&view->scene_cache, view->viewport.place.selected);
    const char *place =
        e && e->site ? symbolize(view->server_link.sites, e->process, e->site).place : NULL;
    if (!place || !*place) {
        status_line_show(&view->status_line,
                         e ? "The selected event has no call site" : "Select an event first");
        return;
    }
    char *text = g_strdup(place);
    panel_show(view, panel_find.name);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(search_panel_state(view)->where), SEARCH_SITES);
    search_panel_text(view, text);
    g_free(text);
}

void search_panel_similar(struct view *view)
{
    const struct view_state *at = &view->viewport.place;
    const struct event_info *a = scene_cache_find_event(&view->scene_cache, at->selected),
                            *b = scene_cache_find_event(&view->scene_cache, at->second);
    char *place = a && a->site
                      ? g_strdup(symbolize(view->server_link.sites, a->process, a->site).place)
                      : g_strdup("");
    bool second = at->second.line && !event_id_equal(at->second, at->selected);
    char *text = a && (b || !second) ? pattern_hits_like(server_link_metadata(&view->server_link),
                                                         a, second ? b : NULL,
                                                         view->selection_relations.related, place)
                                     : NULL;
    g_free(place);
    if (!text) {
        status_line_show(&view->status_line, a ? "The order of the two events is not known"
                                               : "Select one or two visible events first");
        return;
    }
    panel_show(view, panel_find.name);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(search_panel_state(view)->where), SEARCH_ANYWHERE);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(search_panel_state(view)->expression), FALSE);
    search_panel_text(view, text);
    g_free(text);
}

void search_panel_focus(struct view *view)
{
    struct search_panel *f = search_panel_state(view);
    panel_show(view, panel_find.name);
    f->origin = search_panel_start_position(view);
    gtk_widget_grab_focus(f->entry);
    gtk_editable_select_region(GTK_EDITABLE(f->entry), 0, -1);
}

void search_panel_leave(struct view *view)
{
    if (search_is_active(&view->search))
        search_start(&view->search, "", SEARCH_ANYWHERE, false, 0);
}

/* Selects the hit in the diagram and in the list. */
static void search_panel_go_to_hit(struct view *view, struct event_id at, uint64_t position,
                                   uint32_t index)
{
    const struct viewer_search *finder = &view->search;
    go_to_event(view, at, position);
    event_list_show(search_panel_state(view)->events, position);
    if (index >= finder->hit_count || !event_id_equal(finder->by_position[index], at))
        return;
    char *text = g_strdup_printf("Match %u of %'llu", index + 1, (unsigned long long)finder->count);
    gtk_label_set_text(GTK_LABEL(search_panel_state(view)->summary), text);
    g_free(text);
}

void search_panel_next(struct view *view, int step)
{
    const struct viewer_search *finder = &view->search;
    if (!finder->hit_count) {
        if (!search_is_active(finder) &&
            *gtk_editable_get_text(GTK_EDITABLE(search_panel_state(view)->entry)))
            search_panel_start_search(view); /* repeats the search that Escape ended */
        else
            search_panel_focus(view);
        return;
    }
    const struct scene_mark *m =
        scene_cache_find_mark(&view->scene_cache, view->viewport.place.selected);
    bool at_one = m && m->event->position != NO_POSITION;
    uint32_t i =
        search_hit_from(finder, search_panel_start_position(view) + (at_one && step > 0), step);
    search_panel_go_to_hit(view, finder->by_position[i], finder->positions[i], i);
}

/* Goes to the first hit from the start of the search on; if there is none, to the first of all. */
static void go_first(struct view *view)
{
    struct viewer_search *finder = &view->search;
    if (!finder->jump || !finder->near_known || (!finder->near.line && !finder->hit_count))
        return;
    finder->jump = false;
    if (!finder->near.line)
        search_panel_go_to_hit(view, finder->by_position[0], finder->positions[0], 0);
    else
        search_panel_go_to_hit(view, finder->near, finder->near_position,
                               finder->hit_count ? search_hit_from(finder, finder->near_position, 0)
                                                 : 0);
}

/* ---- notifications ---- */

static void search_panel_show_hits(struct view *view)
{
    struct viewer_search *finder = &view->search;
    const struct search_panel *f = search_panel_state(view);
    gtk_label_set_text(GTK_LABEL(f->summary), finder->summary ? finder->summary : "");
    if (search_found_nothing(finder))
        gtk_widget_add_css_class(f->entry, "error");
    else
        gtk_widget_remove_css_class(f->entry, "error");
    event_list_update_count(f->events);
    go_first(view);
}

static void search_panel_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_HITS)
        search_panel_show_hits(view);
    else if (what == NOTIFY_RUN_UPDATED)
        event_list_update_count(search_panel_state(view)->events);
    else if (what == NOTIFY_SELECTION)
        event_list_select(search_panel_state(view)->events);
}

static void search_panel_clear_list(struct view *view)
{
    event_list_clear(search_panel_state(view)->events);
    gtk_label_set_text(GTK_LABEL(search_panel_state(view)->summary), "");
}

/* ---- panel ---- */

static void on_changed(GtkWidget *widget, gpointer data)
{
    (void)widget;
    search_panel_start_search(data);
}

static void on_notify(GObject *object, GParamSpec *spec, gpointer data)
{
    (void)object;
    (void)spec;
    search_panel_start_search(data);
}

static void on_activate(GtkSearchEntry *entry, gpointer data)
{
    struct view *view = data;
    const char *text = gtk_editable_get_text(GTK_EDITABLE(entry));
    if (g_strcmp0(text, view->search.search.text) != 0)
        search_panel_start_search(view); /* Enter was faster than the entry's own delay */
    else
        search_panel_next(view, 1);
}

static void on_stop(GtkSearchEntry *entry, gpointer data)
{
    struct view *view = data;
    (void)entry;
    search_panel_leave(view);
    panel_back(view);
    gtk_widget_grab_focus(view->canvas);
}

static GtkWidget *new_entry(struct view *view, struct search_panel *f)
{
    static const char *const where[] = {"Anywhere",    "Types",      "Lines",
                                        "Annotations", "Call sites", NULL};
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6),
              *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
    g_object_set(box, "margin-top", 8, "margin-start", 8, "margin-end", 8, NULL);
    f->entry = gtk_search_entry_new();
    f->where = gtk_drop_down_new_from_strings(where);
    f->expression = gtk_toggle_button_new_with_label(".*");
    f->summary = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(f->summary), 0);
    gtk_label_set_wrap(GTK_LABEL(f->summary), TRUE);
    gtk_widget_set_tooltip_text(f->expression, "Regular expression");
    accessible_name_set(f->entry, "Find events");
    accessible_name_set(f->where, "Find in");
    accessible_name_set(f->expression, "Regular expression");
    gtk_widget_set_hexpand(f->where, TRUE);
    gtk_box_append(GTK_BOX(row), f->where);
    gtk_box_append(GTK_BOX(row), f->expression);
    gtk_box_append(GTK_BOX(row), icon_button_new("go-up-symbolic", "win.find-previous",
                                                 "Previous match (Shift+F3)"));
    gtk_box_append(GTK_BOX(row),
                   icon_button_new("go-down-symbolic", "win.find-next", "Next match (F3)"));
    gtk_box_append(GTK_BOX(box), f->entry);
    gtk_box_append(GTK_BOX(box), row);
    gtk_box_append(GTK_BOX(box), f->summary);
    g_signal_connect(f->entry, "search-changed", G_CALLBACK(on_changed), view);
    g_signal_connect(f->entry, "activate", G_CALLBACK(on_activate), view);
    g_signal_connect(f->entry, "stop-search", G_CALLBACK(on_stop), view);
    g_signal_connect(f->expression, "toggled", G_CALLBACK(on_changed), view);
    g_signal_connect(f->where, "notify::selected", G_CALLBACK(on_notify), view);
    return box;
}

static GtkWidget *search_panel_create(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4), *list;
    struct search_panel *f = g_new0(struct search_panel, 1);
    panel_keep(view, &panel_find, f);
    gtk_box_append(GTK_BOX(box), new_entry(view, f));
    f->events = event_list_new(view, &list);
    gtk_box_append(GTK_BOX(box), list);
    return box;
}

const struct panel panel_find = {"find", "Events", search_panel_create,
                                 search_panel_on_notification, search_panel_clear_list};
