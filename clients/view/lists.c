/* Lists beside the picture: who waits, what went wrong, bookmarks; and the picture in words. */
#include "clients/view/view.h"

#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>

#define TOLD_MOST 500

/* ---- rows that lead to an event ---- */

static void on_row(GtkListBox *list, GtkListBoxRow *row, gpointer data)
{
    struct ref at;
    const char *event = g_object_get_data(G_OBJECT(row), "event");
    (void)list;
    if (event && ref_parse(event, &at))
        motion_to_event(data, at, NO_POSITION);
}

static void add_row(GtkWidget *list, const char *markup, struct ref at)
{
    GtkWidget *label = gtk_label_new(NULL), *row = gtk_list_box_row_new();
    char text[48];
    gtk_label_set_markup(GTK_LABEL(label), markup);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    g_object_set(label, "margin-top", 4, "margin-bottom", 4, "margin-start", 8, "margin-end", 8, NULL);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), label);
    if (at.line) {
        ref_print(text, sizeof text, at);
        g_object_set_data_full(G_OBJECT(row), "event", g_strdup(text), g_free);
    }
    gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), at.line != 0);
    gtk_list_box_append(GTK_LIST_BOX(list), row);
}

static void empty(GtkWidget *list)
{
    GtkWidget *row;
    while ((row = gtk_widget_get_first_child(list)) && GTK_IS_LIST_BOX_ROW(row))
        gtk_list_box_remove(GTK_LIST_BOX(list), row);
}

static GtkWidget *new_list(struct view *view, GtkWidget **list, const char *nothing)
{
    GtkWidget *scrolled = gtk_scrolled_window_new(), *label = gtk_label_new(nothing);
    *list = gtk_list_box_new();
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    g_object_set(label, "margin-top", 20, "margin-start", 10, "margin-end", 10, NULL);
    gtk_list_box_set_placeholder(GTK_LIST_BOX(*list), label);
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(*list), GTK_SELECTION_BROWSE);
    g_signal_connect(*list, "row-activated", G_CALLBACK(on_row), view);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), *list);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
    return scrolled;
}

/* ---- who waits ---- */

static void tell_cycle(struct view *view, const struct shown_cycle *cycle)
{
    const struct shown_wait *first = cycle->count ? waits_of(&view->waits, cycle->steps[0].thread) : NULL;
    char *said = say_cycle(the_book(view), cycle);
    char *text = g_markup_printf_escaped("<b>These wait for each other:</b> %s", said);
    add_row(view->waits_list, text, first ? first->event.at : (struct ref){0, 0});
    g_free(text);
    free(said);
}

static void tell_wait(struct view *view, const struct shown_wait *w)
{
    struct said said = say_wait(the_book(view), w);
    char since[32];
    scene_duration(view->waits.now_ns - w->event.time_ns, since, sizeof since);
    GString *s = g_string_new(NULL);
    char *head = g_markup_printf_escaped("<b>%s</b> %s %s\n<small>for %s before the last event", said.who,
                                         said.does, said.about, since);
    g_string_append(s, head);
    if (w->event.site) {
        struct site_is site = sites_call(view->link.sites, w->event.process, w->event.site);
        char *place = g_markup_escape_text(site.place, -1);
        g_string_append_printf(s, ", at %s", place);
        g_free(place);
    }
    g_string_append(s, "</small>");
    for (uint32_t i = 0; i < w->holder_count; i++) {
        char text[LIMIT_TEXT_BYTES];
        say_holder(text, sizeof text, the_book(view), &w->holders[i]);
        char *held = g_markup_printf_escaped("\n<small>%s</small>", text);
        g_string_append(s, held);
        g_free(held);
    }
    add_row(view->waits_list, s->str, w->event.at);
    g_free(head);
    g_string_free(s, TRUE);
}

/* In a hang this is the answer: it opens by itself, once. */
static void waits_refresh(struct view *view)
{
    struct waits *w = &view->waits;
    empty(view->waits_list);
    for (uint32_t i = 0; i < w->cycle_count; i++)
        tell_cycle(view, &w->cycles[i]);
    for (uint32_t i = 0; i < w->count && i < TOLD_MOST; i++)
        tell_wait(view, &w->items[i]);
    if (w->cycle_count && !view->hang_shown) {
        view->hang_shown = true;
        panel_show(view, "waiting");
        window_say(view, "Threads wait for each other in a cycle");
    }
}

static void take_waits(void *user, const struct answer *answer)
{
    struct view *view = user;
    if (!waits_take(&view->waits_coming, answer))
        return;
    waits_free(&view->waits);
    view->waits = view->waits_coming;
    view->waits_coming = (struct waits){0};
    waits_refresh(view);
}

void waits_ask(struct view *view)
{
    waits_free(&view->waits_coming);
    inquiry_ask(view, &view->waiting, ASK_WAITS, NULL, take_waits);
}

GtkWidget *waits_new(struct view *view)
{
    return new_list(view, &view->waits_list, "No thread waits at the end of what was recorded.");
}

/* ---- what went wrong ---- */

