/* The picture in words. */
#include "clients/book/say.h"
#include "clients/view/panels/panel.h"
#include "clients/view/panels/panels.h"
#include "clients/view/parts/camera.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/placed.h"
#include "wire/shown.h"

#include <stdlib.h>

struct words {
    GtkWidget *view;
};

static int by_column(const void *a, const void *b)
{
    const struct shown_event *x = *(const struct shown_event *const *)a,
                             *y = *(const struct shown_event *const *)b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* How an event stands to the selected one. */
static const char *standing(const struct view *view, const struct shown_event *e)
{
    static const char *const words[] = {"",
                                        " [before the selected one]",
                                        " [after the selected one]",
                                        " [concurrent with the selected one]",
                                        " [one point with the selected one]",
                                        " [may stand either way to the selected one]"};
    if (!view->stage.coloured)
        return "";
    if (ref_equal(e->at, view->camera.place.selected))
        return " [selected]";
    return e->stands < G_N_ELEMENTS(words) ? words[e->stands] : "";
}

/* Who, what, before whom, for those who read rather than look. */
static void refresh(struct view *view)
{
    GtkWidget *words = ((struct words *)panel_state(view, &panel_text))->view;
    if (!gtk_widget_get_mapped(words))
        return;
    const struct shown_window *w = &view->stage.window;
    const struct shown_event **events = g_new(const struct shown_event *, w->event_count + 1);
    double left = camera_left_pt(&view->camera), right = left + camera_width_pt(&view->camera);
    uint32_t count = 0;
    const struct scene *s = view->stage.scene;
    for (uint32_t i = 0; s && i < s->mark_count; i++)
        if (s->marks[i].x_pt >= left && s->marks[i].x_pt <= right && count < w->event_count)
            events[count++] = s->marks[i].event;
    if (count)
        qsort(events, count, sizeof *events, by_column);
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < count; i++) {
        char *said = say_event(the_book(view), events[i]);
        bool same = i && events[i]->column == events[i - 1]->column;
        g_string_append_printf(text, "%s%s%s\n",
                               same ? "  beside it, "
                               : i  ? "then "
                                    : "",
                               said, standing(view, events[i]));
        g_free(said);
    }
    gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(words)), text->str, -1);
    g_string_free(text, TRUE);
    g_free(events);
}

static void on_text_mapped(GtkWidget *widget, gpointer data)
{
    (void)widget;
    refresh(data);
}

static void take(struct view *view, enum news news)
{
    if (news == NEWS_PICTURE || news == NEWS_STANDS)
        refresh(view);
}

static GtkWidget *build(struct view *view)
{
    GtkWidget *scrolled = gtk_scrolled_window_new(), *words = gtk_text_view_new();
    struct words *state = g_new0(struct words, 1);
    panel_keep(view, &panel_text, state);
    state->view = words;
    gtk_text_view_set_editable(GTK_TEXT_VIEW(words), FALSE);
    gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(words), GTK_WRAP_WORD_CHAR);
    gtk_text_view_set_indent(GTK_TEXT_VIEW(words), -12); /* what is wrapped stands in */
    g_object_set(words, "left-margin", 10, "right-margin", 10, "top-margin", 8, "bottom-margin", 8,
                 NULL);
    gtk_text_view_set_accepts_tab(GTK_TEXT_VIEW(words), FALSE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(words), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "The picture in words", -1);
    g_signal_connect_after(words, "map", G_CALLBACK(on_text_mapped), view);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), words);
    return scrolled;
}

const struct panel panel_text = {"text", "Text", build, take, NULL};
