/* Capture: writes the contents of programs' queues to the journal, in a thread that does nothing
 * else, so that no program waits for the ordering.
 *
 * A thread must hold the capture lock (capture_lock) to use a queue or write a journal; the lock
 * is granted in the order of the requests.  Written chunks are handed to the loop's thread,
 * which delivers them to the order in the order of the journal, at its own pace. */
#ifndef SERVER_JOURNAL_CAPTURE_H
#define SERVER_JOURNAL_CAPTURE_H

#include "server/decode/placement_records.h"
#include "server/decode/shared_queue.h"
#include "server/decode/profile_region_reader.h"
#include "server/decode/ring_reader.h"
#include "server/decode/tsc_clock.h"
#include "server/tracefile/tracefile.h"
#include "server/journal/handoff_queue.h"

struct capture_thread;

/* A run, as far as it is taken. */
struct capture {
    /* protected by the capture lock */
    struct tracefile *trace;
    char *file;
    uint32_t sessions; /* that the journal has */
    unsigned programs; /* of them, those that are connected here */
    /* 1 + the session that hung up last, which the journal does not say yet; 0: none; and since
     * when (journal_hold_hangup()) */
    uint32_t held;
    uint64_t held_ns;
    uint64_t unwritten; /* bytes that the disk had no room for; 0 none */
    uint64_t most_ahead; /* bytes: when the order is further behind, nothing is taken */
    char **described; /* names of environments that the journal has */
    size_t described_count, described_room;
    /* from the capture thread to the order */
    struct handoff_queue hand;
    /* the order's */
    struct handoff_extent *now; /* is being delivered, up to `offset` */
    uint64_t offset;
    uint8_t *bytes; /* its bytes, in memory or in `read` */
    uint8_t *read;
    size_t read_room;
};

/* A connected program.  Must hold the capture lock. */
struct captured_program {
    struct captured_program *next, *previous;
    struct capture *taking;
    uint32_t session;
    struct shared_queue *queues;
    size_t queue_count;
    const char *_Atomic error; /* why it is rejected; may be read without the lock */
    uint64_t waited_ns, dropped, unfollowed; /* by threads with queues that are gone */
    _Atomic uint64_t figures[3]; /* the same, of all; may be read without the lock */
    struct placement_ring *carried; /* rings in which its carriers write which task is on them */
    struct ring_reader *rings; /* in which they write when their calls began and ended */
    uint64_t spans_left; /* parts of that for which the disk had no room */
    uint64_t entries_left; /* parts of that for which the disk had no room */
    struct region_reader *regions; /* what its threads measure of themselves */
    size_t region_count, regions_left; /* those that there was no room for */
    uint64_t sums_ns, sums_bytes; /* when they are to be read again; bytes of the last time */
    bool sums_wanted; /* they are to be read now */
    unsigned full; /* its fullest queue when it was looked at, in 256th */
    uint64_t journalled; /* calls that were not followed, as the journal says it */
};

/* Starts the thread; without it, only capture_poll_program and capture_sync capture. `tell` is
 * called from the thread when much waits to be delivered.  Returns NULL if out of memory. */
struct capture_thread *capture_thread_new(void (*tell)(void *context), void *context);
bool capture_thread_is_running(const struct capture_thread *taker);
void capture_thread_stop(struct capture_thread *taker); /* the thread ends */
void capture_thread_free(struct capture_thread *taker);
void capture_thread_wake(struct capture_thread *taker);
/* Returns how long to sleep after a round that found the fullest queue so full (in 256ths),
 * `last_ns` after the round before. */
uint64_t capture_sleep_ns(uint64_t last_ns, unsigned full);
void capture_lock(struct capture_thread *taker);
void capture_unlock(struct capture_thread *taker);

struct capture *capture_new(struct tracefile *trace, const char *file, uint64_t keep_bytes);
void capture_free(struct capture *taking);
uint64_t
capture_oldest_ns(struct capture *taking); /* time of the oldest undelivered chunk, 0: none */
bool capture_is_ahead(
    const struct capture *taking); /* the ordering is so far behind that capture pauses */

/* ---- must hold the capture lock ---- */

struct captured_program *captured_program_new(struct capture_thread *taker, struct capture *taking);
/* Frees a program and moves its queues to the list `retired`. */
void captured_program_free(struct capture_thread *taker, struct captured_program *program,
                           struct shared_queue **retired);

/* Writes all chunks or none; returns false with errno if there is no room. last: the chunks end
 * the journal and are delivered even if there is no room. quiet: they are not delivered. */
bool journal_append(struct capture *taking, const struct chunk *chunks, size_t count, bool last);
bool journal_append_quiet(struct capture *taking, struct chunk chunk);
/* Writes that a session hung up. */
void journal_append_hangup(struct capture *taking, uint32_t session);
/* Holds that back: behind the hang-up of the last program an order waits for nothing that is
 * missing, and an agent may still bring another program of the run. */
void journal_hold_hangup(struct capture *taking, uint32_t session, uint64_t now_ns);
/* Writes what is held back, if anything. */
void journal_release_hangup(struct capture *taking);
/* Writes the description of an environment, unless the journal has it; returns false if there is
 * no room. */
bool journal_write_description(struct capture *taking, const char *name);
/* Writes slots received over a connection, preceded by the descriptions of the environments that
 * they name; returns false if there is no room. */
bool journal_append_slots(struct capture *taking, uint32_t session, uint32_t thread,
                          const struct ring_slot *slots, size_t count);

enum poll_result {
    POLL_DRAINED, /* nothing is left */
    POLL_MORE, /* there is more than fitted into a round */
    POLL_DISK_FULL, /* the disk has no room */
    POLL_AHEAD, /* the order is too far behind */
};
/* Does one polling round over the queues of a program. */
enum poll_result capture_poll_program(struct capture_thread *taker,
                                      struct captured_program *program);
/* Sets the present contents of the queues of this run's programs as a target;
 * capture_target_reached() returns whether all of it was captured. */
void capture_set_target(struct capture_thread *taker, const struct capture *taking);
bool capture_target_reached(const struct capture_thread *taker, const struct capture *taking);
size_t capture_queue_count(const struct capture_thread *taker); /* of all programs */

/* Reads the regions of a program, whether that is due or not. last: nothing more will come. */
void capture_read_profiles(struct capture_thread *taker, struct captured_program *program,
                           bool last);

/* ---- must not hold the capture lock ---- */

/* Captures all that is in queues now, within `ns` nanoseconds. */
void capture_sync(struct capture_thread *taker, uint64_t ns);

#endif
