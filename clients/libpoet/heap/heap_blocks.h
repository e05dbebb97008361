/* The heap blocks of a process, and the sums of their allocations by thread and stack
 * (wire/heap_region.h).
 *
 * Nothing here allocates, makes system calls, locks or waits: what finds no room is counted as
 * missed. The caller must prevent signal handlers of the same thread from calling in between. */
#ifndef CLIENTS_LIBPOET_HEAP_HEAP_BLOCKS_H
#define CLIENTS_LIBPOET_HEAP_HEAP_BLOCKS_H

#include "wire/heap_region.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

#define HEAP_KNOWN_SUMS 64u

/* State that each thread keeps; zero-initialized. */
struct heap_thread_cache {
    struct heap_thread *record; /* its record in the heap, made at first use */
    uint64_t last; /* address of the block that it allocated last */
    struct {
        uint32_t node, thread, sum;
    } known[HEAP_KNOWN_SUMS]; /* by node */
};

/* The calling thread, and its stack. */
struct heap_caller {
    uint64_t event; /* number of the thread's last event, 0 none */
    uint64_t now_ns; /* the monotonic clock, approximately */
    uint32_t thread; /* code of its own line, 0: it is not recorded */
    uint32_t node; /* stack of the allocation; HEAP_NODE_NONE: not known yet */
};

/* A block that was freed, or what is wrong with freeing it. */
struct freed_block {
    struct heap_block block;
    enum heap_kind kind; /* of it */
    uint64_t before; /* where it was freed before; 0: it was not */
    bool known; /* it is a block */
};

/* Initializes memory of HEAP_BYTES_OF(groups) zeros; groups is a power of two, at most
 * HEAP_GROUPS. */
void heap_block_begin(void *heap, uint32_t groups, uint64_t now_ns);
/* Returns the node of a stack that is called from `parent` at `site`; created on first use. */
uint32_t heap_counter_find_node(void *heap, uint32_t parent, uint64_t site);
void heap_block_add(void *heap, struct heap_thread_cache *mine, const struct heap_caller *by,
                    const void *block, size_t bytes, size_t usable, enum heap_kind kind);
/* Removes a block before a thread frees it. Returns true if it is a block of that kind; else *was
 * is the reason. was: set then, and whenever it is not NULL. */
bool heap_block_remove(void *heap, struct heap_thread_cache *mine, uint32_t thread, uint64_t site,
                       const void *block, enum heap_kind kind, bool wanted,
                       struct freed_block *was);
/* Undoes the removal: it was not freed after all. */
void heap_block_restore(void *heap, struct heap_thread_cache *mine, const struct heap_caller *by,
                        const struct freed_block *was);
/* Counts a free of NULL. Returns whether it is the first by this thread with this stack. */
bool heap_block_free_null(void *heap, struct heap_thread_cache *mine, const struct heap_caller *by);
/* Records a bad free. Returns its number, or HEAP_BAD if there is no room. */
uint32_t heap_block_add_bad(void *heap, const struct heap_bad *bad);
void heap_block_count_unseen(void *heap);
void heap_block_count_unknown(void *heap);

#pragma GCC visibility pop

#endif
