/* The memory of a heap (wire/heap.h), as it is read: what of it is told becomes bodies of the journal's HEAP.
 *
 * It is read, not mapped: so nothing that the program does to it can harm, and holes stay holes.  Nothing in it is
 * trusted. */
#ifndef SERVER_INTAKE_HEAPMAP_H
#define SERVER_INTAKE_HEAPMAP_H

#include "wire/heap.h"
#include "wire/message.h"

struct heapmap {
    int fd; /* the caller's */
    struct heap_sum *told; /* as they were told last, by number */
    uint32_t told_count, told_bad, told_nodes;
    uint64_t unseen, unknown;
    /* Takes a body; false: there is no room for it now, so it is to be told again. */
    bool (*tell)(void *context, const struct out *body);
    void *context;
};

/* The rest is zero. */
void heapmap_begin(struct heapmap *map, int fd, bool (*tell)(void *context, const struct out *body),
                   void *context);
void heapmap_end(struct heapmap *map); /* the descriptor stays open */
void heapmap_sample(const struct heapmap *map, uint64_t now_ns); /* how much there is */
void heapmap_sums(struct heapmap *map, uint64_t now_ns); /* and whose, of what has changed */
void heapmap_blocks(const struct heapmap *map, uint64_t now_ns); /* each that is left */

#endif
