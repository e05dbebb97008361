/* Heap allocations of the processes of a run (wire/heap_region.h), as last reported. */
#ifndef SERVER_RUN_HEAP_TOTALS_H
#define SERVER_RUN_HEAP_TOTALS_H

#include "server/run/run.h"
#include "wire/heap_region.h"

/* Allocations of one thread with one call stack of its process. */
struct heap_allocated {
    uint32_t process, thread; /* the thread's line; 0: one that is not recorded */
    uint32_t node; /* number of the call stack in its process */
    uint64_t blocks, bytes, usable, freed, freed_bytes, freed_usable; /* as in struct heap_sum */
    uint64_t temporaries, elsewhere, elsewhere_bytes, elsewhere_usable, nulls, most_bytes;
};

/* An invalid free, or a free of NULL. */
struct heap_invalid_free {
    uint32_t process, thread, node; /* as above */
    uint64_t address, site, before, event;
    uint8_t fault; /* an enum heap_fault */
};

/* A block that has not been freed. */
struct heap_unfreed {
    uint32_t process, sum; /* number of the allocating thread's sum */
    uint64_t address, bytes, usable;
    int64_t at_ns; /* approximate time of its allocation, in the run's time */
    uint32_t event; /* number of the thread's last event then; 0: none is known */
    uint8_t kind; /* an enum heap_kind */
};

struct heap_process {
    uint32_t process;
    uint64_t unseen, unknown, folded; /* as in struct heap_head */
    bool own_malloc; /* likewise */
    int64_t at_ns; /* time of the report, in the run's time */
    int64_t began_ns; /* when counting began */
    uint64_t most_bytes; /* maximum of live bytes at one time; 0: not known */
    int64_t most_ns; /* time of that maximum */
    bool has_blocks; /* blocks were reported, as of blocks_ns */
    int64_t blocks_ns;
    uint64_t blocks_left; /* number of blocks that did not fit */
};

/* Each call replaces the last report of the same process, or of the same number in it.  Returns
 * false if there are too many. */
void heap_totals_update(struct run *run, const struct heap_process *report);
bool heap_totals_add(struct run *run, uint32_t number, const struct heap_allocated *taken);
bool heap_totals_add_wrong(struct run *run, uint32_t number, const struct heap_invalid_free *wrong);
/* Adds a node below a parent with a lower number; unreported nodes are HEAP_NODE_UNKNOWN. */
bool heap_totals_add_node(struct run *run, uint32_t process, uint32_t number, uint64_t site,
                          uint32_t parent);
/* Removes all blocks of a process; heap_totals_add_block() then adds the reported ones. */
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
/* Returns the site of a node and sets *parent to the calling node; 0 and 0 at the end of a
 * stack. */
uint64_t heap_totals_site(const struct run *run, uint32_t process, uint32_t node, uint32_t *parent);

/* Returns the flag that asks the heap reader to read the blocks now; the reader clears it.
 * heap_totals_blocks_came() returns how often blocks were read. */
bool *heap_totals_wants_blocks(struct run *run);
uint64_t heap_totals_blocks_came(const struct run *run);
void heap_totals_no_blocks(struct run *run); /* no process has blocks to report */

#endif
