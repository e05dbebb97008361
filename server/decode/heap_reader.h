/* Reads the shared memory of a heap (wire/heap_region.h) and encodes it as bodies of the journal's
 * HEAP.
 *
 * The memory is read with pread, not mapped: so the program cannot cause a fault, and holes stay
 * holes.  The server does not trust its contents. */
#ifndef SERVER_DECODE_HEAP_READER_H
#define SERVER_DECODE_HEAP_READER_H

#include "wire/heap_region.h"
#include "wire/message.h"

struct heap_reader {
    int fd; /* the caller's */
    struct heap_sum *reported; /* as last reported, by number */
    uint32_t reported_count, reported_bad, reported_nodes;
    uint64_t unseen, unknown;
    /* Receives a body; returns false if there is no room for it now, and it must be sent again. */
    bool (*tell)(void *context, const struct encoder *body);
    void *context;
};

/* The rest is zero. */
void heap_reader_begin(struct heap_reader *map, int fd,
                       bool (*tell)(void *context, const struct encoder *body), void *context);
void heap_reader_end(struct heap_reader *map); /* the descriptor stays open */
void heap_reader_sample(const struct heap_reader *map, uint64_t now_ns); /* how much there is */
void heap_reader_sums(struct heap_reader *map,
                      uint64_t now_ns); /* and of which threads, of what has changed */
void heap_reader_send_blocks(const struct heap_reader *map,
                             uint64_t now_ns); /* each that is left */

#endif
