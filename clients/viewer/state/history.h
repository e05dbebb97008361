/* Undo and redo of view states. */
#ifndef CLIENTS_VIEWER_STATE_HISTORY_H
#define CLIENTS_VIEWER_STATE_HISTORY_H

#include "clients/connection/view_state.h"
#include "clients/viewer/state/notifications.h"

#include <glib.h>

struct view_history {
    /* borrowed, set by the window */
    struct view_state *place;
    const struct notifier *notifier;
    uint32_t back_count, forth_count; /* numbers of view states that can be undone, and redone */
    /* private */
    struct view_state *back, *forth;
    const char *last; /* the last change, so that several small steps are merged */
    gint64 last_us;
};

void history_mark(struct view_history *history,
                  const char *what); /* call before a change of the view state */
void history_undo(struct view_history *history); /* sends NOTIFY_RESTORED */
void history_redo(struct view_history *history);
void history_clear(struct view_history *history);

#endif
