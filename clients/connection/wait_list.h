/* Who waits for what at the end of what was recorded, who holds it, and who waits in a cycle, as
 * the server has worked it out. */
#ifndef CLIENTS_CONNECTION_WAIT_LIST_H
#define CLIENTS_CONNECTION_WAIT_LIST_H

#include "wire/request.h"
#include "wire/query_results.h"
#include "wire/trace_view.h"

struct wait_list {
    struct wait_info *items; /* oldest first */
    size_t count, room;
    struct cycle_info *cycles;
    size_t cycle_count, cycle_room;
    struct sleeper_info *sleepers;
    size_t sleeper_count, sleeper_room;
    struct diagnosis_info *verdicts;
    size_t verdict_count, verdict_room;
    struct trace_time_info now;
};

/* Takes a part of the answer to WAITS into waits, zeroed at first.  True when all is there. */
bool wait_list_receive(struct wait_list *waits, const struct response_chunk *answer);
/* Of each step of a cycle two: by which event its thread waits, and by which the next one came in.
 * Freed by the caller; NULL: there is no cycle. */
struct event_id *wait_list_pairs(const struct wait_list *waits, uint32_t *count);
/* "2 threads sleep in calls that are not traced (futex 1, poll 1), since 0.041200 s", where some
 * do; to be freed.  NULL: none does. */
char *wait_list_sleepers(const struct wait_list *waits);
void wait_list_free(struct wait_list *waits); /* empties it */

const struct wait_info *wait_list_of_thread(const struct wait_list *waits,
                                            uint32_t thread); /* NULL: it does not wait */

#endif
