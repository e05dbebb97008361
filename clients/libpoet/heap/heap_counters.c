/* Stacks and sums of a heap, found or created, and its current and maximum size. */
#include "clients/libpoet/heap/heap_counters.h"

static struct heap_node *heap_counter_node(void *heap, uint32_t i)
{
    return (struct heap_node *)heap_counter_part(heap, HEAP_NODES_AT) + i;
}

uint32_t heap_counter_new_number(_Atomic uint32_t *count, uint32_t most)
{
    uint32_t is = atomic_load(count);
    while (is < most && !atomic_compare_exchange_weak(count, &is, is + 1))
        ;
    return is < most ? is : 0;
}

/* Lock-free: a thread that finds that another one was faster at a place continues behind it. */
uint32_t heap_counter_find_node(void *heap, uint32_t parent, uint64_t site)
{
    struct heap_head *head = heap;
    _Atomic uint32_t *index = heap_counter_part(heap, HEAP_NODE_INDEX_AT);
    uint64_t i = heap_counter_hash(site ^ (uint64_t)parent << 40) >> 7;
    if (parent == HEAP_NODE_OTHER)
        return parent;
    for (uint32_t new = 0;; i++) {
        _Atomic uint32_t *at = &index[i % HEAP_NODE_INDEX]; /* not all of them are ever in use */
        uint32_t is = atomic_load_explicit(at, memory_order_acquire);
        if (!is) {
            new = new ? new : heap_counter_new_number(&head->nodes, HEAP_NODES);
            if (!new)
                return HEAP_NODE_OTHER;
            heap_counter_node(heap, new)->site = site;
            heap_counter_node(heap, new)->parent = parent;
            if (atomic_compare_exchange_strong(at, &is, new))
                return new;
        }
        const struct heap_node *node = heap_counter_node(heap, is % HEAP_NODES);
        if (node->site == site && node->parent == parent)
            return is;
    }
}

__attribute__((noinline)) uint32_t heap_counter_find_sum(void *heap, uint32_t node, uint32_t thread)
{
    struct heap_head *head = heap;
    _Atomic uint32_t *index = heap_counter_part(heap, HEAP_INDEX_AT);
    uint64_t i = heap_counter_hash(node ^ (uint64_t)thread << 32) >> 7;
    for (uint32_t new = 0;; i++) {
        _Atomic uint32_t *at = &index[i % HEAP_INDEX];
        uint32_t is = atomic_load_explicit(at, memory_order_acquire);
        if (!is) {
            new = new ? new : heap_counter_new_number(&head->sums, HEAP_SUMS);
            if (!new)
                return 0;
            heap_counter_sum(heap, new)->node = node;
            heap_counter_sum(heap, new)->thread = thread;
            if (atomic_compare_exchange_strong(at, &is, new))
                return new;
        }
        if (heap_counter_sum(heap, is)->node == node &&
            heap_counter_sum(heap, is)->thread == thread)
            return is;
    }
}

/* ---- current and maximum size ---- */

struct heap_thread *heap_size_new_record(void *heap)
{
    struct heap_head *head = heap;
    uint32_t is = heap_counter_new_number(&head->threads, HEAP_THREADS);
    return (struct heap_thread *)heap_counter_part(heap, HEAP_THREADS_AT) + is;
}

/* The size is `now` more than was reported, and was `most` more at `most_ns`. */
__attribute__((noinline)) void heap_size_report(struct heap_head *head, int64_t now, int64_t most,
                                                uint64_t most_ns)
{
    most += atomic_fetch_add_explicit(&head->live, now, memory_order_relaxed);
    int64_t is = atomic_load_explicit(&head->most, memory_order_relaxed);
    while (most > is && !atomic_compare_exchange_weak(&head->most, &is, most))
        ;
    if (most > is)
        atomic_store_explicit(&head->most_ns, most_ns, memory_order_relaxed);
}

__attribute__((noinline)) void heap_size_report_all(struct heap_head *head, struct heap_thread *t)
{
    int64_t now = atomic_load_explicit(&t->live, memory_order_relaxed);
    atomic_store_explicit(&t->live, 0, memory_order_relaxed);
    heap_size_report(head, now, atomic_exchange_explicit(&t->most, 0, memory_order_relaxed),
                     atomic_load_explicit(&t->most_ns, memory_order_relaxed));
}
