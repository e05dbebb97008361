/* What a program takes from its heap and gives back: sums and blocks, in memory that it shares with
 * the server.
 *
 * libpoet-memory makes one such memory for a process, seals it and hands it over with the message
 * HEAP.  From then on the program writes and the server reads, with nothing between them, so what
 * was counted is there however the program ends.  Untouched pages take no memory.  Nothing in it is
 * trusted, and all of it may change while it is read.
 *
 * One behind the other: the head, bad frees, threads, sums, the index of the sums, nodes, the index
 * of the nodes, the blocks.
 *
 * A node is a call stack: a place of the code, and the node of the stack that it was called from.
 * A node comes after its parent and keeps its number, its place and its parent for ever; the first
 * few are how a stack ends.  A sum is what one thread took with one stack; it keeps its number,
 * too.  Sum 0 is of all that found no sum of their own.
 *
 * A sum's own figures are written by its thread alone, with plain stores; what others give back is
 * added to the others, at once.  Sums and nodes that are of nobody in particular (thread 0, sum 0)
 * are added to at once by all. */
#ifndef WIRE_HEAP_REGION_H
#define WIRE_HEAP_REGION_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define HEAP_MAGIC 0x50485450u /* "PTHP" */
#define HEAP_VERSION 2u
#define HEAP_HEAD_BYTES 4096u
#define HEAP_DEPTH 32u /* places of a stack */
/* Of the table of blocks.  A block lies in one of so many groups that its page has; all powers of
 * two. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* as in wire/profile_region.h */
#define HEAP_GROUPS 4u
#define HEAP_GROUPS_LEAST 2u
#define HEAP_SUMS 256u
#define HEAP_NODES 1024u
#else
#define HEAP_GROUPS 32768u
#define HEAP_GROUPS_LEAST 64u
#define HEAP_SUMS 32768u
#define HEAP_NODES 131072u
#endif
#define HEAP_GROUP 128u /* blocks of a group */
#define HEAP_TRIES 8u
#define HEAP_BLOCKS ((size_t)HEAP_GROUPS * HEAP_GROUP)
#define HEAP_INDEX (4 * HEAP_SUMS)
#define HEAP_NODE_INDEX (2 * HEAP_NODES)
#define HEAP_THREADS 1024u
#define HEAP_BAD 64u

struct heap_head {
    uint32_t magic, version;
    _Atomic uint32_t sums; /* that there are, 1 .. HEAP_SUMS; some may be of nobody */
    _Atomic uint32_t bad; /* events of frees; the first HEAP_BAD are there */
    _Atomic uint64_t unseen; /* calls that were not counted: no room, or no time */
    _Atomic uint64_t unknown; /* blocks freed that were taken before counting began */
    /* that there are, HEAP_NODE_FIRST .. HEAP_NODES; some may be of nobody */
    _Atomic uint32_t nodes;
    /* of struct heap_thread; above HEAP_THREADS: the others share the first */
    _Atomic uint32_t threads;
    _Atomic uint64_t folded; /* calls whose stack found no node: it counts as HEAP_NODE_OTHER */
    uint64_t began_ns; /* the monotonic clock, when counting began */
    uint32_t groups; /* of blocks, a power of two: what there are lies behind one another */
    _Alignas(64) _Atomic int64_t live; /* bytes, but for what threads have not told yet */
    _Atomic int64_t most; /* at once, by what was told */
    _Atomic uint64_t most_ns; /* the monotonic clock then */
};
static_assert(sizeof(struct heap_head) <= HEAP_HEAD_BYTES, "the head fits its page");

/* What a thread has not told the head yet: less than HEAP_TELL of it. */
struct heap_thread {
    _Alignas(64) _Atomic int64_t live;
    _Atomic int64_t most; /* that `live` was */
    _Atomic uint64_t most_ns;
    _Atomic int64_t blocks; /* all of them: these are not told the head */
};
#define HEAP_TELL(live) (1024 + ((live) >> 8))

/* How a stack ends: the first nodes, which have no place. */
enum heap_node_kind {
    HEAP_NODE_NONE,
    HEAP_NODE_WHOLE, /* where the thread began */
    HEAP_NODE_UNKNOWN, /* who called is not known */
    HEAP_NODE_CUT, /* it is deeper than HEAP_DEPTH */
    HEAP_NODE_CALLS, /* places above the innermost are of calls that the program measured */
    HEAP_NODE_OTHER, /* there was no room */
    HEAP_NODE_EARLY, /* taken before counting began */
    HEAP_NODE_OWN, /* the C library's and the loader's own buffers */
    HEAP_NODE_FIRST = 8
};

struct heap_node {
    uint64_t site; /* an address within the call, or of a function that is known to be open */
    uint32_t parent; /* less than its own number */
    uint32_t spare;
};
static_assert(sizeof(struct heap_node) == 16, "a node is 16 bytes");

enum heap_fault {
    HEAP_TWICE, /* it had been freed, and not been given out since */
    HEAP_NO_BLOCK, /* where no block can begin */
    HEAP_NEVER, /* it was never given out */
    HEAP_MALLOC_DELETE, /* by malloc, to delete */
    HEAP_NEW_FREE, /* by new, to free */
    HEAP_NEW_ARRAY, /* by new, to delete[], or by new[] to delete */
    HEAP_NULL, /* NULL: no fault, the first time that the thread did so with this stack */
    HEAP_FAULTS
};

