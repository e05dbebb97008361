/* Who waits for what at the end of what was recorded, who holds it, and who waits in a cycle, as the server
 * has worked it out. */
#ifndef CLIENTS_SOURCE_WAITS_H
#define CLIENTS_SOURCE_WAITS_H

#include "wire/ask.h"
#include "wire/found.h"
#include "wire/shown.h"

struct waits {
    struct shown_wait *items; /* oldest first */
    size_t count, room;
    struct shown_cycle *cycles;
    size_t cycle_count, cycle_room;
    struct shown_sleeper *sleepers;
    size_t sleeper_count, sleeper_room;
    struct shown_verdict *verdicts;
    size_t verdict_count, verdict_room;
    struct shown_now now;
};

/* Takes a part of the answer to WAITS into waits, zeroed at first.  True when all is there. */
bool waits_take(struct waits *waits, const struct answer *answer);
/* Of each step of a cycle two: by which event its thread waits, and by which the next one came in.  Freed by the
 * caller; NULL: there is no cycle. */
struct ref *waits_pairs(const struct waits *waits, uint32_t *count);
/* "2 threads sleep in calls that are not traced (futex 1, poll 1), since 0.041200 s", where some
 * do; to be freed.  NULL: none does. */
char *waits_asleep(const struct waits *waits);
void waits_free(struct waits *waits); /* empties it */

const struct shown_wait *waits_of(const struct waits *waits,
                                  uint32_t thread); /* NULL: it does not wait */

#endif
