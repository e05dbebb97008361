/* What a program takes from its heap and gives back: sums, in memory that it shares with the server.
 *
 * libpoet-memory makes one such memory for a process, seals it and hands it over with the message HEAP.  From then on the
 * program writes and the server reads, with nothing between them, so what was counted is there however the program ends.
 * Untouched pages take no memory.  Nothing in it is trusted, and all of it may change while it is read.
 *
 * One behind the other: the head, the shards of the table of blocks, bad frees, sums, the index of the sums, which
 * addresses were freed last, the blocks.  A sum is what one thread took at one place of the code; it keeps its number,
 * its thread and its place for ever.  Number 0 is of all that found no sum of their own. */
#ifndef WIRE_HEAP_H
#define WIRE_HEAP_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define HEAP_MAGIC 0x50485450u /* "PTHP" */
#define HEAP_VERSION 1u
#define HEAP_HEAD_BYTES 4096u
#define HEAP_SHARDS 64u
#define HEAP_SLOTS 16384u /* of a shard; powers of two */
#define HEAP_FREED 4096u /* of a shard */
#define HEAP_SUMS 8192u
#define HEAP_INDEX (4 * HEAP_SUMS)
#define HEAP_BAD 64u

struct heap_head {
    uint32_t magic, version;
    _Atomic uint32_t sums; /* that there are, 1 .. HEAP_SUMS; some may be of nobody */
    _Atomic uint32_t bad; /* frees that should not have been; the first HEAP_BAD are there */
    _Atomic uint64_t unseen; /* calls that were not counted: no room, or no time */
    _Atomic uint64_t unknown; /* blocks freed that were taken before counting began */
};
static_assert(sizeof(struct heap_head) <= HEAP_HEAD_BYTES, "the head fits its page");

struct heap_shard {
    _Alignas(64) _Atomic uint32_t lock; /* 1: held */
    uint32_t used;
    uint32_t missed; /* how often it was not to be had */
};

enum heap_fault {
    HEAP_TWICE, /* it had been freed, and not been given out since */
    HEAP_NO_BLOCK, /* where no block can begin */
    HEAP_FAULTS
};

struct heap_bad {
    uint64_t address, site;
    uint64_t before; /* of HEAP_TWICE: where it had been freed */
    uint64_t event; /* number of the thread's last event; 0: it had none */
    uint32_t thread; /* code of the thread's own line; 0: one that is not recorded */
    uint32_t fault; /* an enum heap_fault */
};
static_assert(sizeof(struct heap_bad) == 40, "a bad free is 40 bytes");

/* What was taken, and of that, what is given back.  Bytes are as asked for, usable ones as they were given. */
struct heap_sum {
    uint64_t site; /* an address within the call */
    uint32_t thread; /* code of the own line of who took it; 0: one that is not recorded */
    uint32_t spare;
    _Atomic uint64_t blocks, bytes, usable;
    _Atomic uint64_t freed, freed_bytes, freed_usable;
    _Atomic uint64_t elsewhere, elsewhere_bytes; /* of the freed: by another thread */
    _Atomic uint64_t nulls; /* times that it freed no block, NULL, there */
    _Atomic uint64_t most_bytes; /* that it had at once */
    uint64_t more[4];
};
static_assert(sizeof(struct heap_sum) == 128, "a sum is two cache lines");

struct heap_freed {
    uint64_t address, site;
};

struct heap_block {
    uint64_t address; /* 0: none */
    uint64_t bytes;
    uint32_t sum;
    uint32_t beyond; /* usable bytes over those asked for */
};
static_assert(sizeof(struct heap_block) == 24, "a block is 24 bytes");

#define HEAP_SHARDS_AT HEAP_HEAD_BYTES
#define HEAP_BAD_AT (HEAP_SHARDS_AT + HEAP_SHARDS * sizeof(struct heap_shard))
#define HEAP_SUMS_AT (HEAP_BAD_AT + 4096u)
#define HEAP_INDEX_AT (HEAP_SUMS_AT + HEAP_SUMS * sizeof(struct heap_sum))
#define HEAP_FREED_AT (HEAP_INDEX_AT + HEAP_INDEX * sizeof(uint32_t))
#define HEAP_BLOCKS_AT                                                                             \
    (HEAP_FREED_AT + (size_t)HEAP_SHARDS * HEAP_FREED * sizeof(struct heap_freed))
#define HEAP_MAP_BYTES                                                                             \
    (HEAP_BLOCKS_AT + (size_t)HEAP_SHARDS * HEAP_SLOTS * sizeof(struct heap_block))
static_assert(HEAP_BAD * sizeof(struct heap_bad) <= 4096, "bad frees fit their page");

/* One sum as the journal's HEAP has it: u32 number, u32 thread, u64 site, the ten figures. */
#define HEAP_FIGURES 10u
#define HEAP_TOLD_BYTES (16u + 8u * HEAP_FIGURES)
#define HEAP_BAD_BYTES 41u /* u32 number, u8 fault, u32 thread, u64 event, address, site, before */

#endif
