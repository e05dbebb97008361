/* Heap region of a process: allocation statistics and live blocks, in memory that the program
 * shares with the server.
 *
 * libpoet-memory creates one for a process, seals it and passes it with the message HEAP. From then
 * on the program writes and the server reads without messages, so all counts survive however the
 * program ends. Untouched pages take no memory. The server trusts nothing in it, and all of it may
 * change while it is read.
 *
 * Layout, in this order: the head, invalid frees, threads, sums, the index of the sums, nodes, the
 * index of the nodes, the blocks.
 *
 * A node is a call stack: a code address, and the node of the stack that called it. A node comes
 * after its parent; its number, its address and its parent never change; the first few nodes are
 * the ends of stacks. A sum is what one thread allocated with one stack; its number never changes,
 * either. Sum 0 is for allocations without a sum of their own.
 *
 * Only its thread writes a sum's own counters, with plain stores; frees by other threads are added
 * atomically to separate counters. All threads add atomically to sums and nodes that belong to no
 * particular thread (thread 0, sum 0). */
#ifndef WIRE_HEAP_REGION_H
#define WIRE_HEAP_REGION_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define HEAP_MAGIC 0x50485450u /* "PTHP" */
#define HEAP_VERSION 1u
#define HEAP_HEAD_BYTES 4096u
#define HEAP_DEPTH 32u /* maximum addresses of a stack */
/* The table of blocks. A block is in one of several groups, selected by its page. All powers of
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
#define HEAP_TRIES 8u /* groups that are searched for a block */
#define HEAP_BLOCKS ((size_t)HEAP_GROUPS * HEAP_GROUP)
#define HEAP_INDEX (4 * HEAP_SUMS)
#define HEAP_NODE_INDEX (2 * HEAP_NODES)
#define HEAP_THREADS 1024u
#define HEAP_BAD 64u

struct heap_head {
    uint32_t magic, version;
    _Atomic uint32_t sums; /* number of sums, 1 .. HEAP_SUMS; some may be unused */
    _Atomic uint32_t bad; /* number of invalid frees; the first HEAP_BAD are stored */
    _Atomic uint64_t unseen; /* calls not counted, for lack of space or time */
    _Atomic uint64_t unknown; /* freed blocks that were allocated before counting began */
    /* number of nodes, HEAP_NODE_FIRST .. HEAP_NODES; some may be unused */
    _Atomic uint32_t nodes;
    /* number of struct heap_thread; above HEAP_THREADS, the remaining threads share the first
     * one */
    _Atomic uint32_t threads;
    _Atomic uint64_t folded; /* calls with a stack that got no node: counted as HEAP_NODE_OTHER */
    uint64_t began_ns; /* the monotonic clock, when counting began */
    uint32_t groups; /* groups of blocks, a power of two; those present are contiguous */
    /* 1: the program has a malloc of its own: only operators new and delete are counted */
    uint32_t own_malloc;
    _Alignas(64) _Atomic int64_t live; /* bytes, except what threads have not reported yet */
    _Atomic int64_t most; /* maximum of `live`, as reported */
    _Atomic uint64_t most_ns; /* the monotonic clock at that maximum */
};
static_assert(sizeof(struct heap_head) <= HEAP_HEAD_BYTES, "the head fits its page");

/* The allocations of a thread that it has not yet added to the head: less than HEAP_TELL. */
struct heap_thread {
    _Alignas(64) _Atomic int64_t live;
    _Atomic int64_t most; /* maximum of `live` */
    _Atomic uint64_t most_ns;
    _Atomic int64_t blocks; /* all of its blocks: these are not added to the head */
};
#define HEAP_TELL(live) (1024 + ((live) >> 8))

/* The ends of stacks: the first nodes, which have no address. */
enum heap_node_kind {
    HEAP_NODE_NONE,
    HEAP_NODE_WHOLE, /* where the thread began */
    HEAP_NODE_UNKNOWN, /* the caller is unknown */
    HEAP_NODE_CUT, /* it is deeper than HEAP_DEPTH */
    /* addresses above the innermost are those of calls that the program measured */
    HEAP_NODE_CALLS,
    HEAP_NODE_OTHER, /* there was no space */
    HEAP_NODE_EARLY, /* allocated before counting began */
    HEAP_NODE_OWN, /* buffers of the C library and the loader */
    HEAP_NODE_FIRST = 8
};

