#include "clients/viewer/note_editor.h"

#include "clients/viewer/dialogs.h"
#include "clients/viewer/sidebar/notes_panel.h"
#include "clients/viewer/state/run_notes.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/diagram/viewer.h"

static char *note_editor_save_text(struct view *view, const char *text)
{
    struct event_id at = view->viewport.place.selected;
    if (at.line)
        notes_panel_set_note(view, at, *text ? text : NULL);
    return NULL;
}

void note_editor_open(struct view *view)
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
        note_editor_save_text);
    g_free(title);
}
