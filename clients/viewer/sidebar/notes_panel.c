/* The panel of user notes at events. */
#include "clients/viewer/sidebar/panel.h"

#include "clients/viewer/diagram/diagram_view.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/run_notes.h"
#include "clients/viewer/state/status_line.h"
#include "render/scene.h"

#include <stdlib.h>

struct notes_panel {
    GtkWidget *list;
};

/* ---- saving ---- */

/* Shows where the notes were saved, or why not. */
static void notes_panel_report_location(struct view *view, enum notes_kept kept,
                                        const struct error *error)
{
    const char *file = note_file_file(&view->run_notes.notes);
    if (kept == NOTES_REFUSED)
        status_line_show_problem(&view->status_line, NULL, "Note not changed: %s", error->text);
    else if (kept == NOTES_NOWHERE)
        status_line_show_problem(&view->status_line, NULL,
                                 "Note is kept only while this window is open: %s", error->text);
    else if (kept == NOTES_ELSEWHERE && file)
        status_line_show(&view->status_line, "Directory of the trace is not writable; saved in %s",
                         file);
    else
        status_line_show(&view->status_line, file ? "Saved in %s" : "No notes left%s",
                         file ? file : "");
}

void notes_panel_set_note(struct view *view, struct event_id at, const char *text)
{
    struct error error;
    enum notes_kept kept = run_notes_set(&view->run_notes, at, text, &error);
    notes_panel_report_location(view, kept, &error);
    diagram_view_rebuild(view);
    notifier_emit(&view->notifier, NOTIFY_NOTES);
}

/* ---- list ---- */

static void on_edit(GtkButton *button, gpointer data)
{
    struct view *view = data;
    struct event_id at;
    if (!event_id_parse(g_object_get_data(G_OBJECT(button), "event"), &at))
        return;
    go_to_event(view, at, NO_POSITION);
    gtk_widget_activate_action(view->window, "win.note", NULL); /* asks for the text */
}

static void on_delete(GtkButton *button, gpointer data)
{
    struct event_id at;
    if (event_id_parse(g_object_get_data(G_OBJECT(button), "event"), &at))
        notes_panel_set_note(data, at, NULL);
}

static GtkWidget *small_button(struct view *view, const char *icon, const char *tooltip,
                               const char *event, GCallback callback)
{
    GtkWidget *button = gtk_button_new_from_icon_name(icon);
    gtk_button_set_has_frame(GTK_BUTTON(button), FALSE);
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(button, tooltip);
    accessible_name_set(button, tooltip);
    g_object_set_data_full(G_OBJECT(button), "event", g_strdup(event), g_free);
    g_signal_connect(button, "clicked", callback, view);
    return button;
}

/* Adds buttons to edit and to delete the note to its row. */
static void add_buttons(struct view *view, GtkWidget *list, uint32_t i)
{
    char event[48];
    GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), (int)i);
    GtkWidget *words = g_object_ref(gtk_list_box_row_get_child(row)),
              *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    event_id_print(event, sizeof event, view->run_notes.notes.items[i].at);
    gtk_list_box_row_set_child(row, NULL);
    gtk_widget_set_hexpand(words, TRUE);
    gtk_box_append(GTK_BOX(box), words);
    gtk_box_append(GTK_BOX(box), small_button(view, "document-edit-symbolic", "Edit note", event,
                                              G_CALLBACK(on_edit)));
    gtk_box_append(GTK_BOX(box), small_button(view, "user-trash-symbolic", "Delete note", event,
                                              G_CALLBACK(on_delete)));
    gtk_list_box_row_set_child(row, box);
    g_object_unref(words);
}

static void show_notes(struct view *view)
{
    const struct notes_panel *state = panel_state(view, &panel_notes);
    const struct note_file *notes = &view->run_notes.notes;
    row_list_clear(state->list);
    for (uint32_t i = 0; i < notes->count; i++) {
        char event[48];
        event_id_print(event, sizeof event, notes->items[i].at);
        const char *line = metadata_line(view_metadata(view), notes->items[i].at.line)
                               ? metadata_label(view_metadata(view), notes->items[i].at.line)
                               : "";
        char *text = g_markup_printf_escaped("<b>%u</b>  %s\n<small>%s  %s</small>", i + 1,
                                             notes->items[i].text, event, line);
        row_list_add(state->list, text, notes->items[i].at);
        add_buttons(view, state->list, i);
        g_free(text);
    }
}

bool notes_panel_go_to(struct view *view, uint64_t number)
{
    const struct note_file *notes = &view->run_notes.notes;
    if (!number || number > notes->count)
        return false;
    go_to_event(view, notes->items[number - 1].at, view->run_notes.moments[number - 1].position);
    return true;
}

bool notes_panel_first_and_last(const struct view *view, struct event_id ends[2])
{
    const struct run_notes *n = &view->run_notes;
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

static void notes_panel_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_NOTES)
        show_notes(view);
}

static GtkWidget *notes_panel_create(struct view *view)
{
    struct notes_panel *state = g_new0(struct notes_panel, 1);
    panel_keep(view, &panel_notes, state);
    return row_list_new(view, &state->list, "Ctrl+D adds a note to the selected event.");
}

const struct panel panel_notes = {"notes", "Notes", notes_panel_create, notes_panel_on_notification,
                                  NULL};
