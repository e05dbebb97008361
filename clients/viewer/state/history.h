/* Undo and redo: places as they were. */
#ifndef CLIENTS_VIEWER_STATE_HISTORY_H
#define CLIENTS_VIEWER_STATE_HISTORY_H

#include "clients/connection/view_state.h"
#include "clients/viewer/state/notifications.h"

#include <glib.h>

struct view_history {
    /* borrowed, filled by the window */
    struct view_state *place;
    const struct listener *news;
    uint32_t back_count, forth_count; /* places that can be undone, and done again */
    /* private */
    struct view_state *back, *forth;
    const char *last; /* what was done last, so that many small steps are one */
    gint64 last_us;
};

void history_mark(struct view_history *history,
                  const char *what); /* before a change of the place */
void history_undo(struct view_history *history); /* tells NOTIFY_RESTORED */
void history_redo(struct view_history *history);
void history_clear(struct view_history *history);

#endif
