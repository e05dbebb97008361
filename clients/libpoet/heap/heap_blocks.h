/* The blocks of a process, and the sums of who took them (wire/heap_region.h).
 *
 * Nothing here allocates, calls the system, has a lock or waits: what finds no room is counted as
 * unseen.  Who calls sees to it that no signal handler of the same thread calls in between. */
#ifndef CLIENTS_LIBPOET_HEAP_HEAP_BLOCKS_H
#define CLIENTS_LIBPOET_HEAP_HEAP_BLOCKS_H

#include "wire/heap_region.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

#define HEAP_KNOWN_SUMS 64u

/* What a thread keeps of its own; zero-initialised. */
struct heap_thread_cache {
    struct heap_thread *told; /* its record in the heap, made at first use */
    uint64_t last; /* address of the block that it took last */
    struct {
        uint32_t node, thread, sum;
    } known[HEAP_KNOWN_SUMS]; /* by node */
};

/* Who calls, and with which stack. */
struct heap_caller {
    uint64_t event; /* number of the thread's last event, 0 none */
    uint64_t now_ns; /* the monotonic clock, about */
    uint32_t thread; /* code of its own line, 0: it is not recorded */
    uint32_t node; /* of taking; HEAP_NODE_NONE: it is not known yet */
};

/* What a block was, or what is wrong with freeing it. */
struct freed_block {
    struct heap_block block;
    enum heap_kind kind; /* of it */
    uint64_t before; /* where it was freed before; 0: it was not */
    bool known; /* it is a block */
};

/* Memory of HEAP_BYTES_OF(groups) zeros; groups is a power of two, HEAP_GROUPS at most. */
void heap_block_begin(void *heap, uint32_t groups, uint64_t now_ns);
/* A stack that is called from `parent` at `site`; made on first use. */
uint32_t stack_table_find_node(void *heap, uint32_t parent, uint64_t site);
void heap_block_add(void *heap, struct heap_thread_cache *mine, const struct heap_caller *by,
                    const void *block, size_t bytes, size_t usable, enum heap_kind kind);
/* Before it is freed, by a thread, at a place.  True: it is a block of that kind; else *was says
 * why not.  was: set then, and where it is wanted. */
bool heap_block_remove(void *heap, struct heap_thread_cache *mine, uint32_t thread, uint64_t site,
                       const void *block, enum heap_kind kind, bool wanted,
                       struct freed_block *was);
/* It was not freed after all. */
void heap_block_restore(void *heap, struct heap_thread_cache *mine, const struct heap_caller *by,
                        const struct freed_block *was);
/* NULL was freed; true: for the first time by this thread with this stack. */
bool heap_block_free_null(void *heap, struct heap_thread_cache *mine, const struct heap_caller *by);
/* Writes a bad free down; its number, HEAP_BAD: there is no room. */
uint32_t heap_block_add_bad(void *heap, const struct heap_bad *bad);
void heap_block_count_unseen(void *heap);
void heap_block_count_unknown(void *heap);

#pragma GCC visibility pop
#endif
