/* Blocks of one scope: its code between two calls that it makes (Meira's basic blocks, Friedman's
 * statement blocks), with execution counts and self times, over all threads.
 *
 * A block is a path of calls that leads to the scope, and the call site of the last call that ended
 * in it (0: none since the scope was entered); calls that are only counted end no block.  Counts
 * come from the contexts and are exact.  Times come from activity records (wire/slot.h),
 * as far as they were received: the part of the scope's self time that they do not cover is
 * `unassigned_ns` and belongs to no block.  The end of a block is known for threads that recorded
 * each begin and end of a call: these have one block per end.  For others the end is known as far
 * as the counts tell: blocks that were executed as often as the scope are passed in the order of
 * the code, unless a loop is executed equally often.  Times are ns. */
#ifndef SERVER_TIMING_SCOPE_BLOCKS_H
#define SERVER_TIMING_SCOPE_BLOCKS_H

#include "server/timing/call_contexts.h"
#include "server/timing/call_entries.h"

#define BLOCKS_NO_SITE UINT64_MAX /* the call site is not known: such calls are one block */
#define BLOCKS_ANY (UINT64_MAX - 1) /* as `until`: not known */
#define BLOCKS_END UINT32_MAX /* as the next call in a scope: its end */

struct scope_block {
    uint32_t path; /* number of the path of calls; 0 if paths are merged */
    uint32_t parent; /* the calling scope; 0: the thread itself, or several */
    /* the call site, as numbered by the caller in the order of the code; 0: the scope's begin */
    uint64_t after;
    uint64_t until; /* the next call site; 0: the scope's end; BLOCKS_ANY */
    uint64_t times;
    int64_t ns;
    /* the thread and context in which the call was found first; context 0: the scope's begin */
    uint32_t thread, called;
    uint32_t next_thread, next; /* likewise for `until` */
};

/* Zero-initialize it except the scope and `together`. */
struct scope_blocks {
    uint32_t scope;
    bool together; /* merges all paths that lead to the scope */
    struct scope_block *items;
    size_t count, room;
    uint64_t calls; /* calls of the scope */
    int64_t self_ns, unassigned_ns;
    bool timed, guessed; /* some ends are inferred from the order of the code */
    struct map paths, groups, index; /* blocks of a group have the same path and begin */
    uint32_t path_count, group_count;
};

/* A code segment and what followed in its scope: the called context, or BLOCKS_END. */
struct block_passage {
    uint32_t step, next;
    uint64_t times, ns;
};

/* Time of a thread per code segment, by number: two per context. */
struct scope_block_times {
    uint64_t *ns;
    size_t count;
    uint32_t step; /* the current one; UINT32_MAX: unknown */
    uint64_t since_ns;
    const struct scope_block_thread
        *thread; /* keep this thread's passages through `scope`; NULL: keep none */
    uint32_t scope;
    struct block_passage *passages;
    size_t passage_count, passage_room, added;
    struct map index; /* step and next -> 1 + index */
};

/* Adds the next call record of the thread; all must be added in order. */
void scope_block_times_entry(struct scope_block_times *times, const struct call_record *entry);
/* Adds time to a code segment; an invalid one is ignored. */
void scope_block_times_add(struct scope_block_times *times, uint32_t step, uint64_t ns);
/* Frees the memory; it is empty then. */
void scope_block_times_free(struct scope_block_times *times);

/* A thread, with the number to use in blocks, and what is known of each of its first `count`
 * contexts. */
struct scope_block_thread {
    const struct call_context_thread *is;
    uint32_t number, count;
    const uint32_t *scopes;
    const uint64_t *sites;
};

/* Adds a thread; sorts the passages of `times`. */
void scope_blocks_add(struct scope_blocks *blocks, const struct scope_block_thread *thread,
                      struct scope_block_times *times);
/* Sorts the blocks by path and in the order of the code, and infers their ends; must be called
 * after all threads are added. */
void scope_blocks_sort(struct scope_blocks *blocks);
void scope_blocks_free(struct scope_blocks *blocks); /* frees the memory; it is empty then */

#endif
