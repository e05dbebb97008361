/* The blocks of a process, and the sums of who took them (wire/heap.h).
 *
 * Nothing here allocates.  A lock is of one shard, held for a few stores, and not waited for without end: what finds
 * none is counted as unseen.  Who calls sees to it that no signal handler of the same thread calls in between. */
#ifndef CLIENTS_TRACE_HEAP_BLOCKS_H
#define CLIENTS_TRACE_HEAP_BLOCKS_H

#include "wire/heap.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Who calls, and from where. */
struct heap_caller {
    uint64_t site;
    uint64_t event;
    uint32_t thread;
};

/* What a block was, for one that may have to be put back. */
struct heap_was {
    struct heap_block block;
    bool known;
};

void blocks_begin(void *heap); /* memory of HEAP_MAP_BYTES zeros */
void blocks_taken(void *heap, const void *block, size_t bytes, size_t usable,
                  const struct heap_caller *by);
/* Before it is freed.  NULL is counted, too; what was freed before is written down as a bad free. */
struct heap_was blocks_given(void *heap, const void *block, const struct heap_caller *by);
/* It was not freed after all. */
void blocks_put_back(void *heap, const struct heap_was *was, const struct heap_caller *by);

#pragma GCC visibility pop
#endif
