/* Call context trees of the threads of a run, as received (wire/profile_snapshot.h): for each
 * thread a tree of call contexts with sums from its start up to the last snapshot, and its profile
 * in a part of the run.
 *
 * A later snapshot replaces the sums of the earlier one; earlier ones are kept as received.  Not
 * thread-safe. */
#ifndef SERVER_TIMING_CALL_CONTEXTS_H
#define SERVER_TIMING_CALL_CONTEXTS_H

#include "base/map.h"
#include "wire/profile_snapshot.h"

struct call_context {
    struct snapshot_context sums;
    uint32_t type; /* type code of the run, of a recorded call, once it is known; else 0 */
    bool known; /* a description of the context was received */
    bool unsaved; /* changed since the last call_contexts_save() */
};

#define EARLIER_SNAPSHOTS_BYTES ((size_t)64 << 20)

/* Earlier profile snapshots of a thread: each body of SUMS as received, so that the sums as of an
 * earlier time can be restored.
 *
 * They are kept as bytes, up to EARLIER_SNAPSHOTS_BYTES for all threads of a run.  For later
 * snapshots only the newest sums are known; these are correct, too, but without intermediate
 * times. */
struct earlier_snapshots {
    struct earlier_body {
        /* by the program's clock; several bodies in succession may have the same time */
        uint64_t time_ns;
        uint8_t *data;
        uint32_t size;
    } *items;
    uint32_t count;
    uint32_t saved; /* number of them that were already saved in a checkpoint */
    bool full; /* some did not fit */
};

struct call_context_thread {
    uint32_t session, code; /* the thread's code in its program */
    uint32_t line; /* thread line; 0: not declared yet */
    uint32_t process; /* index of the process with the addresses of the functions */
    struct snapshot_head head;
    struct call_context *items; /* by context number: a parent comes before its children */
    size_t count, room;
    struct earlier_snapshots earlier;
    bool unsaved;
};

/* A zero-initialized struct is empty. */
struct call_contexts {
    struct call_context_thread *threads;
    uint32_t count;
    size_t room;
    struct map index; /* session and code -> 1 + index */
    struct map lines; /* line -> 1 + index */
    bool wanted; /* requests a new reading of the profile regions; the reader resets it */
    uint64_t taken; /* number of readings so far */
    size_t earlier_bytes; /* bytes of the earlier snapshots of all threads */
};

/* Returns the thread, made on first use.  The pointer is valid until the next thread is made. */
struct call_context_thread *call_contexts_thread(struct call_contexts *all, uint32_t session,
                                                 uint32_t code);
/* Sets the thread line of a thread; the second function returns the thread of a line, or NULL. */
void call_contexts_announced(struct call_contexts *all, struct call_context_thread *thread,
                             uint32_t line);
const struct call_context_thread *call_contexts_of_line(const struct call_contexts *all,
                                                        uint32_t line);
/* Applies the body of a SUMS message.  Returns false with the reason in *why if it is invalid. */
bool call_contexts_update(struct call_context_thread *thread, const uint8_t *body, size_t size,
                          const char **why);
/* Keeps a copy of a body that was applied. */
void call_contexts_keep(struct call_contexts *all, struct call_context_thread *thread,
                        const uint8_t *body, size_t size);
/* Returns the number of different times of the kept bodies. */
uint32_t call_contexts_times(const struct call_context_thread *thread);
/* Passes everything that changed since the last call to `save`, as bodies of SUMS: the kept ones,
 * else the newest sums. */
void call_contexts_save(struct call_contexts *all,
                        void (*save)(void *user, const struct call_context_thread *thread,
                                     const struct encoder *body),
                        void *user);
void call_contexts_free(struct call_contexts *all); /* frees the memory; it is empty then */

/* ---- profile of a part of the run ---- */

/* Profile of a thread's calls in a part of the run: the sums as of one time minus those as of an
 * earlier one.
 *
 * Sums are known as of the times of the snapshots, about one per second.  The part begins with the
 * last snapshot at or before the requested begin (else with the thread), and ends with the first at
 * or after the requested end (else with the newest); nothing is interpolated.  Minimum and maximum
 * of single calls belong to the whole lifetime and are left out.  Times are ns of the program's
 * clock. */
struct profile_range {
    struct call_context_thread thread; /* its sums are those of the part */
    uint64_t from_ns, to_ns; /* from_ns 0: from the thread's start on */
};

/* Makes the profile of a range; from_ns 0, to_ns UINT64_MAX: open.  The caller frees it. */
struct profile_range profile_range_make(const struct call_context_thread *thread, uint64_t from_ns,
                                        uint64_t to_ns);
void profile_range_free(struct profile_range *part);

#endif
