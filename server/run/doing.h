/* In which state threads and other lines are, event by event, as the descriptions say.
 *
 * A thread may be in several lines at once, and how in each: it waits if it is blocked in one of them, else it is in
 * the one it came into last, else it runs.  Of a line that belongs to no thread it counts who is in it. */
#ifndef SERVER_RUN_DOING_H
#define SERVER_RUN_DOING_H

#include "server/run/run.h"
#include "wire/strip.h"

struct doings;

struct doing {
    uint8_t class; /* an enum strip_state; STRIP_CLASSES: it is not there */
    uint32_t about; /* the line that it is in, or waits for; 0 none */
};

struct doings *doings_new(const struct run *run);
void doings_free(struct doings *doings);
/* Takes the next event of the log.  After the last one of a point the lines are asked for, one by one, of which the
 * state may have changed; of one that is named several times, what is told last holds. */
void doings_take(struct doings *doings, const struct event *event);
bool doings_changed(struct doings *doings, uint32_t *line, struct doing *state);

#endif
