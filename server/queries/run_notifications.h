/* What a viewer is told of a run without asking: what is in it, and what is new.  Nothing here
 * changes the run. */
#ifndef SERVER_QUERIES_RUN_NOTIFICATIONS_H
#define SERVER_QUERIES_RUN_NOTIFICATIONS_H

#include "server/run/run.h"
#include "wire/message.h"

#include <stdbool.h>

/* What a viewer already knows of a run, so that only news is sent. */
struct viewer_knowledge {
    size_t targets, processes, types;
    size_t modules; /* of the last process sent */
    uint32_t lines;
    uint64_t damaged; /* 1 + parts that were told to be unreadable, 0 nothing told */
    size_t changes; /* of lines */
    bool named; /* of many lines only those that answers name: see referenced_lines.h */
    uint32_t lines_are; /* private to referenced_lines.c: so many there were when that was told; */
    uint8_t *told; /*   which, beside the first ones, a bit for each; */
    size_t told_room;
};

void notify_run_selected(struct encoder *out,
                         const struct run *run); /* the body of RUN, SELECTED */
void notify_updates(struct encoder *out, const struct run *run, struct viewer_knowledge *known);
/* The same in pieces, until out holds `enough` bytes, or for some milliseconds; true: that is
 * all. */
bool notify_updates_step(struct encoder *out, const struct run *run, struct viewer_knowledge *known,
                         size_t enough);
/* What of the trace cannot be read, as far as it was found out: whenever that is more. */
void notify_damage(struct encoder *out, const struct run *run, struct viewer_knowledge *known);

/* What the file has lost, and what of it, so many parts, turned out to be unreadable since; NULL
 * nothing.  The caller's to free. */
char *damage_text(const struct run *run, uint64_t parts);

#endif
