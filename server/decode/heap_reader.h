/* The memory of a heap (wire/heap_region.h), as it is read: what of it is told becomes bodies of
 * the journal's HEAP.
 *
 * It is read, not mapped: so nothing that the program does to it can harm, and holes stay holes.
 * Nothing in it is trusted. */
#ifndef SERVER_DECODE_HEAP_READER_H
#define SERVER_DECODE_HEAP_READER_H

#include "wire/heap_region.h"
#include "wire/message.h"

struct heap_reader {
    int fd; /* the caller's */
    struct heap_sum *told; /* as they were told last, by number */
    uint32_t told_count, told_bad, told_nodes;
    uint64_t unseen, unknown;
    /* Takes a body; false: there is no room for it now, so it is to be told again. */
    bool (*tell)(void *context, const struct encoder *body);
    void *context;
};

/* The rest is zero. */
void heap_reader_begin(struct heap_reader *map, int fd,
                       bool (*tell)(void *context, const struct encoder *body), void *context);
void heap_reader_end(struct heap_reader *map); /* the descriptor stays open */
void heap_reader_sample(const struct heap_reader *map, uint64_t now_ns); /* how much there is */
void heap_reader_sums(struct heap_reader *map,
                      uint64_t now_ns); /* and whose, of what has changed */
void heap_reader_send_blocks(const struct heap_reader *map,
                             uint64_t now_ns); /* each that is left */

#endif
