#include "clients/view/panels/bookmarks.h"

#include "clients/book/say.h"
#include "clients/view/panels/list.h"
#include "clients/view/panels/panel.h"
#include "clients/view/panels/panels.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"

#include <stdlib.h>

struct bookmark {
    char *name;
    struct ref at;
    uint64_t position;
};

struct bookmarks {
    GtkWidget *list;
    GArray *marks; /* struct bookmark */
};

static void free_bookmark(gpointer p) { free(((struct bookmark *)p)->name); }

static void show_bookmarks(const struct bookmarks *state)
{
    list_empty(state->list);
    for (guint i = 0; i < state->marks->len; i++) {
        const struct bookmark *b = &g_array_index(state->marks, struct bookmark, i);
        char *text = g_markup_printf_escaped("%u  %s", i + 1, b->name);
        list_add(state->list, text, b->at);
        g_free(text);
    }
}

void bookmarks_add(struct view *view)
{
    struct bookmarks *state = panel_state(view, &panel_bookmarks);
    const struct scene_mark *m = stage_mark(&view->stage, view->camera.place.selected);
    if (!m) {
        status_say(&view->status, "Select an event to set a bookmark at");
        return;
    }
    struct bookmark b = {say_event(the_book(view), m->event), m->event->at, m->event->position};
    g_array_append_val(state->marks, b);
    show_bookmarks(state);
    panel_show(view, panel_bookmarks.name);
}

bool bookmarks_go(struct view *view, uint64_t number)
{
    const struct bookmarks *state = panel_state(view, &panel_bookmarks);
    if (!number || number > state->marks->len)
        return false;
    const struct bookmark *b = &g_array_index(state->marks, struct bookmark, (guint)number - 1);
    jump_to_event(view, b->at, b->position);
    return true;
}

bool bookmarks_ends(struct view *view, struct ref ends[2])
{
    const struct bookmarks *state = panel_state(view, &panel_bookmarks);
    const struct bookmark *first = NULL, *last = NULL;
    for (guint i = 0; i < state->marks->len; i++) {
        const struct bookmark *b = &g_array_index(state->marks, struct bookmark, i);
        first = !first || b->position < first->position ? b : first;
        last = !last || b->position > last->position ? b : last;
    }
    if (!first || first == last)
        return false;
    ends[0] = first->at;
    ends[1] = last->at;
    return true;
}

static void clear(struct view *view)
{
    struct bookmarks *state = panel_state(view, &panel_bookmarks);
    g_array_set_size(state->marks, 0);
    show_bookmarks(state);
}

static GtkWidget *build(struct view *view)
{
    struct bookmarks *state = g_new0(struct bookmarks, 1);
    panel_keep(view, &panel_bookmarks, state);
    state->marks = g_array_new(FALSE, TRUE, sizeof(struct bookmark));
    g_array_set_clear_func(state->marks, free_bookmark);
    return list_new(view, &state->list, "Ctrl+D sets a bookmark at the selected event.");
}

const struct panel panel_bookmarks = {"bookmarks", "Marks", build, NULL, clear};
