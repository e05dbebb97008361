/* Figures of a heap that its threads add to (wire/heap.h). */
#ifndef CLIENTS_TRACE_HEAP_FIGURES_H
#define CLIENTS_TRACE_HEAP_FIGURES_H

#include "clients/trace/heap/blocks.h"

#pragma GCC visibility push(hidden)

#define LIKELY(is) __builtin_expect(!!(is), 1)

static inline void *part(void *heap, size_t at) { return (char *)heap + at; }

static inline uint64_t mixed(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static inline uint64_t value(const _Atomic uint64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_relaxed);
}

/* Of the thread's own: nobody else writes there.  One instruction, where there is one, so that it is never half done. */
static inline void add_own(_Atomic uint64_t *figure, uint64_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("addq %1, %0" : "+m"(*figure) : "er"(n) : "cc");
#else
    atomic_store_explicit(figure, value(figure) + n, memory_order_relaxed);
#endif
}

static inline void add_shared(_Atomic uint64_t *figure, uint64_t n)
{
    atomic_fetch_add_explicit(figure, n, memory_order_relaxed);
}

static inline void add(bool own, _Atomic uint64_t *figure, uint64_t n)
{
    if (LIKELY(own))
        add_own(figure, n);
    else
        add_shared(figure, n);
}

static inline struct heap_sum *sum_at(void *heap, uint32_t i)
{
    return (struct heap_sum *)part(heap, HEAP_SUMS_AT) + i % HEAP_SUMS;
}

/* Is the sum written by this thread alone? */
static inline bool is_own(const struct heap_sum *sum, uint32_t thread)
{
    return thread && sum->thread == thread;
}

/* A number that nobody has, and from now on the caller's; 0: there are no more. */
uint32_t number_new(_Atomic uint32_t *count, uint32_t most);
/* The number of the sum of a thread with a stack, made if need be; 0: there are no more. */
uint32_t sum_find(void *heap, uint32_t node, uint32_t thread);

/* ---- how much there is at once ---- */

struct heap_thread *amount_record(void *heap); /* a new one, or the first */
void amount_tell(struct heap_head *head, int64_t now, int64_t most, uint64_t most_ns);
void amount_tell_all(struct heap_head *head, struct heap_thread *thread);

/* The first record is of all who got none of their own: each of theirs is told at once. */
static inline void amount_changed(void *heap, struct heap_mine *mine, int64_t blocks, int64_t bytes,
                                  uint64_t now_ns)
{
    struct heap_head *head = heap;
    if (!LIKELY(mine->told != NULL))
        mine->told = amount_record(heap);
    struct heap_thread *t = mine->told;
    if (!LIKELY(t != part(heap, HEAP_THREADS_AT))) {
        atomic_fetch_add_explicit(&t->blocks, blocks, memory_order_relaxed);
        amount_tell(head, bytes, bytes > 0 ? bytes : 0, now_ns);
        return;
    }
    atomic_store_explicit(&t->blocks,
                          atomic_load_explicit(&t->blocks, memory_order_relaxed) + blocks,
                          memory_order_relaxed);
    int64_t now = atomic_load_explicit(&t->live, memory_order_relaxed) + bytes;
    atomic_store_explicit(&t->live, now, memory_order_relaxed);
    if (now > atomic_load_explicit(&t->most, memory_order_relaxed)) {
        atomic_store_explicit(&t->most, now, memory_order_relaxed);
        atomic_store_explicit(&t->most_ns, now_ns, memory_order_relaxed);
    }
    int64_t limit = HEAP_TELL(atomic_load_explicit(&head->live, memory_order_relaxed));
    if (!LIKELY(now < limit && now > -limit))
        amount_tell_all(head, t);
}

#pragma GCC visibility pop
#endif
