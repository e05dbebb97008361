/* Basic blocks: edges and activations that were not met before, and the time in blocks.
 *
 * All of it is async-signal-safe: handlers that interrupt it leave the frames as they found them, a
 * slot is reserved before it is filled, and each number is changed by one instruction. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/block_counts.h"

#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/profile/call_stack.h"

#include <errno.h>
#include <sys/mman.h>

/* The first block of a function begins this near to it. */
#define BLOCK_ENTRY_BYTES 1024u

/* ---- edges ---- */

__attribute__((noinline)) uint32_t block_edge_find_slow(struct thread_profile *m, uint64_t from,
                                                        uint64_t to)
{
    struct block_counts *b = m->blocks;
    for (uint32_t i = block_edge_slot(from, to);; i = (i + 1) % BLOCK_EDGES) {
        struct block_edge *e = &b->edges[i];
        uint32_t c = atomic_load_explicit(&e->context, memory_order_relaxed), none = 0;
        if (c && c != BLOCK_EDGE_FILLING && e->from == from && e->to == to)
            return c;
        if (c)
            continue;
        if (b->used >= BLOCK_EDGES / 2)
            return b->others;
        if (!atomic_compare_exchange_strong(&e->context, &none, BLOCK_EDGE_FILLING))
            continue;
        b->used++;
        e->from = from;
        e->to = to;
        c = context_tree_add_edge(m, from, to);
        atomic_store(&e->context, c ? c : b->others);
        return c ? c : b->others;
    }
}

/* ---- frames ---- */

static void block_frame_pop(struct thread_profile *m)
{
    contexts_of(m)[block_frame_top(m->blocks)->entry].open--;
    atomic_signal_fence(memory_order_seq_cst);
    m->blocks->depth--;
}

/* Written before it is reserved, and again if a handler used its place meanwhile. */
__attribute__((noinline)) struct block_frame *block_frame_find(struct thread_profile *m,
                                                               uint64_t frame, uint64_t at)
{
    struct block_counts *b = m->blocks;
    while (block_frame_top(b)->frame < frame)
        block_frame_pop(m);
    if (block_frame_top(b)->frame == frame || b->depth == BLOCK_FRAMES)
        return block_frame_top(b);
    uint32_t entry = block_edge_find(m, 0, at);
    struct profile_region_context *c = &contexts_of(m)[entry];
    volatile struct block_frame *new = &b->frames[b->depth];
    new->frame = frame;
    atomic_signal_fence(memory_order_seq_cst);
    b->depth++;
    atomic_signal_fence(memory_order_seq_cst);
    new->frame = frame;
    new->block = 0;
    new->edge = 0;
    new->entry = entry;
    new->calls = call_stack_depth(m);
    new->entered = false;
    if (c->open++)
        sum_add(&c->concurrent, 1); /* recursive */
    return (struct block_frame *)(uintptr_t) new;
}

/* ---- time ---- */

void block_counts_enter(struct thread_profile *m, uint64_t function)
{
    struct block_frame *top = block_frame_top(m->blocks);
    uint32_t depth = call_stack_depth(m);
    if (top->entered || top->calls != depth || top->block - function >= BLOCK_ENTRY_BYTES)
        return; /* of another function, or of one that was inlined */
    top->calls = depth + 1;
    top->entered = true;
}

/* The time of the call is part of what the block of its caller called. */
void block_counts_exit_begin(struct thread_profile *m, uint64_t function)
{
    struct block_counts *b = m->blocks;
    const struct profile_region_frame *f = call_stack_top(m);
    uint32_t depth = call_stack_depth(m);
    uint64_t began = sum_of(&f->began);
    bool ends = false;
    if (f->function != function || depth > REGION_FRAMES)
        return;
    block_counts_charge(m, 0);
    for (; block_frame_top(b)->frame != UINT64_MAX && block_frame_top(b)->calls >= depth;
         ends = true)
        block_frame_pop(m);
    if (ends && began && b->since > began && block_frame_top(b)->edge)
        sum_add(&contexts_of(m)[block_frame_top(b)->edge].real, b->since - began);
}

void block_counts_exit_end(struct thread_profile *m)
{
    block_counts_charge(m, block_frame_top(m->blocks)->edge);
}

/* ---- begin and end ---- */

struct block_counts *block_counts_begin(struct thread_profile *m)
{
    int saved = errno;
    void *memory = seccomp_allows(ALLOWED_QUEUES)
                       ? mmap(NULL, sizeof *m->blocks, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                       : MAP_FAILED;
    errno = saved;
    if (memory == MAP_FAILED)
        return NULL;
    struct block_counts *b = memory, *none = NULL;
    b->depth = 1;
    b->frames[0].frame = UINT64_MAX;
    b->others = context_tree_add_edge(m, 0, 0);
    if (!b->others || !__atomic_compare_exchange_n(&m->blocks, &none, b, false, __ATOMIC_SEQ_CST,
                                                   __ATOMIC_SEQ_CST))
        munmap(memory, sizeof *b); /* no space, or a handler was faster */
    return m->blocks;
}

void block_counts_end(struct thread_profile *m)
{
    if (m->blocks)
        munmap(m->blocks, sizeof *m->blocks);
    m->blocks = NULL;
}

/* ---- its cost ---- */

#define COST_BATCHES 8
#define COST_BATCH 64u

static __attribute__((noinline)) void block_counts_reach_none(struct thread_profile *m,
                                                              uint32_t wanted, uint64_t frame)
{
    block_counts_reach(m, wanted, BLOCK_NONE, frame);
}

void block_counts_calibrate(struct thread_profile *m, uint32_t wanted)
{
    uint64_t least = UINT64_MAX, frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    for (int i = 0; i < COST_BATCHES; i++) {
        uint64_t from = thread_profile_ticks(m);
        for (unsigned k = 0; k < COST_BATCH; k++)
            block_counts_reach_none(m, wanted, frame);
        uint64_t took = thread_profile_ticks(m) - from;
        least = took < least ? took : least;
    }
    block_frame_pop(m);
    m->blocks->last = 0;
    m->blocks->calibrated = true;
    sum_set(&contexts_of(m)[m->blocks->others].own, least * (BLOCK_COST_TIMES / COST_BATCH));
}

void block_counts_pause(struct thread_profile *m)
{
    while (block_frame_top(m->blocks)->frame != UINT64_MAX)
        block_frame_pop(m);
    m->blocks->last = 0;
}
