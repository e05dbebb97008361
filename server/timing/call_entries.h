/* When each call of the threads of a run began and ended, as far as it was told
 * (wire/call_records.h):  by thread, in blocks, each with the calls that were open when it begins,
 * so that one may begin anywhere.
 *
 * It is kept in memory, as it was told: about five bytes a call, CALL_ENTRIES_KEPT in all; what is
 * more is counted, and is not there.  It is forgotten with the events that were there when it was
 * told.  Times are ns by the program's monotonic clock.  Not thread-safe. */
#ifndef SERVER_TIMING_CALL_ENTRIES_H
#define SERVER_TIMING_CALL_ENTRIES_H

#include "base/map.h"
#include "wire/call_records.h"

#ifndef CALL_ENTRIES_KEPT /* tests make it small */
#define CALL_ENTRIES_KEPT ((uint64_t)1 << 29)
#endif
#ifndef CALL_ENTRIES_DEPTH_MAX
/* calls that are open in one thread; of those above only the number is known */
#define CALL_ENTRIES_DEPTH_MAX 65536u
#endif

struct call_entry_open {
    uint32_t context;
    uint64_t began_ns;
};

struct call_entries_block {
    uint64_t first_ns, last_ns;
    uint8_t *bytes; /* the body */
    uint32_t size;
    uint32_t open_count; /* when it begins */
    struct call_entry_open *open;
    uint64_t above; /* open ones above those */
    uint64_t begins; /* in it */
    uint64_t told; /* so many events were there when it was */
};

struct call_entries_thread {
    uint32_t session, code; /* as its program calls it */
    struct call_entries_block *blocks;
    size_t count, room;
    struct call_entry_open *open; /* as far as it is told */
    size_t open_count, open_room;
    uint64_t above; /* open ones above those */
    uint64_t begins, lost; /* calls that are there; that found no room in the ring */
    unsigned walks; /* of it that have not ended: nothing of it is forgotten */
};

/* Zero-initialised: none. */
struct call_entries {
    struct call_entries_thread **threads; /* each stays where it is */
    uint32_t count;
    size_t room;
    struct map index; /* session and code -> 1 + index */
    uint64_t bytes; /* of all blocks */
    uint64_t left; /* calls for which there was no more room here */
    uint64_t events; /* that there are as it is told */
};

/* Takes the body of an ENTRIES; false with *why: it cannot be believed. */
bool call_entries_append(struct call_entries *all, uint32_t session, uint32_t code,
                         const uint8_t *body, size_t size, const char **why);
/* Of a thread, or NULL: nothing was told of it. */
const struct call_entries_thread *call_entries_for_thread(const struct call_entries *all,
                                                          uint32_t session, uint32_t code);
/* Forgets what was told while there were no more than so many events, but of each thread the
 * newest; in steps: *thread is 0 before the first.  True: all is done. */
bool call_entries_discard_step(struct call_entries *all, uint64_t events, uint32_t *thread);
/* The calls that were open as the newest of a thread was told, if that is what begins then, as the
 * body of an ENTRIES: who reads it before that one, and nothing else of the thread, knows as much
 * of them; else it changes nothing.  False: none. */
bool call_entries_encode_open(const struct call_entries *all, uint32_t session, uint32_t code,
                              uint64_t first_ns, struct encoder *out);
void call_entries_free(struct call_entries *all); /* empties it */

/* ---- looking at them, one after the other ---- */

struct call_entries_walk {
    const struct call_entries_thread *thread;
    size_t block, end; /* the next one, and where those end that there were when it began */
    struct decoder in;
    uint64_t last_ns;
    struct call_entry_open *open; /* after what was looked at last */
    size_t open_count, open_room;
    uint64_t above;
};

struct call_entry_seen {
    struct call_record entry; /* of one that ended, with its context */
    uint64_t began_ns; /* of one that ended */
    uint64_t depth; /* calls that it lies in */
};

/* From the last place on that is not later than from_ns; what is open there is walk->open. */
struct call_entries_walk call_entries_walk(const struct call_entries_thread *thread,
                                           uint64_t from_ns);
/* The next one; false: that was all.  More may be told of the thread meanwhile. */
bool call_entries_next(struct call_entries_walk *walk, struct call_entry_seen *seen);
void call_entries_walk_end(struct call_entries_walk *walk);

#endif
