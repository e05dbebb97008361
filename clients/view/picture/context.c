#include "clients/view/picture/context.h"

#include "clients/view/parts/camera.h"
#include "clients/view/picture/select.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/placed.h"

static gboolean let_go(gpointer popover)
{
    gtk_widget_unparent(GTK_WIDGET(popover));
    return G_SOURCE_REMOVE;
}

static void on_closed(GtkPopover *popover, gpointer data)
{
    struct view *view = data;
    gtk_widget_grab_focus(view->canvas);
    g_idle_add(let_go, popover); /* after its action */
}

struct item {
    const char *title, *action;
};

static void add(GMenu *menu, const struct item *items, size_t count, const char *target)
{
    for (size_t i = 0; i < count; i++) {
        char *action =
            target ? g_strdup_printf("%s::%s", items[i].action, target) : g_strdup(items[i].action);
        g_menu_append(menu, items[i].title, action);
        g_free(action);
    }
}

static void add_section(GMenu *menu, const struct item *items, size_t count, const char *target)
{
    GMenu *section = g_menu_new();
    add(section, items, count, target);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
    g_object_unref(section);
}

static void add_event(GMenu *menu, const struct shown_event *e)
{
    static const struct item partner[] = {{"Go to the other end", "win.partner"}},
                             ways[] = {{"Go to its cause", "win.cause"},
                                       {"Go to its effect", "win.effect"}},
                             site[] = {{"Open the source", "win.editor"},
                                       {"Find all called from there", "win.find-site"}},
                             rest[] = {{"Write a note…", "win.note"},
                                       {"Hide lines not tied to it", "win.only-tied"},
                                       {"Copy its number", "win.copy-id"}};
    GMenu *go = g_menu_new();
    if (e->partner_count)
        add(go, partner, G_N_ELEMENTS(partner), NULL);
    add(go, ways, G_N_ELEMENTS(ways), NULL);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(go));
    g_object_unref(go);
    if (e->site)
        add_section(menu, site, G_N_ELEMENTS(site), NULL);
    add_section(menu, rest, G_N_ELEMENTS(rest), NULL);
}

static void add_line(GMenu *menu, const struct view *view, uint32_t row)
{
    static const struct item moves[] = {{"Hide this line", "win.hide-line"},
                                        {"Move up", "win.line-up"},
                                        {"Move down", "win.line-down"}},
                             pin[] = {{"Pin on top", "win.pin-line"}},
                             unpin[] = {{"Unpin", "win.pin-line"}},
                             join[] = {{"Join with the row above", "win.join-line"}},
                             split[] = {{"Open this cluster", "win.split-line"}};
    char *target = g_strdup_printf("%u", view->stage.scene->rows[row].line);
    GMenu *clusters = g_menu_new();
    add_section(menu, row < view->stage.pinned ? unpin : pin, 1, target);
    add_section(menu, moves, G_N_ELEMENTS(moves), target);
    if (row > 0)
        add(clusters, join, G_N_ELEMENTS(join), target);
    if (view->stage.window.rows[row].member_count)
        add(clusters, split, G_N_ELEMENTS(split), target);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(clusters));
    g_object_unref(clusters);
    g_free(target);
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
}

void context_menu(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    static const struct item all[] = {{"Show all lines", "win.show-all"}};
    struct view *view = data;
    bool turned = camera_vertical(&view->camera), far = view->camera.place.far;
    double along = turned ? y : x, across = turned ? x : y;
    const struct scene_mark *mark = far ? NULL : camera_hit(&view->camera, along, across);
    int row = far ? -1 : camera_row_at(&view->camera, across);
    GMenu *menu = g_menu_new();
    (void)gesture;
    (void)presses;
    if (mark) {
        select_event(view, mark->event->at, false);
        add_event(menu, mark->event);
    } else if (row >= 0) {
        add_line(menu, view, (uint32_t)row);
    }
    if (!mark)
        add_section(menu, all, G_N_ELEMENTS(all), NULL);
    pop_up(view, menu, x, y);
    g_object_unref(menu);
}
