/* The shared queue of one thread of a program (wire/slot.h), as the server reads it. */
#ifndef SERVER_DECODE_SHARED_QUEUE_H
#define SERVER_DECODE_SHARED_QUEUE_H

#include "server/decode/tsc_clock.h"
#include "wire/slot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared_queue {
    struct shared_queue *next;
    struct queue_head *head; /* mapped; nothing in it is trusted */
    size_t bytes;
    uint64_t slots, tail; /* our own copies */
    uint64_t there;       /* slots beyond the tail, when it was looked at */
    uint64_t copied;      /* of them, those that are on their way into the journal */
    uint64_t goal;        /* the tail that capture_set_target set as target */
    uint64_t waited_ns, dropped, unfollowed;
    uint32_t thread;
    bool done; /* the thread has ended, or continues in another queue */
    bool continued; /* it does, but that one may not be here yet */
    struct shared_queue *after; /* what is in that comes first; NULL once it is gone */
    bool followed;
};

/* Maps a queue and puts it at the front of a list; the descriptor stays the caller's.  NULL, or
 * what is wrong with it. */
const char *shared_queue_add(struct shared_queue **list, int fd, uint32_t slots);
void shared_queue_free(struct shared_queue *queue);
/* Looks how much there is; false if the queue is nonsense. */
bool shared_queue_available(struct shared_queue *queue);
struct shared_queue_request {
    size_t most; /* slots, or one record */
    size_t room; /* slots: no more than these */
    uint64_t horizon; /* nothing after the first that is later, as the program stamped it */
    struct tsc_clock
        *ticks; /* what is stamped with the counter becomes nanoseconds; NULL: it stays as it is */
};
#define SLOTS_DESCRIBE 1u /* a description is named */
#define SLOTS_BROKEN 2u /* they do not end with a record */
/* Copies whole records and returns their number of slots, 0: the first record needs more room.
 * Only the copy is checked, since the program may overwrite the queue. *what:  SLOTS_ flags of
 * the copy.  If there is no whole record, all slots are copied, so that the decoder rejects
 * them. */
size_t shared_queue_copy(const struct shared_queue *queue, struct ring_slot *to,
                         const struct shared_queue_request *want, unsigned *what);
/* The times, as the program stamped them, of the first record that is there and of the last one
 * within `most` slots; false: none has a time. */
bool shared_queue_times(const struct shared_queue *queue, size_t most, uint64_t *first,
                        uint64_t *last);
/* Reports to the program whether the disk has room for what is in the queue. */
void shared_queue_announce_space(struct shared_queue *queue, bool room);
/* Frees the slots before `tail` for the program and wakes a thread that waits for room. */
void shared_queue_release(struct shared_queue *queue);

#endif
