/* Activity of threads between their events: steps in calls, with times, from the records of their
 * events (wire/slot.h); and the call paths of the steps, as numbers of the run: a path
 * has the same number in every thread and process.
 *
 * Records are discarded with their events.  At most LIMIT_DID_BYTES are kept for all threads:
 * records beyond that are only counted, and the activity of those threads is unknown there.
 * Paths are never removed, nor are contexts.  Not thread-safe. */
#ifndef SERVER_RUN_ACTIVITY_STORE_H
#define SERVER_RUN_ACTIVITY_STORE_H

#include "server/run/run.h"
#include "wire/slot.h"

/* Activity of a thread since its previous event. */
struct activity_span {
    struct event_id at; /* the first event of its record */
    uint32_t first; /* index of its first step, for activity_steps() */
    uint16_t count; /* number of steps; 0: its activity is not known from there on */
    uint16_t what; /* bits ACTIVITY_ of wire/slot.h */
    int64_t time_ns; /* of the record, by the program's clock */
    uint64_t cpu_ns;
};

struct activity_store;

#define ACTIVITY_BEYOND 0x8000u /* with the bits of a record: the record did not fit */

/* Adds a record of a thread (its own line), in the order of that thread.  If there is no room,
 * *head becomes the record that is kept instead: that the activity is unknown from there on.
 * Returns false if that was recorded already and nothing is kept. */
bool activity_add(struct run *run, uint32_t thread, struct event_id at, int64_t time_ns,
                  struct activity_record *head, const struct code_segment *steps);
/* The spans of a thread have fixed numbers from activity_first() on, without gaps.
 * activity_span() returns NULL if a span is discarded or does not exist yet. */
uint64_t activity_first(const struct run *run, uint32_t thread);
const struct activity_span *activity_span(const struct run *run, uint32_t thread, uint64_t number);
const struct code_segment *activity_steps(const struct run *run, uint32_t thread,
                                          const struct activity_span *span); /* ticks are ns */
/* returns the number of records that did not fit */
uint64_t activity_is_beyond(const struct run *run);
size_t activity_bytes(const struct run *run);
void activity_limit(size_t bytes); /* replaces LIMIT_DID_BYTES, for tests */
/* Removes the records of discarded events, in steps of less than a millisecond; *thread must be
 * 0 before the first step.  Returns true when all is done. */
bool activity_forget_step(struct run *run, size_t *thread);
/* A path of calls: a function, called at a place, in a path. */
struct activity_path {
    uint32_t parent; /* number; 0: the thread itself, without a caller */
    uint32_t process; /* index; its addresses are those with which the path was found first */
    uint32_t type; /* type of a recorded call */
    uint8_t scope; /* an enum profile_scope */
    uint64_t function, site; /* 0: not known */
};

#define ACTIVITY_NO_PATH UINT32_MAX

/* Returns the path of a thread's context; 0: the thread itself; ACTIVITY_NO_PATH: the context
 * was not declared (yet). */
uint32_t activity_path_of(const struct run *run, uint32_t thread, uint32_t context);
/* numbers begin at 1 */
const struct activity_path *activity_path(const struct run *run, uint32_t path);
/* Returns the number of the path's function, which all paths of one function share. */
uint32_t activity_function(const struct run *run, uint32_t path);

#endif
