/* The panel Description: the visible part of the diagram as text. */
#include "clients/metadata/event_text.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

#include <stdlib.h>

struct text_panel {
    GtkWidget *view;
};

static int text_panel_compare_columns(const void *a, const void *b)
{
    const struct event_info *x = *(const struct event_info *const *)a,
                            *y = *(const struct event_info *const *)b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Returns how an event is related to the selected one. */
static const char *text_panel_relation_text(const struct view *view, const struct event_info *e)
{
    static const char *const words[] = {"",
                                        " [causal past of the selected event]",
                                        " [causal future of the selected event]",
                                        " [concurrent with the selected event]",
                                        " [simultaneous with the selected event]",
                                        " [unknown order relative to the selected event]"};
    if (!view->scene_cache.colored)
        return "";
    if (event_id_equal(e->at, view->viewport.place.selected))
        return " [selected]";
    return e->to_selected < G_N_ELEMENTS(words) ? words[e->to_selected] : "";
}

/* Shows the visible events in the order of their columns. */
static void text_panel_refresh_text(struct view *view)
{
    GtkWidget *words = ((struct text_panel *)panel_state(view, &panel_text))->view;
    if (!gtk_widget_get_mapped(words))
        return;
    const struct window_info *w = &view->scene_cache.window;
    const struct event_info **events = g_new(const struct event_info *, w->event_count + 1);
    double left = viewport_left_pt(&view->viewport),
           right = left + viewport_width_pt(&view->viewport);
    uint32_t count = 0;
    const struct scene *s = view->scene_cache.scene;
    for (uint32_t i = 0; s && i < s->mark_count; i++)
        if (s->marks[i].x_pt >= left && s->marks[i].x_pt <= right && count < w->event_count)
            events[count++] = s->marks[i].event;
    if (count)
        qsort(events, count, sizeof *events, text_panel_compare_columns);
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < count; i++) {
        char *sentence = event_text(view_metadata(view), events[i]);
        bool same = i && events[i]->column == events[i - 1]->column;
        g_string_append_printf(text, "%s%s%s\n",
                               same ? "  same column: "
                               : i  ? "then "
                                    : "",
                               sentence, text_panel_relation_text(view, events[i]));
        g_free(sentence);
    }
    gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(words)), text->str, -1);
    g_string_free(text, TRUE);
    g_free(events);
}

static void on_text_mapped(GtkWidget *widget, gpointer data)
{
    (void)widget;
    text_panel_refresh_text(data);
}

static void text_panel_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_DIAGRAM || what == NOTIFY_EVENT_RELATIONS)
        text_panel_refresh_text(view);
}

static GtkWidget *text_panel_create(struct view *view)
{
    GtkWidget *scrolled = gtk_scrolled_window_new(), *words = gtk_text_view_new();
    struct text_panel *state = g_new0(struct text_panel, 1);
    panel_keep(view, &panel_text, state);
    state->view = words;
    gtk_text_view_set_editable(GTK_TEXT_VIEW(words), FALSE);
    gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(words), GTK_WRAP_WORD_CHAR);
    gtk_text_view_set_indent(GTK_TEXT_VIEW(words), -12); /* indents wrapped lines */
    g_object_set(words, "left-margin", 10, "right-margin", 10, "top-margin", 8, "bottom-margin", 8,
                 NULL);
    gtk_text_view_set_accepts_tab(GTK_TEXT_VIEW(words), FALSE);
    accessible_name_set(words, "Text description of the diagram");
    g_signal_connect_after(words, "map", G_CALLBACK(on_text_mapped), view);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), words);
    return scrolled;
}

const struct panel panel_text = {"text", "Description", text_panel_create,
                                 text_panel_on_notification, NULL};
