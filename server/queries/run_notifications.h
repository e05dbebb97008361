/* Notifications: what a viewer receives about a run without a request: its contents and its
 * changes.  Nothing here changes the run. */
#ifndef SERVER_QUERIES_RUN_NOTIFICATIONS_H
#define SERVER_QUERIES_RUN_NOTIFICATIONS_H

#include "server/run/run.h"
#include "wire/message.h"

#include <stdbool.h>

/* The part of a run that a viewer already knows, so that only updates are sent. */
struct viewer_knowledge {
    size_t targets, processes, types;
    size_t modules; /* number of modules sent of the last process sent */
    uint32_t lines;
    uint64_t damaged; /* 1 + the number of parts reported as unreadable, 0 none reported */
    size_t changes; /* number of changes of lines */
    /* if there are many lines only those that responses name are sent (referenced_lines.h) */
    bool named;
    uint32_t lines_are; /* private to referenced_lines.c: the number of lines last sent */
    uint8_t *sent; /* a bit for each other line that was sent */
    size_t sent_room;
};

/* Encodes the body of RUN and of SELECTED. */
void notify_run_selected(struct encoder *out, const struct run *run);
void notify_updates(struct encoder *out, const struct run *run, struct viewer_knowledge *known);
/* Does the same in steps: stops once `out` holds `enough` bytes, or after some milliseconds;
 * returns true when all is sent. */
bool notify_updates_step(struct encoder *out, const struct run *run, struct viewer_knowledge *known,
                         size_t enough);
/* Sends the known number of unreadable parts of the trace whenever it increased. */
void notify_damage(struct encoder *out, const struct run *run, struct viewer_knowledge *known);

/* Returns a text about what the file has lost and how many parts turned out to be unreadable since;
 * NULL if nothing.  The caller frees it. */
char *damage_text(const struct run *run, uint64_t parts);

#endif
