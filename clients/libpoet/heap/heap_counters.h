/* Counters of a heap, to which its threads add (wire/heap_region.h). */
#ifndef CLIENTS_LIBPOET_HEAP_HEAP_COUNTERS_H
#define CLIENTS_LIBPOET_HEAP_HEAP_COUNTERS_H

#include "base/likely.h"
#include "clients/libpoet/heap/heap_blocks.h"

#pragma GCC visibility push(hidden)

static inline void *heap_counter_part(void *heap, size_t at) { return (char *)heap + at; }

static inline uint64_t heap_counter_hash(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static inline uint64_t heap_counter_value(const _Atomic uint64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_relaxed);
}

/* Adds to a counter of the calling thread, which no other thread writes: with one instruction,
 * where there is one, so that a signal handler never finds it half done. */
static inline void heap_counter_add_own(_Atomic uint64_t *figure, uint64_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("addq %1, %0" : "+m"(*figure) : "er"(n) : "cc");
#else
    atomic_store_explicit(figure, value(figure) + n, memory_order_relaxed);
#endif
}

static inline void heap_counter_add_shared(_Atomic uint64_t *figure, uint64_t n)
{
    atomic_fetch_add_explicit(figure, n, memory_order_relaxed);
}

static inline void heap_counter_add(bool own, _Atomic uint64_t *figure, uint64_t n)
{
    if (LIKELY(own))
        heap_counter_add_own(figure, n);
    else
        heap_counter_add_shared(figure, n);
}

static inline struct heap_sum *heap_counter_sum(void *heap, uint32_t i)
{
    return (struct heap_sum *)heap_counter_part(heap, HEAP_SUMS_AT) + i % HEAP_SUMS;
}

/* Returns whether only this thread writes the sum. */
static inline bool heap_counter_is_own(const struct heap_sum *sum, uint32_t thread)
{
    return thread && sum->thread == thread;
}

/* Returns an unused number, which the caller owns from now on; 0: there are no more. */
uint32_t heap_counter_new_number(_Atomic uint32_t *count, uint32_t most);
/* Returns the number of the sum of a thread with a stack, created if needed; 0: there are no
 * more. */
uint32_t heap_counter_find_sum(void *heap, uint32_t node, uint32_t thread);

/* ---- current and maximum size ---- */

struct heap_thread *heap_size_new_record(void *heap); /* Returns a new record, or the first. */
void heap_size_report(struct heap_head *head, int64_t now, int64_t most, uint64_t most_ns);
void heap_size_report_all(struct heap_head *head, struct heap_thread *thread);

/* The first record is shared by all threads that got none of their own: each of their changes is
 * reported immediately. */
static inline void heap_size_changed(void *heap, struct heap_thread_cache *mine, int64_t blocks,
                                     int64_t bytes, uint64_t now_ns)
{
    struct heap_head *head = heap;
    if (UNLIKELY(!mine->record))
        mine->record = heap_size_new_record(heap);
    struct heap_thread *t = mine->record;
    if (UNLIKELY(t == heap_counter_part(heap, HEAP_THREADS_AT))) {
        atomic_fetch_add_explicit(&t->blocks, blocks, memory_order_relaxed);
        heap_size_report(head, bytes, bytes > 0 ? bytes : 0, now_ns);
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
    if (UNLIKELY(now >= limit || now <= -limit))
        heap_size_report_all(head, t);
}

#pragma GCC visibility pop
#endif
