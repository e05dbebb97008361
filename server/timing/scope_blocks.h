/* The blocks of one scope: the stretches of it between two calls that it makes (Meira's basic
 * blocks, Friedman's statement blocks), with how often each was come to and what it took itself,
 * over all threads.
 *
 * A block is a path of calls that leads to the scope, and the place of the call that ended last in
 * it; 0: none has, since the scope was entered; calls that are counted only end no block.  How
 * often is told by the contexts, exactly; what it took, by steps (wire/activity_record.h), as far
 * as those were told: what of the scope's own time they leave out is `untold_ns`, and belongs to no
 * block.  Where a block ends is known of threads that wrote down when each call began and ended:
 * there it is a block for each end.  Of others it is known as far as counts tell: what was come to
 * as often as the scope was called is passed in the order of the code, unless a loop does as
 * often.  Times are ns. */
#ifndef SERVER_TIMING_SCOPE_BLOCKS_H
#define SERVER_TIMING_SCOPE_BLOCKS_H

#include "server/timing/call_contexts.h"
#include "server/timing/call_entries.h"

#define BLOCKS_NO_SITE UINT64_MAX /* where it was called is not known: such calls are one block */
#define BLOCKS_ANY (UINT64_MAX - 1) /* as `until`: it is not known which */
#define BLOCKS_END UINT32_MAX /* as what comes next in a scope: its end */

struct scope_block {
    uint32_t path; /* number of the path of calls; all: 0 */
    uint32_t parent; /* scope that called; 0: the thread itself, or there are several */
    /* the place, as the caller numbers them: in the order of the code; 0: its begin */
    uint64_t after;
    uint64_t until; /* the place where it called something next; 0: it ended; BLOCKS_ANY */
    uint64_t times;
    int64_t ns;
    uint32_t thread, called; /* where the call was met first, and its context; 0: its begin */
    uint32_t next_thread, next; /* likewise of `until` */
};

/* Zero-initialised, with the scope and what one row is. */
struct scope_blocks {
    uint32_t scope;
    bool together; /* whatever path leads to it */
    struct scope_block *items;
    size_t count, room;
    uint64_t calls; /* of the scope */
    int64_t self_ns, untold_ns;
    bool timed, guessed; /* ends of some are taken from the order of the code */
    struct map paths, groups, index; /* blocks of a group have their path and begin in common */
    uint32_t path_count, group_count;
};

/* A step, and what came next in its scope: the context that was called, or BLOCKS_END. */
struct block_passage {
    uint32_t step, next;
    uint64_t times, ns;
};

/* What a thread took in each step, by its number: two of each context. */
struct scope_block_times {
    uint64_t *ns;
    size_t count;
    uint32_t step; /* that goes on, UINT32_MAX: it is not known which */
    uint64_t since_ns;
    const struct scope_block_thread
        *thread; /* whose passages through `scope` are kept; NULL: none are */
    uint32_t scope;
    struct block_passage *passages;
    size_t passage_count, passage_room, added;
    struct map index; /* step and next -> 1 + index */
};

/* Of all its calls as they began and ended: the next one. */
void scope_block_times_entry(struct scope_block_times *times, const struct call_record *entry);
/* In that step it took so much; a step that cannot be is left out. */
void scope_block_times_add(struct scope_block_times *times, uint32_t step, uint64_t ns);
void scope_block_times_free(struct scope_block_times *times); /* empties it */

/* A thread, by the number that blocks are to have, and what is known of each of its first `count`
 * contexts. */
struct scope_block_thread {
    const struct call_context_thread *is;
    uint32_t number, count;
    const uint32_t *scopes;
    const uint64_t *sites;
};

/* The passages of `times` are sorted by it. */
void scope_blocks_add(struct scope_blocks *blocks, const struct scope_block_thread *thread,
                      struct scope_block_times *times);
/* Once all are added: by path, in the order of the code; and where each ends. */
void scope_blocks_sort(struct scope_blocks *blocks);
void scope_blocks_free(struct scope_blocks *blocks); /* empties it */

#endif
