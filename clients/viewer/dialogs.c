#include "clients/viewer/dialogs.h"

#include "clients/connection/line_labels.h"
#include "clients/metadata/event_text.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/run_notes.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"
#include "wire/endpoint.h"
#include "wire/event_types.h"
#include "wire/trace_view.h"

#include <string.h>

static gboolean on_escape(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                          gpointer window)
{
    (void)keys;
    (void)code;
    (void)state;
    if (key != GDK_KEY_Escape)
        return FALSE;
    gtk_window_destroy(GTK_WINDOW(window));
    return TRUE;
}

void dialog_close_on_escape(GtkWidget *window)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_escape), window);
    gtk_widget_add_controller(window, keys);
}

GtkWidget *dialog_new(struct view *view, const char *title)
{
    GtkWidget *window = gtk_window_new();
    gtk_window_set_title(GTK_WINDOW(window), title);
    gtk_window_set_titlebar(GTK_WINDOW(window), gtk_header_bar_new());
    gtk_window_set_transient_for(GTK_WINDOW(window), GTK_WINDOW(view->window));
    dialog_close_on_escape(window);
    return window;
}

GtkWidget *dialog_scrolled(GtkWidget *content)
{
    GtkWidget *scrolled = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scrolled), TRUE);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scrolled), TRUE);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), content);
    gtk_widget_set_vexpand(scrolled, TRUE);
    return scrolled;
}

/* ---- one line of text ---- */

struct dialog_state {
    struct view *view;
    bool (*answer)(struct view *view, const char *text, struct error *error);
    GtkWidget *window, *entry, *wrong;
};

static void on_entered(GtkWidget *widget, gpointer data)
{
    struct dialog_state *a = data;
    (void)widget;
    char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(a->entry))));
    struct error error = {""};
    bool accepted = a->answer(a->view, text, &error);
    g_free(text);
    if (accepted) {
        gtk_window_destroy(GTK_WINDOW(a->window));
        return;
    }
    gtk_label_set_text(GTK_LABEL(a->wrong), error.text);
    gtk_widget_set_visible(a->wrong, TRUE);
    gtk_widget_add_css_class(a->entry, "error");
    gtk_widget_grab_focus(a->entry);
}

static void on_edited(GtkEditable *entry, gpointer data)
{
    struct dialog_state *a = data;
    (void)entry;
    gtk_widget_set_visible(a->wrong, FALSE);
    gtk_widget_remove_css_class(a->entry, "error");
}

static GtkWidget *dialog_buttons_new(struct dialog_state *a, const char *does)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8),
              *cancel = gtk_button_new_with_mnemonic("_Cancel"),
              *good = gtk_button_new_with_mnemonic(does);
    gtk_widget_add_css_class(good, "suggested-action");
    gtk_widget_set_halign(box, GTK_ALIGN_END);
    gtk_box_append(GTK_BOX(box), cancel);
    gtk_box_append(GTK_BOX(box), good);
    g_signal_connect_swapped(cancel, "clicked", G_CALLBACK(gtk_window_destroy), a->window);
    g_signal_connect(good, "clicked", G_CALLBACK(on_entered), a);
    return box;
}

static GtkWidget *dialog_message_new(const char *words)
{
    GtkWidget *label = gtk_label_new(words);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    return label;
}

void dialog_prompt(struct view *view, const struct dialog_question *question,
                   bool (*answer)(struct view *view, const char *text, struct error *error))
{
    struct dialog_state *a = g_new0(struct dialog_state, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8);
    *a = (struct dialog_state){view, answer, dialog_new(view, question->title), gtk_entry_new(),
                               dialog_message_new("")};
    gtk_entry_set_placeholder_text(GTK_ENTRY(a->entry), question->placeholder);
    if (question->text)
        gtk_editable_set_text(GTK_EDITABLE(a->entry), question->text);
    accessible_name_set(a->entry, question->title);
    gtk_window_set_modal(GTK_WINDOW(a->window), TRUE);
    gtk_widget_set_size_request(a->entry, 420, -1);
    gtk_widget_add_css_class(a->wrong, "error");
    gtk_widget_set_visible(a->wrong, FALSE);
    g_object_set(box, "margin-top", 14, "margin-bottom", 14, "margin-start", 14, "margin-end", 14,
                 NULL);
    gtk_box_append(GTK_BOX(box), dialog_message_new(question->words));
    gtk_box_append(GTK_BOX(box), a->entry);
    gtk_box_append(GTK_BOX(box), a->wrong);
    gtk_box_append(GTK_BOX(box), dialog_buttons_new(a, question->button));
    gtk_window_set_child(GTK_WINDOW(a->window), box);
    g_object_set_data_full(G_OBJECT(a->window), "asking", a, g_free);
    g_signal_connect(a->entry, "activate", G_CALLBACK(on_entered), a);
    g_signal_connect(a->entry, "changed", G_CALLBACK(on_edited), a);
    gtk_window_present(GTK_WINDOW(a->window));
    gtk_widget_grab_focus(a->entry);
    gtk_editable_select_region(GTK_EDITABLE(a->entry), 0, -1);
}

/* ---- name pattern ---- */

