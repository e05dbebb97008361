/* The blocked threads at the end of the recording, with what they wait for, the holders, and
 * deadlock cycles, as computed by the server. */
#ifndef CLIENTS_CONNECTION_WAIT_LIST_H
#define CLIENTS_CONNECTION_WAIT_LIST_H

#include "clients/metadata/trace_metadata.h"
#include "clients/symbols/symbolizer.h"
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

/* Adds a part of the response to WAITS to `waits`, initially zeroed. Returns true when complete. */
bool wait_list_receive(struct wait_list *waits, const struct response_chunk *answer);
/* Returns two events for each step of a cycle: that by which its thread waits, and that by which
 * the next one entered. The caller frees them; NULL if there is no cycle. */
struct event_id *wait_list_pairs(const struct wait_list *waits, uint32_t *count);
/* Returns "2 threads sleep in calls that are not traced (futex 1, poll 1), since 0.041200 s", which
 * the caller frees, or NULL if there are none. */
char *wait_list_sleepers(const struct wait_list *waits);
/* Returns the futex at which a thread sleeps: the object of the trace that contains it, "CV:more";
 * else with the variable that does, "more+40 (0x7f00)"; NULL: it sleeps at none, or that is not
 * known. The caller frees it. */
char *wait_list_futex(const struct trace_metadata *book, struct symbolizer *sites,
                      const struct sleeper_info *sleeper);
/* Returns what a thread waits for in a function of the C++ library that it called, such as
 * "future"; NULL: it is in none, or it is not known. */
const char *wait_list_library_object(const struct trace_metadata *book, struct symbolizer *sites,
                                     const struct sleeper_info *sleeper);
void wait_list_free(struct wait_list *waits); /* leaves it empty */

/* Returns the wait of the thread for which a thread waits: of a known holder, if the object has no
 * line; NULL if there is none. */
const struct wait_info *wait_list_awaited(const struct wait_list *waits,
                                          const struct wait_info *wait);
/* Returns whether there is a cycle that is certain. */
bool wait_list_has_deadlock(const struct wait_list *waits);
bool wait_list_is_in_cycle(const struct wait_list *waits, uint32_t thread);
/* Returns "also open in process 12 (cat), of which nothing is recorded"; NULL: no such process was
 * seen.  The caller frees it. */
char *wait_list_outsider(const struct wait_info *wait);
/* Returns whether a cycle says why the waiter of a diagnosis does not resume. */
bool wait_list_is_explained(const struct wait_list *waits, const struct diagnosis_info *verdict);
const struct wait_info *wait_list_of_thread(const struct wait_list *waits,
                                            uint32_t thread); /* returns NULL if it does not wait */

/* Returns a wait for a lock of a holder that has exited, or is not in the child, the first after
 * `wait` (NULL: of all), one for each lock; NULL if there is none. */
const struct wait_info *wait_list_abandoned_lock(const struct wait_list *waits,
                                                 const struct wait_info *wait);

#endif
