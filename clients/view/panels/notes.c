#include "clients/view/panels/notes.h"

#include "clients/view/panels/list.h"
#include "clients/view/panels/panel.h"
#include "clients/view/panels/panels.h"
#include "clients/view/parts/noted.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/picture.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"

#include <stdlib.h>
#include <string.h>

struct noting {
    GtkWidget *list;
};

/* ---- keeping ---- */

/* Where it is kept, if that is not where it belongs. */
static void tell(struct view *view, enum notes_kept kept, const struct error *error)
{
    const char *file = notes_file(&view->noted.notes);
    if (kept == NOTES_REFUSED)
        status_trouble(&view->status, NULL, "The note has not changed: %s", error->text);
    else if (kept == NOTES_NOWHERE)
        status_trouble(&view->status, NULL, "The note is kept only while this window is open: %s",
                       error->text);
    else if (kept == NOTES_ELSEWHERE && file)
        status_say(&view->status, "Nothing can be written beside the trace: kept in %s", file);
    else
        status_say(&view->status, file ? "Kept in %s" : "No notes are left%s", file ? file : "");
}

void notes_keep(struct view *view, struct ref at, const char *text)
{
    struct error error;
    enum notes_kept kept = noted_set(&view->noted, at, text, &error);
    tell(view, kept, &error);
    picture_rebuild(view);
    news_tell(&view->news, NEWS_NOTES);
}

/* ---- the list ---- */

static void on_edit(GtkButton *button, gpointer data)
{
    struct view *view = data;
    struct ref at;
    if (!ref_parse(g_object_get_data(G_OBJECT(button), "event"), &at))
        return;
    jump_to_event(view, at, NO_POSITION);
    gtk_widget_activate_action(view->window, "win.note", NULL); /* which asks for its words */
}

static void on_delete(GtkButton *button, gpointer data)
{
    struct ref at;
    if (ref_parse(g_object_get_data(G_OBJECT(button), "event"), &at))
        notes_keep(data, at, NULL);
}

static GtkWidget *small_button(struct view *view, const char *icon, const char *tooltip,
                               const char *event, GCallback callback)
{
    GtkWidget *button = gtk_button_new_from_icon_name(icon);
    gtk_button_set_has_frame(GTK_BUTTON(button), FALSE);
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(button, tooltip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, tooltip,
                                   -1);
    g_object_set_data_full(G_OBJECT(button), "event", g_strdup(event), g_free);
    g_signal_connect(button, "clicked", callback, view);
    return button;
}

/* Beside its words: what changes it, and what takes it away. */
static void add_buttons(struct view *view, GtkWidget *list, uint32_t i)
{
    char event[48];
    GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), (int)i);
    GtkWidget *words = g_object_ref(gtk_list_box_row_get_child(row)),
              *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    ref_print(event, sizeof event, view->noted.notes.items[i].at);
    gtk_list_box_row_set_child(row, NULL);
    gtk_widget_set_hexpand(words, TRUE);
    gtk_box_append(GTK_BOX(box), words);
    gtk_box_append(GTK_BOX(box), small_button(view, "document-edit-symbolic", "Change this note",
                                              event, G_CALLBACK(on_edit)));
    gtk_box_append(GTK_BOX(box), small_button(view, "user-trash-symbolic", "Delete this note",
                                              event, G_CALLBACK(on_delete)));
    gtk_list_box_row_set_child(row, box);
    g_object_unref(words);
}

static void show_notes(struct view *view)
{
    const struct noting *state = panel_state(view, &panel_notes);
    const struct notes *notes = &view->noted.notes;
    list_empty(state->list);
    for (uint32_t i = 0; i < notes->count; i++) {
        char event[48];
        ref_print(event, sizeof event, notes->items[i].at);
        const char *line = book_line(the_book(view), notes->items[i].at.line)
                               ? book_label(the_book(view), notes->items[i].at.line)
                               : "";
        char *text = g_markup_printf_escaped("<b>%u</b>  %s\n<small>%s  %s</small>", i + 1,
                                             notes->items[i].text, event, line);
        list_add(state->list, text, notes->items[i].at);
        add_buttons(view, state->list, i);
        g_free(text);
    }
}

bool notes_go(struct view *view, uint64_t number)
{
    const struct notes *notes = &view->noted.notes;
    if (!number || number > notes->count)
        return false;
    jump_to_event(view, notes->items[number - 1].at, view->noted.moments[number - 1].position);
    return true;
}

bool notes_ends(const struct view *view, struct ref ends[2])
{
    const struct noted *n = &view->noted;
    uint32_t first = UINT32_MAX, last = UINT32_MAX;
    for (uint32_t i = 0; i < n->notes.count; i++) {
        if (n->moments[i].position == NO_POSITION)
            continue;
        if (first == UINT32_MAX || n->moments[i].position < n->moments[first].position)
            first = i;
        if (last == UINT32_MAX || n->moments[i].position > n->moments[last].position)
            last = i;
    }
    if (first == last)
        return false;
    ends[0] = n->notes.items[first].at;
    ends[1] = n->notes.items[last].at;
    return true;
}

static void take(struct view *view, enum news news)
{
    if (news == NEWS_NOTES)
        show_notes(view);
}

static GtkWidget *build(struct view *view)
{
    struct noting *state = g_new0(struct noting, 1);
    panel_keep(view, &panel_notes, state);
    return list_new(view, &state->list, "Ctrl+D writes a note at the selected event.");
}

const struct panel panel_notes = {"notes", "Notes", build, take, NULL};
