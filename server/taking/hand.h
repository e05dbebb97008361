/* What was journalled and is not told yet: stretches of the journal, from whoever takes to whoever orders.
 *
 * A stretch is whole chunks, byte for byte as they are in the file.  The newest bytes of all runs together
 * stay in memory, up to HAND_BYTES; of the others only the place is known, and they are read back.
 *
 * One thread at a time puts, one takes; each call is thread-safe. */
#ifndef SERVER_TAKING_HAND_H
#define SERVER_TAKING_HAND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAND_BYTES ((uint64_t)16 << 20)
#define BUFFER_BYTES (1u << 20)

struct stretch {
    struct stretch *next;
    uint64_t at, size, taken_ns; /* where in the file; when, by the monotonic clock */
    uint32_t epoch;
    bool unwritten; /* the disk had no room for it: it is only here */
    bool buffer; /* the bytes are a whole buffer's */
    uint8_t *bytes; /* NULL: to be read back */
};

struct hand {
    pthread_mutex_t lock;
    struct stretch *first, *last;
    _Atomic uint64_t ahead; /* bytes that were put and are not told */
};

void hand_begin(struct hand *hand);
void hand_end(struct hand *hand);

/* Buffers of BUFFER_BYTES, aligned for slots; they are kept to be used again. */
uint8_t *buffer_take(void);
void buffer_give(uint8_t *buffer);
void buffers_rest(void); /* nobody has needed them for long: few are kept */

/* Puts bytes in, of which at, size, taken_ns, epoch and unwritten are told; they are copied.  Where `buffer` says
 * that they are in one, and they fill much of it, it goes with them.  Returns the one to go on with. */
uint8_t *hand_put(struct hand *hand, struct stretch stretch, uint8_t *bytes);
/* The same of bytes that are only in the file. */
void hand_put_read(struct hand *hand, struct stretch stretch);
/* The oldest one, or NULL. */
struct stretch *hand_take(struct hand *hand);
/* Of one that was taken, so many bytes are told. */
void hand_told(struct hand *hand, uint64_t bytes);
void stretch_free(struct stretch *stretch);

uint64_t hand_ahead(const struct hand *hand);
uint64_t hand_since(struct hand *hand); /* when the oldest one came, 0 none */

#endif
