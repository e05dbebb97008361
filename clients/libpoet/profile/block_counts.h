/* Basic blocks of a thread: how often each was reached from which other one, and the time in it.
 *
 * A program that was compiled with -fsanitize-coverage=trace-pc calls a hook at the begin of each
 * block; poetcc -profile=loops links libpoet's in its place. The block before this one in the same
 * activation of the function is known by the frame pointer, so what is counted are the edges of the
 * control flow that were taken, each a context of SCOPE_EDGE (wire/profile_region.h): loops are
 * found among them afterwards. */
#ifndef CLIENTS_LIBPOET_PROFILE_BLOCK_COUNTS_H
#define CLIENTS_LIBPOET_PROFILE_BLOCK_COUNTS_H

#include "clients/libpoet/profile/thread_profile.h"

#define BLOCK_FRAMES (1u << 17)
#define BLOCK_EDGES (1u << 17) /* slots; at most half of them are used */

#pragma GCC visibility push(hidden)

/* An activation of a function. */
struct block_frame {
    uint64_t frame; /* its frame pointer; UINT64_MAX: of the thread itself, below all others */
    uint64_t block; /* the one in which it is: the return address of the hook; 0: none */
    uint32_t edge; /* the context of the edge by which it came there */
    uint32_t entry; /* that of the edge by which it was first seen */
    uint32_t calls; /* how many calls were open: with its own, once that is known */
    bool entered; /* its own call is one of them */
};

struct block_edge {
    uint64_t from, to;
    _Atomic uint32_t context; /* 0: a free slot */
};

/* Mapped by the thread when it reaches its first block; most of it is never touched. */
struct block_counts {
    uint32_t depth; /* frames in use */
    uint32_t used; /* slots in use */
    uint32_t others; /* the context of all edges that did not fit */
    bool calibrated; /* what the hook takes is known */
    uint32_t last; /* the context in which time passes; 0: none */
    uint64_t since; /* ticks, since when */
    struct block_frame frames[BLOCK_FRAMES];
    struct block_edge edges[BLOCK_EDGES];
};

/* Slots that are being filled. */
#define BLOCK_EDGE_FILLING UINT32_MAX

/* Maps the counts of a thread; returns NULL if that is not possible. */
struct block_counts *block_counts_begin(struct thread_profile *m);
/* Measures what the hook takes, at edges to BLOCK_NONE. */
void block_counts_calibrate(struct thread_profile *m, uint32_t wanted);
/* Called when nothing is measured: the next block comes from no known one. */
void block_counts_pause(struct thread_profile *m);
/* Returns the context of the edge, which is made if it is new. A handler in between may make a
 * second one, and both count. */
uint32_t block_edge_find_slow(struct thread_profile *m, uint64_t from, uint64_t to);
/* Returns the activation with that frame pointer, which is a new one if it is not known: those with
 * lower ones have ended. */
struct block_frame *block_frame_find(struct thread_profile *m, uint64_t frame, uint64_t at);

/* Called when a timed call begins, before it has its frame; and around its end. */
void block_counts_enter(struct thread_profile *m, uint64_t function);
void block_counts_exit_begin(struct thread_profile *m, uint64_t function);
void block_counts_exit_end(struct thread_profile *m);
/* Frees the counts of a thread, which are in its region. */
void block_counts_end(struct thread_profile *m);

static inline uint32_t block_edge_slot(uint64_t from, uint64_t to)
{
    return (uint32_t)((to ^ from * 5) >> 1) % BLOCK_EDGES;
}

static inline uint32_t block_edge_find(struct thread_profile *m, uint64_t from, uint64_t to)
{
    const struct block_edge *e = &m->blocks->edges[block_edge_slot(from, to)];
    uint32_t c = atomic_load_explicit(&e->context, memory_order_relaxed);
    if (LIKELY(e->to == to && e->from == from && c && c != BLOCK_EDGE_FILLING))
        return c;
    return block_edge_find_slow(m, from, to);
}

static inline struct block_frame *block_frame_top(struct block_counts *b)
{
    return &b->frames[b->depth - 1];
}

/* Replaces a time in one instruction, so that a handler in between is noticed; returns whether it
 * was as expected. */
static inline bool block_counts_replace(uint64_t *time, uint64_t expected, uint64_t now)
{
#if defined(__x86_64__)
    bool was;
    __asm__ volatile("cmpxchgq %3, %0"
                     : "+m"(*time), "=@ccz"(was), "+a"(expected)
                     : "r"(now)
                     : "memory");
    return was;
#else
    return __atomic_compare_exchange_n(time, &expected, now, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
#endif
}

/* Adds the time since then to the block in which it passed. A handler in between has counted the
 * time before it. */
static inline void block_counts_charge(struct thread_profile *m, uint32_t next)
{
    struct block_counts *b = m->blocks;
    uint64_t since, now;
    uint32_t last;
    do {
        since = __atomic_load_n(&b->since, __ATOMIC_RELAXED);
        last = __atomic_load_n(&b->last, __ATOMIC_RELAXED);
        now = thread_profile_ticks(m);
    } while (UNLIKELY(!block_counts_replace(&b->since, since, now)));
    __atomic_store_n(&b->last, next, __ATOMIC_RELAXED);
    if (LIKELY(last && (int64_t)(now - since) > 0))
        sum_add(&contexts_of(m)[last].own, now - since);
}

/* Counts that a block was reached, in the activation of that frame pointer. */
static inline __attribute__((always_inline)) void
block_counts_reach(struct thread_profile *m, uint32_t wanted, uint64_t at, uint64_t frame)
{
    struct block_frame *f = block_frame_top(m->blocks);
    if (UNLIKELY(f->frame != frame))
        f = block_frame_find(m, frame, at);
    bool known = f->frame == frame; /* else too many are open */
    uint32_t c = block_edge_find(m, known ? f->block : 0, at);
    sum_add(&contexts_of(m)[c].calls, 1);
    if (UNLIKELY(!known))
        return;
    f->block = at;
    f->edge = c;
    if (wanted & (WANTED_REAL | WANTED_CPU))
        block_counts_charge(m, c);
}

#pragma GCC visibility pop
#endif
