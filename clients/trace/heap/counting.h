/* What the calls of the allocator have in common: they are counted, and what is wrong with them becomes an event. */
#ifndef CLIENTS_TRACE_HEAP_COUNTING_H
#define CLIENTS_TRACE_HEAP_COUNTING_H

#include "clients/trace/heap/blocks.h"
#include "clients/trace/heap/walk.h"

#pragma GCC visibility push(hidden)

enum counting_inside {
    COUNTING_NOT,
    COUNTING_NOW, /* what a handler allocates in between is unseen */
    COUNTING_OURS /* what is allocated is not the program's */
};

/* Of the calling thread. */
struct counting {
    unsigned inside; /* an enum counting_inside */
    struct heap_mine blocks;
    struct walk_mine walk;
};
extern __thread struct counting counting_mine __attribute__((tls_model("initial-exec")));

/* Of the function that the program called: its frame pointer lies there, and above it where it goes back to. */
#define FRAME ((const uintptr_t *)__builtin_frame_address(0))
#define API __attribute__((visibility("default")))

/* A block was taken, NULL: it was not.  Gives it back. */
void *counting_taken(void *block, size_t bytes, enum heap_kind kind, const uintptr_t *frame);
/* Before it is freed, by free and the like (HEAP_MALLOC), delete or delete[]; was: NULL, or what it was. */
void counting_given(const void *block, enum heap_kind kind, const uintptr_t *frame,
                    struct heap_was *was);
void counting_put_back(const struct heap_was *was, const uintptr_t *frame);
/* The next to be given back is not so soon after it was taken: it is only to be moved. */
void counting_moves(void);

/* Blocks that are taken and given back before counting begins are known then. */
#define EARLY_MOST 4096u
void early_taken(const void *block, size_t bytes, enum heap_kind kind);
bool early_given(const void *block);
uint32_t early_count(void);
const void *early_at(uint32_t i, size_t *bytes, enum heap_kind *kind);
bool early_all(void); /* none was missed */

/* The events of what is wrong. */
void faults_begin(void); /* before any */
void faults_forked(void); /* in a child: which blocks its parent had is not known */
/* Written down, too, with its stack; `was` as blocks_given found it. */
void faults_tell(void *heap, struct poet_heap_where where, enum heap_fault fault, const void *block,
                 const struct heap_was *was, const uintptr_t *frame);
/* Is the call one of the C library or the loader? */
bool faults_theirs(const uintptr_t *frame);
/* An enum heap_fault of what is no block, or HEAP_FAULTS: it may have been one. */
enum heap_fault faults_of_stranger(void *heap, const void *block, const struct heap_was *was,
                                   const uintptr_t *frame);

#pragma GCC visibility pop
#endif
