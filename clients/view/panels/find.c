#include "clients/view/panels/find.h"

#include "clients/site/site.h"
#include "clients/view/panels/events.h"
#include "clients/view/panels/panel.h"
#include "clients/view/panels/panels.h"
#include "clients/view/parts/button.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/finder.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/shown.h"

struct find {
    GtkWidget *entry, *expression, *where, *summary;
    struct events *events;
    uint64_t origin; /* position in the log that the search begins from */
};

static struct find *find_of(const struct view *view) { return panel_state(view, &panel_find); }

/* Position of the selected event, if it is here, else of the first that is seen. */
static uint64_t here(const struct view *view)
{
    const struct scene_mark *m = stage_mark(&view->stage, view->camera.place.selected);
    uint64_t first, last;
    if (m && m->event->position != NO_POSITION)
        return m->event->position;
    camera_positions(&view->camera, &first, &last);
    return first == NO_POSITION ? 0 : first;
}

/* For what is in the entry. */
static void start(struct view *view)
{
    const struct find *f = find_of(view);
    finder_start(&view->finder, gtk_editable_get_text(GTK_EDITABLE(f->entry)),
                 gtk_drop_down_get_selected(GTK_DROP_DOWN(f->where)),
                 gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(f->expression)), f->origin);
}

void find_text(struct view *view, const char *text)
{
    find_of(view)->origin = here(view);
    gtk_editable_set_text(GTK_EDITABLE(find_of(view)->entry), text);
    start(view);
}

void find_site(struct view *view)
{
    const struct shown_event *e = stage_event(&view->stage, view->camera.place.selected);
    const char *place =
        e && e->site ? sites_call(view->link.sites, e->process, e->site).place : NULL;
    if (!place || !*place) {
        status_say(&view->status,
                   e ? "The selected event has no call site" : "Select an event first");
        return;
    }
    char *text = g_strdup(place);
    panel_show(view, panel_find.name);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(find_of(view)->where), FINDER_SITES);
    find_text(view, text);
    g_free(text);
}

void find_focus(struct view *view)
{
    struct find *f = find_of(view);
    panel_show(view, panel_find.name);
    f->origin = here(view);
    gtk_widget_grab_focus(f->entry);
    gtk_editable_select_region(GTK_EDITABLE(f->entry), 0, -1);
}

void find_leave(struct view *view)
{
    if (finder_wants(&view->finder))
        finder_start(&view->finder, "", FINDER_ANYWHERE, false, 0);
}

/* The hit is selected, in the picture and in the list. */
static void go(struct view *view, struct ref at, uint64_t position, uint32_t index)
{
    const struct finder *finder = &view->finder;
    jump_to_event(view, at, position);
    events_show(find_of(view)->events, position);
    if (index >= finder->hit_count || !ref_equal(finder->by_position[index], at))
        return;
    char *text = g_strdup_printf("Hit %u of %'llu", index + 1, (unsigned long long)finder->count);
    gtk_label_set_text(GTK_LABEL(find_of(view)->summary), text);
    g_free(text);
}

void find_next(struct view *view, int step)
{
    const struct finder *finder = &view->finder;
    if (!finder->hit_count) {
        if (!finder_wants(finder) && *gtk_editable_get_text(GTK_EDITABLE(find_of(view)->entry)))
            start(view); /* again, what Escape has put away */
        else
            find_focus(view);
        return;
    }
    const struct scene_mark *m = stage_mark(&view->stage, view->camera.place.selected);
    bool at_one = m && m->event->position != NO_POSITION;
    uint32_t i = finder_from(finder, here(view) + (at_one && step > 0), step);
    go(view, finder->by_position[i], finder->positions[i], i);
}

/* To the first one from where the search began; if there is none from there on, from the begin. */
static void go_first(struct view *view)
{
    struct finder *finder = &view->finder;
    if (!finder->jump || !finder->near_known || (!finder->near.line && !finder->hit_count))
        return;
    finder->jump = false;
    if (!finder->near.line)
        go(view, finder->by_position[0], finder->positions[0], 0);
    else
        go(view, finder->near, finder->near_position,
           finder->hit_count ? finder_from(finder, finder->near_position, 0) : 0);
}

/* ---- news ---- */

static void take_hits(struct view *view)
{
    struct finder *finder = &view->finder;
    const struct find *f = find_of(view);
    gtk_label_set_text(GTK_LABEL(f->summary), finder->summary ? finder->summary : "");
    if (finder_vain(finder))
        gtk_widget_add_css_class(f->entry, "error");
    else
        gtk_widget_remove_css_class(f->entry, "error");
    events_count(f->events);
    go_first(view);
}

static void take(struct view *view, enum news news)
{
    if (news == NEWS_HITS)
        take_hits(view);
    else if (news == NEWS_GROWN)
        events_count(find_of(view)->events);
    else if (news == NEWS_SELECTED)
        events_select(find_of(view)->events);
}

static void clear(struct view *view)
{
    events_clear(find_of(view)->events);
    gtk_label_set_text(GTK_LABEL(find_of(view)->summary), "");
}

/* ---- the panel ---- */

static void on_changed(GtkWidget *widget, gpointer data)
{
    (void)widget;
    start(data);
}

static void on_notify(GObject *object, GParamSpec *spec, gpointer data)
{
    (void)object;
    (void)spec;
    start(data);
}

static void on_activate(GtkSearchEntry *entry, gpointer data)
{
    struct view *view = data;
    const char *text = gtk_editable_get_text(GTK_EDITABLE(entry));
    if (g_strcmp0(text, view->finder.search.text) != 0)
        start(view); /* Enter was faster than the entry's own delay */
    else
        find_next(view, 1);
}

static void on_stop(GtkSearchEntry *entry, gpointer data)
{
    struct view *view = data;
    (void)entry;
    find_leave(view);
    panel_back(view);
    gtk_widget_grab_focus(view->canvas);
}

static GtkWidget *new_entry(struct view *view, struct find *f)
{
    static const char *const where[] = {"Anywhere", "Types", "Lines", "Texts", "Call sites", NULL};
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
    gtk_widget_set_hexpand(f->where, TRUE);
    gtk_box_append(GTK_BOX(row), f->where);
    gtk_box_append(GTK_BOX(row), f->expression);
    gtk_box_append(GTK_BOX(row),
                   button_new("go-up-symbolic", "win.find-previous", "The hit before (Shift+F3)"));
    gtk_box_append(GTK_BOX(row),
                   button_new("go-down-symbolic", "win.find-next", "The next hit (F3)"));
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

static GtkWidget *build(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4), *list;
    struct find *f = g_new0(struct find, 1);
    panel_keep(view, &panel_find, f);
    gtk_box_append(GTK_BOX(box), new_entry(view, f));
    f->events = events_new(view, &list);
    gtk_box_append(GTK_BOX(box), list);
    return box;
}

const struct panel panel_find = {"find", "Events", build, take, clear};
