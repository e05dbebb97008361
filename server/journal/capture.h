/* Taking: what programs put into their queues goes to the journal, in a thread that does nothing
 * else, so that no program waits for the order.
 *
 * Whoever uses a queue or writes a journal stands in the taker's door; it lets one thread in at a
 * time, in the order of their coming.  What is written is handed to the thread of the loop, which
 * tells it to the order in the order of the journal, at its own pace. */
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
    /* in the door */
    struct tracefile *trace;
    char *file;
    uint32_t sessions; /* that the journal has */
    unsigned programs; /* of them, those that did not hang up */
    uint64_t unwritten; /* bytes that the disk had no room for; 0 none */
    uint64_t most_ahead; /* bytes: when the order is further behind, nothing is taken */
    char **described; /* names of environments that the journal has */
    size_t described_count, described_room;
    /* from the taker to the order */
    struct handoff_queue hand;
    /* the order's */
    struct handoff_extent *now; /* is being told, as far as `offset` */
    uint64_t offset;
    uint8_t *bytes; /* its bytes, in memory or in `read` */
    uint8_t *read;
    size_t read_room;
};

/* A program that is connected, in the door. */
struct captured_program {
    struct captured_program *next, *previous;
    struct capture *taking;
    uint32_t session;
    struct shared_queue *queues;
    size_t queue_count;
    const char *_Atomic error; /* why it cannot be believed any more; anybody may look */
    uint64_t waited_ns, dropped, unfollowed; /* by threads whose queues are gone */
    _Atomic uint64_t figures[3]; /* the same, of all; anybody may look */
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

/* Starts the thread; where it does not run, only capture_poll_program and capture_sync take.  tell
 * is called from it when much waits to be told.  NULL: out of memory. */
struct capture_thread *capture_thread_new(void (*tell)(void *context), void *context);
bool capture_thread_is_running(const struct capture_thread *taker);
void capture_thread_stop(struct capture_thread *taker); /* the thread ends */
void capture_thread_free(struct capture_thread *taker);
void capture_thread_wake(struct capture_thread *taker);
/* How long it rests after a round which found the fullest queue so full (in 256th), `last_ns` after
 * the one before. */
uint64_t capture_sleep_ns(uint64_t last_ns, unsigned full);
void capture_lock(struct capture_thread *taker);
void capture_unlock(struct capture_thread *taker);

struct capture *capture_new(struct tracefile *trace, const char *file, uint64_t keep_bytes);
void capture_free(struct capture *taking);
uint64_t capture_oldest_ns(
    struct capture *taking); /* when the oldest that is not told came, 0 none; the order's */
bool capture_is_ahead(
    const struct capture *taking); /* the order is so far behind that nothing more is taken */

/* ---- in the door ---- */

struct captured_program *captured_program_new(struct capture_thread *taker, struct capture *taking);
/* Its queues go to the list `retired`. */
void captured_program_free(struct capture_thread *taker, struct captured_program *program,
                           struct shared_queue **retired);

/* Writes chunks together, or none of them; false with errno: there is no room.  last: for last
 * words, which are told even if there is no room.  quiet: they are not told. */
bool journal_append(struct capture *taking, const struct chunk *chunks, size_t count, bool last);
bool journal_append_quiet(struct capture *taking, struct chunk chunk);
/* What describes an environment, unless the journal has it; false: there is no room for it. */
bool journal_write_description(struct capture *taking, const char *name);
/* Slots that came by a connection, and before them what describes the environments that they name;
 * false: there is no room for them. */
bool journal_append_slots(struct capture *taking, uint32_t session, uint32_t thread,
                          const struct ring_slot *slots, size_t count);

enum poll_result {
    POLL_DRAINED, /* nothing is left */
    POLL_MORE, /* there is more than fitted into a round */
    POLL_DISK_FULL, /* the disk has no room */
    POLL_AHEAD, /* the order is too far behind */
};
/* One round over the queues of a program. */
enum poll_result capture_poll_program(struct capture_thread *taker,
                                      struct captured_program *program);
/* From now on what is in the queues of this run's programs is a goal; is it taken? */
void capture_set_target(struct capture_thread *taker, const struct capture *taking);
bool capture_target_reached(const struct capture_thread *taker, const struct capture *taking);
size_t capture_queue_count(const struct capture_thread *taker); /* of all programs */

/* Its regions are read, whether that is due or not; the last time: nothing more will come. */
void capture_read_profiles(struct capture_thread *taker, struct captured_program *program,
                           bool last);

/* ---- not in the door ---- */

/* All that is in queues now, within some time. */
void capture_sync(struct capture_thread *taker, uint64_t ns);

#endif
