/* Queue of journalled but undelivered extents of the journal, from the capture thread to the
 * ordering thread.
 *
 * An extent is whole chunks, byte for byte as in the file.  The newest bytes of all runs together
 * stay in memory, up to HANDOFF_QUEUE_BYTES; for the others only the place is kept, and they are
 * read back.
 *
 * One thread at a time may push and one may pop; each call is thread-safe. */
#ifndef SERVER_JOURNAL_HANDOFF_QUEUE_H
#define SERVER_JOURNAL_HANDOFF_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HANDOFF_QUEUE_BYTES ((uint64_t)16 << 20)
#define HANDOFF_BUFFER_BYTES (1u << 20)

struct handoff_extent {
    struct handoff_extent *next;
    uint64_t at, size, taken_ns; /* where in the file; when, by the monotonic clock */
    uint32_t epoch;
    bool unwritten; /* the disk had no room for it: it is only here */
    bool buffer; /* the bytes are a whole buffer's */
    uint8_t *bytes; /* NULL: to be read back */
};

struct handoff_queue {
    pthread_mutex_t lock;
    struct handoff_extent *first, *last;
    _Atomic uint64_t ahead; /* bytes that were pushed and not delivered */
};

void handoff_queue_begin(struct handoff_queue *hand);
void handoff_queue_end(struct handoff_queue *hand);

/* Buffers of HANDOFF_BUFFER_BYTES, aligned for slots; they are kept to be used again. */
uint8_t *handoff_buffer_acquire(void);
void handoff_buffer_release(uint8_t *buffer);
void handoff_buffers_trim(void); /* frees most buffers after a long time without use */

/* Pushes a copy of `bytes`; the caller sets at, size, taken_ns, epoch and unwritten.  If
 * `buffer` says that they are in a buffer, and they fill much of it, the queue takes the buffer
 * instead of copying.  Returns the buffer to continue with. */
uint8_t *handoff_queue_push(struct handoff_queue *hand, struct handoff_extent stretch,
                            uint8_t *bytes);
/* Pushes an extent with its bytes only in the file. */
void handoff_queue_push_written(struct handoff_queue *hand, struct handoff_extent stretch);
/* The oldest one, or NULL. */
struct handoff_extent *handoff_queue_pop(struct handoff_queue *hand);
/* Records that so many bytes of a popped extent were delivered. */
void handoff_queue_mark_delivered(struct handoff_queue *hand, uint64_t bytes);
void handoff_extent_free(struct handoff_extent *stretch);

uint64_t handoff_queue_lag(const struct handoff_queue *hand);
uint64_t handoff_queue_oldest_ns(struct handoff_queue *hand); /* when the oldest one came, 0 none */

#endif
