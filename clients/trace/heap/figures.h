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
/* What the thread has changed by so many blocks and bytes. */
void amount_changed(void *heap, struct heap_mine *mine, int64_t blocks, int64_t bytes,
                    uint64_t now_ns);

#pragma GCC visibility pop
#endif