static void add_trouble(struct view *view, struct in *in)
{
    struct shown_trouble t = {.at = get_ref(in)};
    char at[48], with[48];
    t.with = get_ref(in);
    t.why = get_name(in, LIMIT_TEXT_BYTES);
    ref_print(at, sizeof at, t.at);
    ref_print(with, sizeof with, t.with);
    char *text = g_markup_printf_escaped("<b>contradiction</b> %s: %s%s%s", at, t.why ? t.why : "",
                                         t.with.line ? ", with " : "", t.with.line ? with : "");
    if (!in->error)
        add_row(view->troubles_list, text, t.at);
    g_free(text);
    free(t.why);
}

static void add_pending(struct view *view, struct in *in)
{
    struct shown_event event;
    get_event(in, &event);
    if (in_done(in)) {
        char *said = say_event(the_book(view), &event), *text = g_markup_printf_escaped("<b>pending</b> %s", said);
        add_row(view->troubles_list, text, event.at);
        g_free(text);
        g_free(said);
    }
    shown_event_free(&event);
}

static void take_troubles(void *user, const struct answer *answer)
{
    struct view *view = user;
    if (answer->part == PART_STAT)
        empty(view->troubles_list);
    else if (answer->part == PART_TROUBLE)
        add_trouble(view, answer->in);
    else if (answer->part == PART_EVENT)
        add_pending(view, answer->in);
}

void troubles_ask(struct view *view) { inquiry_ask(view, &view->troubling, ASK_STAT, NULL, take_troubles); }

GtkWidget *troubles_new(struct view *view)
{
    return new_list(view, &view->troubles_list, "Nothing is pending, and no event contradicts the others.");
}

/* ---- bookmarks ---- */

static void free_bookmark(gpointer p) { g_free(((struct bookmark *)p)->name); }

static void show_bookmarks(struct view *view)
{
    empty(view->bookmarks_list);
    for (guint i = 0; i < view->bookmarks->len; i++) {
        const struct bookmark *b = &g_array_index(view->bookmarks, struct bookmark, i);
        char *text = g_markup_printf_escaped("%u  %s", i + 1, b->name);
        add_row(view->bookmarks_list, text, b->at);
        g_free(text);
    }
}

void bookmarks_clear(struct view *view)
{
    if (!view->bookmarks) {
        view->bookmarks = g_array_new(FALSE, TRUE, sizeof(struct bookmark));
        g_array_set_clear_func(view->bookmarks, free_bookmark);
    }
    g_array_set_size(view->bookmarks, 0);
    if (view->bookmarks_list)
        show_bookmarks(view);
}

void bookmarks_add(struct view *view)
{
    const struct scene_mark *m = stage_mark(view, view->place.selected);
    if (!m) {
        window_say(view, "Select an event to set a bookmark at");
        return;
    }
    struct bookmark b = {say_event(the_book(view), m->event), m->event->at, m->event->position};
    g_array_append_val(view->bookmarks, b);
    show_bookmarks(view);
    panel_show(view, "bookmarks");
}

GtkWidget *bookmarks_new(struct view *view)
{
    GtkWidget *list = new_list(view, &view->bookmarks_list, "Ctrl+D sets a bookmark at the selected event.");
    bookmarks_clear(view);
    return list;
}

/* ---- the picture in words ---- */

static int by_column(const void *a, const void *b)
{
    const struct shown_event *x = *(const struct shown_event *const *)a,
                             *y = *(const struct shown_event *const *)b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Who, what, before whom, for those who read rather than look. */
void text_refresh(struct view *view)
{
    static const char *const stands[] = {"", " [before the selected one]", " [after the selected one]",
                                         " [concurrent with the selected one]", " [selected]"};
    if (!view->text_view || !gtk_widget_get_mapped(view->text_view))
        return;
    const struct shown_window *w = &view->stage.window;
    const struct shown_event **events = g_new(const struct shown_event *, w->event_count + 1);
    double left = stage_left(view), right = left + stage_width(view);
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
        g_string_append_printf(text, "%s%s%s\n", same ? "  beside it, " : i ? "then " : "", said,
                               view->stage.coloured ? stands[MIN(events[i]->stands, 4)] : "");
        g_free(said);
    }
    gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(view->text_view)), text->str, -1);
    g_string_free(text, TRUE);
    g_free(events);
}

static void on_text_mapped(GtkWidget *widget, gpointer data)
{
    (void)widget;
    text_refresh(data);
}

GtkWidget *text_new(struct view *view)
{
    GtkWidget *scrolled = gtk_scrolled_window_new();
    view->text_view = gtk_text_view_new();
    gtk_text_view_set_editable(GTK_TEXT_VIEW(view->text_view), FALSE);
    gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(view->text_view), GTK_WRAP_WORD_CHAR);
    gtk_text_view_set_accepts_tab(GTK_TEXT_VIEW(view->text_view), FALSE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(view->text_view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "The picture in words", -1);
    g_signal_connect_after(view->text_view, "map", G_CALLBACK(on_text_mapped), view);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), view->text_view);
    return scrolled;
}
