#include "clients/viewer/diagram/context_menu.h"

#include "clients/viewer/state/viewport.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene.h"
#include "wire/layout_results.h"

static gboolean context_menu_free_popover(gpointer popover)
{
    gtk_widget_unparent(GTK_WIDGET(popover));
    return G_SOURCE_REMOVE;
}

static void on_closed(GtkPopover *popover, gpointer data)
{
    struct view *view = data;
    gtk_widget_grab_focus(view->canvas);
    g_idle_add(context_menu_free_popover, popover); /* after its action has run */
}

struct context_menu_item {
    const char *title, *action;
    const char *key; /* which of several keys to display; NULL: the only one, or none */
};

static void context_menu_append_items(GMenu *menu, const struct context_menu_item *items,
                                      size_t count, const char *target)
{
    for (size_t i = 0; i < count; i++) {
        char *action =
            target ? g_strdup_printf("%s::%s", items[i].action, target) : g_strdup(items[i].action);
        GMenuItem *item = g_menu_item_new(items[i].title, action);
        if (items[i].key)
            g_menu_item_set_attribute(item, "accel", "s", items[i].key);
        g_menu_append_item(menu, item);
        g_object_unref(item);
        g_free(action);
    }
}

static void add_section(GMenu *menu, const struct context_menu_item *items, size_t count,
                        const char *target)
{
    GMenu *section = g_menu_new();
    context_menu_append_items(section, items, count, target);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
    g_object_unref(section);
}

static void add_event(GMenu *menu, const struct event_info *e)
{
    static const struct context_menu_item partner[] = {{"Go to partner", "win.partner", "Return"}},
                                          ways[] = {{"Go to cause", "win.cause", NULL},
                                                    {"Go to effect", "win.effect", NULL}},
                                          site[] = {{"Open source", "win.editor", NULL},
                                                    {"Find events from this call site",
                                                     "win.find-site", NULL}},
                                          rest[] = {
                                              {"Add note…", "win.note", NULL},
                                              {"Hide unrelated lines", "win.only-tied", NULL},
                                              {"Debug here", "win.debug", NULL},
                                              {"Toggle breakpoint", "win.break", NULL},
                                              {"Breakpoint at call site", "win.break-place", NULL},
                                              {"Copy event id", "win.copy-id", NULL}};
    GMenu *go = g_menu_new();
    if (e->partner_count)
        context_menu_append_items(go, partner, G_N_ELEMENTS(partner), NULL);
    context_menu_append_items(go, ways, G_N_ELEMENTS(ways), NULL);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(go));
    g_object_unref(go);
    if (e->site)
        add_section(menu, site, G_N_ELEMENTS(site), NULL);
    add_section(menu, rest, G_N_ELEMENTS(rest), NULL);
}

static void add_line(GMenu *menu, const struct view *view, uint32_t row)
{
    static const struct context_menu_item moves[] = {{"Hide line", "win.hide-line", NULL},
                                                     {"Move up", "win.line-up", NULL},
                                                     {"Move down", "win.line-down", NULL}},
                                          pin[] = {{"Pin", "win.pin-line", NULL}},
                                          unpin[] = {{"Unpin", "win.pin-line", NULL}},
                                          join[] = {{"Group with row above", "win.join-line",
                                                     NULL}},
                                          split[] = {{"Ungroup", "win.split-line", NULL}};
    char *target = g_strdup_printf("%u", view->scene_cache.scene->rows[row].line);
    GMenu *clusters = g_menu_new();
    add_section(menu, row < view->scene_cache.pinned ? unpin : pin, 1, target);
    add_section(menu, moves, G_N_ELEMENTS(moves), target);
    if (row > 0)
        context_menu_append_items(clusters, join, G_N_ELEMENTS(join), target);
    if (view->scene_cache.window.rows[row].member_count)
        context_menu_append_items(clusters, split, G_N_ELEMENTS(split), target);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(clusters));
    g_object_unref(clusters);
    g_free(target);
}

/* Measures again: GTK 4.8 does so before separators are styled, and cuts the last line off. */
static gboolean context_menu_fit_popover(gpointer popover)
{
    gtk_widget_queue_resize(popover);
    if (gtk_widget_get_mapped(popover))
        gtk_popover_present(popover);
    g_object_unref(popover);
    return G_SOURCE_REMOVE;
}

static void pop_up(struct view *view, GMenu *menu, double x, double y)
{
    GdkRectangle there = {(int)x, (int)y, 1, 1};
    GtkWidget *popover = gtk_popover_menu_new_from_model(G_MENU_MODEL(menu));
    gtk_widget_set_parent(popover, view->canvas);
    gtk_popover_set_pointing_to(GTK_POPOVER(popover), &there);
    g_signal_connect(popover, "closed", G_CALLBACK(on_closed), view);
    gtk_popover_set_has_arrow(GTK_POPOVER(popover), FALSE);
    gtk_popover_popup(GTK_POPOVER(popover));
    g_idle_add(context_menu_fit_popover, g_object_ref(popover));
}

void context_menu_show(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    static const struct context_menu_item all[] = {{"Show all lines", "win.show-all", NULL}};
    struct view *view = data;
    bool turned = viewport_vertical(&view->viewport), overview = view->viewport.place.overview;
    double unit = view->viewport.unit_px, along = (turned ? y : x) / unit,
           across = (turned ? x : y) / unit;
    const struct scene_mark *mark = overview ? NULL : viewport_hit(&view->viewport, along, across);
    int row = overview ? -1 : viewport_row_at(&view->viewport, across);
    GMenu *menu = g_menu_new();
    (void)gesture;
    (void)presses;
    if (mark) {
        selection_set(view, mark->event->at, false);
        add_event(menu, mark->event);
    } else if (row >= 0) {
        add_line(menu, view, (uint32_t)row);
    }
    if (!mark)
        add_section(menu, all, G_N_ELEMENTS(all), NULL);
    pop_up(view, menu, x, y);
    g_object_unref(menu);
}
