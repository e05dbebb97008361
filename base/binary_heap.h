/* A binary min-heap. The order in which equal keys are removed is unspecified, but depends only on
 * the calls before. Inline, because searches spend their time in it.
 *
 * binary_heap_sift_up and binary_heap_remove_top work on an array of the caller; binary_heap_push
 * and binary_heap_pop on an array that grows and that binary_heap_free frees. A zeroed heap is
 * empty. */
#ifndef BASE_BINARY_HEAP_H
#define BASE_BINARY_HEAP_H

#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>

struct binary_heap_item {
    uint64_t key;
    uint32_t value;
};

struct binary_heap {
    struct binary_heap_item *items; /* the first has the least key */
    size_t count, room;
};

/* Inserts into an array of `count` items with capacity for one more. */
static inline void binary_heap_sift_up(struct binary_heap_item *items, size_t count,
                                       struct binary_heap_item item)
{
    size_t i = count;
    for (; i && items[(i - 1) / 2].key > item.key; i = (i - 1) / 2)
        items[i] = items[(i - 1) / 2];
    items[i] = item;
}

/* Removes the least item from an array of `count` items, at least one; count - 1 remain. */
static inline struct binary_heap_item binary_heap_remove_top(struct binary_heap_item *items,
                                                             size_t count)
{
    struct binary_heap_item top = items[0], last = items[--count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && items[child + 1].key < items[child].key)
            child++;
        if (items[child].key >= last.key)
            break;
        items[i] = items[child];
    }
    items[i] = last;
    return top;
}

static inline void binary_heap_push(struct binary_heap *heap, uint64_t key, uint32_t value)
{
    heap->items = array_reserve(heap->items, &heap->room, heap->count + 1, sizeof *heap->items);
    binary_heap_sift_up(heap->items, heap->count++, (struct binary_heap_item){key, value});
}

/* The heap must not be empty. */
static inline struct binary_heap_item binary_heap_pop(struct binary_heap *heap)
{
    return binary_heap_remove_top(heap->items, heap->count--);
}

static inline void binary_heap_free(struct binary_heap *heap)
{
    free(heap->items);
    *heap = (struct binary_heap){0};
}

#endif
