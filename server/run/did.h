/* What threads did between their events: steps of calls, with times, as their events told it (wire/measured.h); and the
 * paths of calls that steps are of, as numbers of the run: one path is one number, in whatever thread or process.
 *
 * Only grows while the run is there.  Not thread-safe. */
#ifndef SERVER_RUN_DID_H
#define SERVER_RUN_DID_H

#include "server/run/run.h"
#include "wire/measured.h"

/* Since the thread's event before. */
struct did_span {
    struct ref at; /* the first event of the record that told it */
    uint32_t first; /* of its steps, by did_steps; ticks are ns */
    uint16_t count; /* 0: from there on its step is not known */
    uint16_t what; /* MEASURED_ */
    int64_t time_ns; /* of the record, as the program told it */
    uint64_t cpu_ns;
};

struct did;

/* A record of the thread (its own line) tells it; in its thread's order. */
void did_add(struct run *run, uint32_t thread, struct ref at, int64_t time_ns,
             const struct measured_head *head, const struct measured_step *steps);
/* All of a thread; *count is 0 where nothing was told. */
const struct did_span *did_spans(const struct run *run, uint32_t thread, size_t *count);
const struct measured_step *did_steps(const struct run *run, uint32_t thread);
void did_free(struct did *did); /* of NULL nothing */

/* A path of calls: a function, called at a place, in a path. */
struct did_path {
    uint32_t parent; /* number; of those that are called by nobody 0: the thread itself */
    uint32_t process; /* index, of the addresses; those by which it was met first */
    uint32_t type; /* of a call that is recorded */
    uint8_t scope; /* an enum region_scope */
    uint64_t function, site; /* 0: not known */
};

#define DID_NO_PATH UINT32_MAX

/* The path of a thread's context; 0: the thread itself; DID_NO_PATH: what the context is was not told (yet). */
uint32_t did_path_of(const struct run *run, uint32_t thread, uint32_t context);
const struct did_path *did_path(const struct run *run, uint32_t path); /* from 1 */
/* Paths of one function have one number. */
uint32_t did_function(const struct run *run, uint32_t path);

#endif
