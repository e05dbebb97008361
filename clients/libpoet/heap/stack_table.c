/* Table of stacks and sums, found or created. */
#include "clients/libpoet/heap/heap_counters.h"

static struct heap_node *stack_table_get_node(void *heap, uint32_t i)
{
    return (struct heap_node *)heap_counter_part(heap, HEAP_NODES_AT) + i;
}

uint32_t stack_table_new_number(_Atomic uint32_t *count, uint32_t most)
{
    uint32_t is = atomic_load(count);
    while (is < most && !atomic_compare_exchange_weak(count, &is, is + 1))
        ;
    return is < most ? is : 0;
}

/* Lock-free: a thread that finds that another one was faster at a place continues behind it. */
uint32_t stack_table_find_node(void *heap, uint32_t parent, uint64_t site)
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
            new = new ? new : stack_table_new_number(&head->nodes, HEAP_NODES);
            if (!new)
                return HEAP_NODE_OTHER;
            stack_table_get_node(heap, new)->site = site;
            stack_table_get_node(heap, new)->parent = parent;
            if (atomic_compare_exchange_strong(at, &is, new))
                return new;
        }
        const struct heap_node *node = stack_table_get_node(heap, is % HEAP_NODES);
        if (node->site == site && node->parent == parent)
            return is;
    }
}

__attribute__((noinline)) uint32_t stack_table_find_sum(void *heap, uint32_t node, uint32_t thread)
{
    struct heap_head *head = heap;
    _Atomic uint32_t *index = heap_counter_part(heap, HEAP_INDEX_AT);
    uint64_t i = heap_counter_hash(node ^ (uint64_t)thread << 32) >> 7;
    for (uint32_t new = 0;; i++) {
        _Atomic uint32_t *at = &index[i % HEAP_INDEX];
        uint32_t is = atomic_load_explicit(at, memory_order_acquire);
        if (!is) {
            new = new ? new : stack_table_new_number(&head->sums, HEAP_SUMS);
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
