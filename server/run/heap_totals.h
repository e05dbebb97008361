/* What the processes of a run took from their heaps (wire/heap_region.h), as it was told last. */
#ifndef SERVER_RUN_HEAP_TOTALS_H
#define SERVER_RUN_HEAP_TOTALS_H

#include "server/run/run.h"
#include "wire/heap_region.h"

/* Of one thread with one stack of its process. */
struct heap_allocated {
    uint32_t process, thread; /* the thread's line; 0: one that is not recorded */
    uint32_t node; /* of its process: the stack */
    uint64_t blocks, bytes, usable, freed, freed_bytes, freed_usable; /* as in struct heap_sum */
    uint64_t temporaries, elsewhere, elsewhere_bytes, elsewhere_usable, nulls, most_bytes;
};

/* A free that should not have been, or of NULL. */
struct heap_invalid_free {
    uint32_t process, thread, node; /* likewise */
    uint64_t address, site, before, event;
    uint8_t fault; /* an enum heap_fault */
};

/* A block that has not been given back. */
struct heap_unfreed {
    uint32_t process, sum; /* number of the sum of who took it */
    uint64_t address, bytes, usable;
    int64_t at_ns; /* about when, in the run's time */
    uint32_t event; /* number of the thread's last event then; 0: none is known */
    uint8_t kind; /* an enum heap_kind */
};

struct heap_process {
    uint32_t process;
    uint64_t unseen, unknown, folded; /* as in struct heap_head */
    int64_t at_ns; /* when this was so, in the run's time */
    int64_t began_ns; /* when counting began; of version 1: unknown, INT64_MIN */
    uint64_t most_bytes; /* of all, at once; 0: it is not known */
    int64_t most_ns; /* and when */
    bool has_blocks; /* they were told, as of: */
    int64_t blocks_ns;
    uint64_t blocks_left; /* that there was no room for */
};

/* Each replaces what was told of the same process, and of the same number in it; false: there are
 * too many. */
void heap_totals_update(struct run *run, const struct heap_process *told);
bool heap_totals_add(struct run *run, uint32_t number, const struct heap_allocated *taken);
bool heap_totals_add_wrong(struct run *run, uint32_t number, const struct heap_invalid_free *wrong);
/* A node; one that is not told is HEAP_NODE_UNKNOWN.  Its parent is less than its number. */
bool heap_totals_add_node(struct run *run, uint32_t process, uint32_t number, uint64_t site,
                          uint32_t parent);
/* All blocks of a process that are there go; then one after the other comes. */
void heap_totals_begin_blocks(struct run *run, uint32_t process, int64_t at_ns, uint64_t left);
void heap_totals_add_block(struct run *run, const struct heap_unfreed *block);

size_t heap_totals_process_count(const struct run *run);
const struct heap_process *heap_totals_process_at(const struct run *run, size_t i);
const struct heap_process *heap_totals_process_for(const struct run *run,
                                                   uint32_t process); /* or NULL */
size_t heap_totals_count(const struct run *run);
const struct heap_allocated *heap_totals_at(const struct run *run, size_t i);
const struct heap_allocated *heap_totals_find_numbered(const struct run *run, uint32_t process,
                                                       uint32_t number);
size_t heap_totals_wrong_count(const struct run *run);
const struct heap_invalid_free *heap_totals_wrong_at(const struct run *run, size_t i);
size_t heap_totals_block_count(const struct run *run);
const struct heap_unfreed *heap_totals_block_at(const struct run *run, size_t i);
/* The place of a node, and the node that it was called from; of those that end a stack: 0 and 0. */
uint64_t heap_totals_site(const struct run *run, uint32_t process, uint32_t node, uint32_t *parent);

/* Whoever reads heaps is to read the blocks now; he takes it back, and counts how often they
 * came. */
bool *heap_totals_wants_blocks(struct run *run);
uint64_t heap_totals_blocks_came(const struct run *run);
void heap_totals_no_blocks(struct run *run); /* nobody has any to tell */

struct heap_totals;
void heap_totals_free(struct heap_totals *heap); /* of NULL nothing */

#endif
