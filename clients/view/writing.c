#include "clients/view/writing.h"

#include "clients/view/dialog.h"
#include "clients/view/panels/notes.h"
#include "clients/view/parts/noted.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/view.h"

static char *take_text(struct view *view, const char *text)
{
    struct ref at = view->camera.place.selected;
    if (at.line)
        notes_keep(view, at, *text ? text : NULL);
    return NULL;
}

void writing_ask(struct view *view)
{
    struct ref at = view->camera.place.selected;
    const struct shown_event *e = stage_event(&view->stage, at);
    const char *old = at.line ? notes_text(&view->noted.notes, at) : NULL;
    char event[48];
    if (!at.line) {
        status_say(&view->status, "Select an event to write a note at");
        return;
    }
    ref_print(event, sizeof event, at);
    char *title = g_strdup_printf("Note at %s", event);
    dialog_ask(
        view,
        &(struct dialog_question){.title = title,
                                  .words = old ? "What is to be remembered; nothing: the note goes"
                                               : "What is to be remembered of this event",
                                  .text = old ? old
                                          : e ? book_type(the_book(view), e->type)
                                              : "",
                                  .button = "_Keep"},
        take_text);
    g_free(title);
}
