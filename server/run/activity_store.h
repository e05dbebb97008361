/* What threads did between their events: steps of calls, with times, as their events told it
 * (wire/activity_record.h); and the paths of calls that steps are of, as numbers of the run: one
 * path is one number, in whatever thread or process.
 *
 * What is told of forgotten events is forgotten with them.  Of all threads LIMIT_DID_BYTES are kept
 * at most: what is told beyond that is only counted, and what those threads did then is not known.
 * Paths only grow, as contexts do.  Not thread-safe. */
#ifndef SERVER_RUN_ACTIVITY_STORE_H
#define SERVER_RUN_ACTIVITY_STORE_H

#include "server/run/run.h"
#include "wire/activity_record.h"

/* Since the thread's event before. */
struct activity_span {
    struct event_id at; /* the first event of the record that told it */
    uint32_t first; /* of its steps: for activity_steps */
    uint16_t count; /* 0: from there on its step is not known */
    uint16_t what; /* MEASURED_ */
    int64_t time_ns; /* of the record, as the program told it */
    uint64_t cpu_ns;
};

struct activity_store;

#define ACTIVITY_BEYOND 0x8000u /* with MEASURED_: no room was left */

/* A record of the thread (its own line) tells it; in its thread's order.  Where there is no room
 * *head becomes what is kept instead: that it is not known from there on.  False: that was said
 * already, and nothing is kept. */
bool activity_add(struct run *run, uint32_t thread, struct event_id at, int64_t time_ns,
                  struct activity_record *head, const struct code_segment *steps);
/* Those of a thread have numbers, which stay: from activity_first, without a gap; NULL: it is
 * forgotten, or not there yet. */
uint64_t activity_first(const struct run *run, uint32_t thread);
const struct activity_span *activity_span(const struct run *run, uint32_t thread, uint64_t number);
const struct code_segment *activity_steps(const struct run *run, uint32_t thread,
                                          const struct activity_span *span); /* ticks are ns */
uint64_t activity_is_beyond(const struct run *run); /* records that found no room */
size_t activity_bytes(const struct run *run);
void activity_limit(size_t bytes); /* instead of LIMIT_DID_BYTES: for tests */
/* After events were forgotten, in steps of less than a millisecond: *thread is 0 before the first.
 * True: all is done. */
bool activity_forget_step(struct run *run, size_t *thread);
void activity_free(struct activity_store *did); /* of NULL nothing */

/* A path of calls: a function, called at a place, in a path. */
struct activity_path {
    uint32_t parent; /* number; of those that are called by nobody 0: the thread itself */
    uint32_t process; /* index, of the addresses; those by which it was met first */
    uint32_t type; /* of a call that is recorded */
    uint8_t scope; /* an enum profile_scope */
    uint64_t function, site; /* 0: not known */
};

#define ACTIVITY_NO_PATH UINT32_MAX

/* The path of a thread's context; 0: the thread itself; ACTIVITY_NO_PATH: what the context is was
 * not told (yet). */
uint32_t activity_path_of(const struct run *run, uint32_t thread, uint32_t context);
const struct activity_path *activity_path(const struct run *run, uint32_t path); /* from 1 */
/* Paths of one function have one number. */
uint32_t activity_function(const struct run *run, uint32_t path);

#endif
