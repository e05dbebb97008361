/* Call records: when each call of the threads of a run began and ended, as received
 * (wire/call_records.h).  They are kept by thread, in blocks that list the calls open at their
 * begin, so that reading can begin at any block.
 *
 * They are kept in memory as received: about five bytes per call and CALL_ENTRIES_KEPT bytes in
 * all; further calls are counted and dropped.  They are discarded together with the events that
 * existed when they were received.  Times are ns of the program's monotonic clock.  Not
 * thread-safe. */
#ifndef SERVER_TIMING_CALL_ENTRIES_H
#define SERVER_TIMING_CALL_ENTRIES_H

#include "base/map.h"
#include "wire/call_records.h"

#ifndef CALL_ENTRIES_KEPT /* bytes; tests make it small */
#define CALL_ENTRIES_KEPT ((uint64_t)1 << 29)
#endif
#ifndef CALL_ENTRIES_DEPTH_MAX
/* maximum open calls of one thread; of deeper ones only the number is known */
#define CALL_ENTRIES_DEPTH_MAX 65536u
#endif

struct call_entry_open {
    uint32_t context;
    uint64_t began_ns;
};

struct call_entries_block {
    uint64_t first_ns, last_ns;
    uint8_t *bytes; /* the encoded records */
    uint32_t size;
    uint32_t open_count; /* open calls at its begin */
    struct call_entry_open *open;
    uint64_t above; /* number of open calls beyond those */
    uint64_t begins; /* calls that begin in it */
    uint64_t run_events; /* number of events of the run when it was received */
};

struct call_entries_thread {
    uint32_t session, code; /* the thread's code in its program */
    struct call_entries_block *blocks;
    size_t count, room;
    struct call_entry_open *open; /* open calls at the end of the last block */
    size_t open_count, open_room;
    uint64_t above; /* number of open calls beyond those */
    uint64_t begins, lost; /* recorded calls; calls that were lost as the ring was full */
    unsigned walks; /* walks in progress: meanwhile nothing of the thread is discarded */
};

/* A zero-initialized struct is empty. */
struct call_entries {
    struct call_entries_thread **threads; /* the structs do not move */
    uint32_t count;
    size_t room;
    struct map index; /* session and code -> 1 + index */
    uint64_t bytes; /* of all blocks */
    uint64_t left; /* calls that were dropped at the limit */
    uint64_t events; /* current number of events of the run */
};

/* Appends the body of an ENTRIES message.  Returns false with the reason in *why if it is invalid.
 */
bool call_entries_append(struct call_entries *all, uint32_t session, uint32_t code,
                         const uint8_t *body, size_t size, const char **why);
/* Returns the records of a thread, or NULL if none were received. */
const struct call_entries_thread *call_entries_for_thread(const struct call_entries *all,
                                                          uint32_t session, uint32_t code);
/* Discards the blocks that were received while there were at most `events` events, except the
 * newest of each thread.  Works in steps; *thread must be 0 before the first.  Returns true when
 * done. */
bool call_entries_discard_step(struct call_entries *all, uint64_t events, uint32_t *thread);
/* Encodes, as the body of an ENTRIES message, the calls that were open at the begin of a thread's
 * newest block, if that block begins at first_ns.  A reader that gets this body and then the newest
 * block knows the open calls as well; if it knows more of the thread the body changes nothing.
 * Returns false if there is no such block. */
bool call_entries_encode_open(const struct call_entries *all, uint32_t session, uint32_t code,
                              uint64_t first_ns, struct encoder *out);
void call_entries_free(struct call_entries *all); /* frees the memory; it is empty then */

/* ---- sequential reading ---- */

struct call_entries_walk {
    const struct call_entries_thread *thread;
    size_t block, end; /* the next block; the number of blocks when the walk began */
    struct decoder in;
    uint64_t last_ns;
    struct call_entry_open *open; /* open calls after the last record */
    size_t open_count, open_room;
    uint64_t above;
};

struct call_entry_seen {
    struct call_record entry; /* at the end of a call its context is set, too */
    uint64_t began_ns; /* at the end of a call */
    uint64_t depth; /* number of enclosing calls */
};

/* Begins a walk at the last block that begins at or before from_ns; walk->open lists the calls that
 * are open there. */
struct call_entries_walk call_entries_walk(const struct call_entries_thread *thread,
                                           uint64_t from_ns);
/* Reads the next record; returns false at the end.  More records may be appended meanwhile. */
bool call_entries_next(struct call_entries_walk *walk, struct call_entry_seen *seen);
void call_entries_walk_end(struct call_entries_walk *walk);

#endif