struct heap_bad {
    uint64_t address, site;
    uint64_t before; /* of HEAP_TWICE: where it had been freed */
    uint64_t event; /* number of its event on the thread's own line; 0: it has none */
    uint32_t thread; /* code of the thread's own line; 0: one that is not recorded */
    uint32_t fault; /* an enum heap_fault */
    uint32_t node; /* the stack */
    _Atomic uint32_t there; /* 1: all of it is written */
};
static_assert(sizeof(struct heap_bad) == 48, "a bad free is 48 bytes");

/* What was taken, and of that, what is given back.  Bytes are as asked for, usable ones as they
 * were given. */
struct heap_sum {
    uint32_t node; /* the stack */
    uint32_t thread; /* code of the own line of who took it; 0: one that is not recorded */
    _Atomic uint64_t blocks, bytes, usable;
    _Atomic uint64_t freed, freed_bytes, freed_usable; /* by the thread itself */
    _Atomic uint64_t temporaries; /* of these: before its next allocation */
    _Atomic uint64_t elsewhere, elsewhere_bytes, elsewhere_usable; /* by other threads */
    _Atomic uint64_t nulls; /* times that it freed no block, NULL, there */
    _Atomic uint64_t most_bytes; /* that it had at once */
    uint64_t spare[3];
};
static_assert(sizeof(struct heap_sum) == 128, "a sum is two cache lines");

enum heap_kind {
    HEAP_FREED, /* it was a block: `bytes` is where it was given back */
    HEAP_MALLOC,
    HEAP_NEW,
    HEAP_NEW_OF_ARRAY,
    HEAP_KINDS,
    HEAP_WRITING = HEAP_KINDS /* one thread writes what it is */
};

/* A block: who may change it from what it is to HEAP_WRITING writes it, and then what it is from
 * there on. */
struct heap_block {
    _Atomic uint64_t word; /* address << 8 | an enum heap_kind; 0: never used */
    uint64_t bytes;
    uint32_t sum;
    uint32_t beyond; /* usable bytes over those asked for */
    uint32_t event; /* number of the thread's last event then; 0: it had none, or too many */
    uint32_t age_ms; /* since began_ns */
};
static_assert(sizeof(struct heap_block) == 32, "a block is 32 bytes");
#define HEAP_WORD(address, kind) ((uint64_t)(address) << 8 | (kind))
#define HEAP_KIND(word) ((enum heap_kind)((word)&0xffu))
#define HEAP_ADDRESS(word) ((word) >> 8)

#define HEAP_BAD_AT HEAP_HEAD_BYTES
#define HEAP_THREADS_AT (HEAP_BAD_AT + 4096u)
#define HEAP_SUMS_AT (HEAP_THREADS_AT + HEAP_THREADS * sizeof(struct heap_thread))
#define HEAP_INDEX_AT (HEAP_SUMS_AT + HEAP_SUMS * sizeof(struct heap_sum))
#define HEAP_NODES_AT (HEAP_INDEX_AT + HEAP_INDEX * sizeof(uint32_t))
#define HEAP_NODE_INDEX_AT (HEAP_NODES_AT + HEAP_NODES * sizeof(struct heap_node))
#define HEAP_BLOCKS_AT (HEAP_NODE_INDEX_AT + HEAP_NODE_INDEX * sizeof(uint32_t))
#define HEAP_BYTES_OF(groups)                                                                      \
    (HEAP_BLOCKS_AT + (size_t)(groups)*HEAP_GROUP * sizeof(struct heap_block))
#define HEAP_MAP_BYTES HEAP_BYTES_OF(HEAP_GROUPS)
/* Where address space is short there are fewer groups; the server goes by the size of the
 * memory. */
#define HEAP_LEAST_BYTES HEAP_BYTES_OF(HEAP_GROUPS_LEAST)
static_assert(HEAP_BAD * sizeof(struct heap_bad) <= 4096, "bad frees fit their page");
static_assert(HEAP_BLOCKS_AT % 4096 == 0, "blocks begin with a page");

/* The journal's HEAP begins with u64 0 and u8 an enum heap_totals_update; that of version 1 with
 * its time, which is not 0. */
enum heap_record_type { HEAP_RECORD_SUMS = 2, HEAP_RECORD_SAMPLE, HEAP_RECORD_BLOCKS };
#define HEAP_BLOCKS_TOLD 65536u /* of a process, at most */
/* One sum: u32 number, u32 thread, u32 node, the figures. */
#define HEAP_FIGURES 12u
#define HEAP_TOLD_BYTES (12u + 8u * HEAP_FIGURES)
#define HEAP_NODE_BYTES 12u /* u64 site, u32 parent */
#define HEAP_BAD_BYTES                                                                             \
    45u /* u32 number, u8 fault, u32 thread, u64 event, address, site, before, u32 node */
/* Of version 1: u32 number, u32 thread, u64 site, ten figures; and without the node. */
#define HEAP_FIGURES_1 10u
#define HEAP_TOLD_BYTES_1 (16u + 8u * HEAP_FIGURES_1)
#define HEAP_BAD_BYTES_1 41u
#define HEAP_BLOCK_BYTES 33u /* u64 address, bytes, u32 sum, beyond, event, age_ms, and u8 kind */

#endif