struct heap_node {
    uint64_t site; /* an address within the call, or of a function that is known to be open */
    uint32_t parent; /* less than its own number */
    uint32_t spare;
};
static_assert(sizeof(struct heap_node) == 16, "a node is 16 bytes");

enum heap_fault {
    HEAP_TWICE, /* already freed, and not allocated since */
    HEAP_NO_BLOCK, /* an address at which no block can begin */
    HEAP_NEVER, /* never allocated */
    HEAP_MALLOC_DELETE, /* allocated by malloc, freed by delete */
    HEAP_NEW_FREE, /* allocated by new, freed by free */
    HEAP_NEW_ARRAY, /* allocated by new and freed by delete[], or by new[] and delete */
    HEAP_NULL, /* NULL: no fault, the first time that the thread freed it with this stack */
    HEAP_FAULTS
};

struct heap_bad {
    uint64_t address, site;
    uint64_t before; /* of HEAP_TWICE: where it had been freed */
    uint64_t event; /* number of its event on the thread line; 0: none */
    uint32_t thread; /* code of the thread line; 0: a thread that is not recorded */
    uint32_t fault; /* an enum heap_fault */
    uint32_t node; /* the stack */
    _Atomic uint32_t there; /* 1: completely written */
};
static_assert(sizeof(struct heap_bad) == 48, "a bad free is 48 bytes");

/* Allocations, and how much of them was freed. `bytes` are as requested; `usable` as allocated. */
struct heap_sum {
    uint32_t node; /* the stack */
    /* code of the line of the allocating thread; 0: a thread that is not recorded */
    uint32_t thread;
    _Atomic uint64_t blocks, bytes, usable;
    _Atomic uint64_t freed, freed_bytes, freed_usable; /* by the thread itself */
    _Atomic uint64_t temporaries; /* of these: freed before its next allocation */
    _Atomic uint64_t elsewhere, elsewhere_bytes, elsewhere_usable; /* by other threads */
    _Atomic uint64_t nulls; /* number of calls there that freed NULL */
    _Atomic uint64_t most_bytes; /* maximum of allocated bytes */
    uint64_t spare[3];
};
static_assert(sizeof(struct heap_sum) == 128, "a sum is two cache lines");

enum heap_kind {
    HEAP_FREED, /* no longer allocated: `bytes` is where it was freed */
    HEAP_MALLOC,
    HEAP_NEW,
    HEAP_NEW_OF_ARRAY,
    HEAP_KINDS,
    HEAP_WRITING = HEAP_KINDS /* a thread is writing the entry */
};

/* A block. The thread that changes its word to HEAP_WRITING writes the entry, and then sets the new
 * kind. */
struct heap_block {
    _Atomic uint64_t word; /* address << 8 | an enum heap_kind; 0: never used */
    uint64_t bytes;
    uint32_t sum;
    uint32_t beyond; /* usable bytes beyond those requested */
    uint32_t event; /* number of the thread's last event at the allocation; 0: none, or too large */
    uint32_t age_ms; /* time of the allocation since began_ns */
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
/* With little address space there are fewer groups; the server derives the number from the size of
 * the memory. */
#define HEAP_LEAST_BYTES HEAP_BYTES_OF(HEAP_GROUPS_LEAST)
static_assert(HEAP_BAD * sizeof(struct heap_bad) <= 4096, "bad frees fit their page");
static_assert(HEAP_BLOCKS_AT % 4096 == 0, "blocks begin with a page");

/* HEAP in the journal begins with a u8 enum heap_record_type. */
enum heap_record_type { HEAP_RECORD_SUMS = 1, HEAP_RECORD_SAMPLE, HEAP_RECORD_BLOCKS };
#define HEAP_BLOCKS_REPORTED 65536u /* of a process, at most */
/* One sum: u32 number, u32 thread, u32 node, the counters. */
#define HEAP_FIGURES 12u
#define HEAP_REPORT_BYTES (12u + 8u * HEAP_FIGURES)
#define HEAP_NODE_BYTES 12u /* u64 site, u32 parent */
/* u32 number, u8 fault, u32 thread, u64 event, address, site, before, u32 node */
#define HEAP_BAD_BYTES 45u
#define HEAP_BLOCK_BYTES 33u /* u64 address, bytes, u32 sum, beyond, event, age_ms, and u8 kind */

#endif