static const char prompt_pattern_words[] =
    "Lines with matching names (* matches any characters, ? one)";

/* Returns whether the name of any line matches. */
static bool prompt_matches_any_line(struct view *view, const char *pattern)
{
    const struct trace_metadata *book = view_metadata(view);
    for (uint32_t line = 1; line <= book->line_count; line++)
        if (metadata_line(book, line) && metadata_line_is_visible(book, line) &&
            line_label_matches(book, view->server_link.sites, line, pattern))
            return true;
    return false;
}

static bool prompt_report_no_match(const char *pattern, struct error *error)
{
    error_set(error, "No line named %s", pattern);
    return false;
}

static bool prompt_group_matching(struct view *view, const char *pattern, struct error *error)
{
    if (!prompt_matches_any_line(view, pattern))
        return prompt_report_no_match(pattern, error);
    line_groups_by_pattern(view, pattern);
    return true;
}

static bool prompt_hide_matching(struct view *view, const char *pattern, struct error *error)
{
    if (!prompt_matches_any_line(view, pattern))
        return prompt_report_no_match(pattern, error);
    line_arrangement_hide_pattern(view, pattern);
    return true;
}

static void prompt_pattern(struct view *view, const char *title, const char *button,
                           bool (*answer)(struct view *view, const char *text, struct error *error))
{
    struct dialog_question question = {title, prompt_pattern_words, "worker*", NULL, button};
    if (view->server_link.has_run)
        dialog_prompt(view, &question, answer);
}

void prompt_group_lines(struct view *view)
{
    prompt_pattern(view, "Group lines matching", "_Group", prompt_group_matching);
}
void prompt_hide_lines(struct view *view)
{
    prompt_pattern(view, "Hide lines matching", "_Hide", prompt_hide_matching);
}

/* ---- note ---- */

static bool prompt_save_note(struct view *view, const char *text, struct error *error)
{
    (void)error;
    struct event_id at = view->viewport.place.selected;
    if (at.line)
        notes_panel_set_note(view, at, *text ? text : NULL);
    return true;
}

void prompt_note(struct view *view)
{
    struct event_id at = view->viewport.place.selected;
    const struct event_info *e = scene_cache_find_event(&view->scene_cache, at);
    const char *old = at.line ? note_file_text(&view->run_notes.notes, at) : NULL;
    char event[48];
    if (!at.line) {
        status_line_show(&view->status_line, "Select an event to annotate");
        return;
    }
    event_id_print(event, sizeof event, at);
    char *title = g_strdup_printf("Note at %s", event);
    dialog_prompt(
        view,
        &(struct dialog_question){.title = title,
                                  .words = old ? "Note text (empty deletes the note)" : "Note text",
                                  .text = old ? old
                                          : e ? metadata_type_name(view_metadata(view), e->type)
                                              : "",
                                  .button = "_Save"},
        prompt_save_note);
    g_free(title);
}

/* ---- target ---- */

static bool prompt_go_to_event(struct view *view, const char *text, struct event_id at,
                               struct error *error)
{
    const struct trace_metadata *book =
        view_metadata(view); /* with very many lines, not all are known yet */
    const struct line_metadata *line = metadata_line(book, at.line);
    bool there = at.line && (book->some ? at.line <= book->line_count : line != NULL);
    if (!there || at.line & HIDDEN_LINE) {
        error_set(error, "%s: no such line", text);
        return false;
    }
    if (line &&
        (!at.number || (line->is.last && at.number > line->is.last && !book->run.connected))) {
        error_set(error, "%s: the last event of that line is %u:%" G_GUINT64_FORMAT, text, at.line,
                  (guint64)line->is.last);
        return false;
    }
    go_to_event(view, at, NO_POSITION);
    return true;
}

bool prompt_go_to(struct view *view, const char *text, struct error *error)
{
    struct event_id at;
    int64_t ns;
    char *end;
    double v = g_ascii_strtod(text, &end);
    error_set(error, "%s: no such note", text);
    if (*text == '#')
        return notes_panel_go_to(view, g_ascii_strtoull(text + 1, NULL, 10));
    if (event_id_parse(text, &at))
        return prompt_go_to_event(view, text, at, error);
    g_strchug(end);
    bool number = end != text && v >= 0;
    if (number && strcmp(end, "%") == 0)
        go_to_position(view, (uint64_t)(CLAMP(v, 0, 100) / 100 * (double)view->server_link.count));
    else if (number && duration_read(text, &ns))
        go_to_time(view, ns);
    else if (number && !*end)
        go_to_position(view, (uint64_t)v);
    else {
        error_set(error,
                  "%s: invalid position; enter an event (2:17), a time (1.5ms), a share "
                  "(40%%), a position or a note (#2)",
                  text);
        return false;
    }
    return true;
}

void prompt_target(struct view *view)
{
    if (view->server_link.has_run)
        dialog_prompt(view,
                      &(struct dialog_question){
                          .title = "Go to",
                          .words = "Event (2:17), time (1.5ms), share of the run (40%), position "
                                   "in the trace (12345) or note (#2)",
                          .placeholder = "2:17",
                          .button = "_Go"},
                      prompt_go_to);
}
