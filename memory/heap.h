/* A binary heap: what has the least key comes out first.  Of equal keys any may, but always the same one after the same
 * calls.  Inline, for searches spend their time in it.
 *
 * heap_put and heap_take work on an array of the caller's, heap_push and heap_pop on one that grows, of which
 * heap_free gives the memory back.  A zeroed heap is empty. */
#ifndef MEMORY_HEAP_H
#define MEMORY_HEAP_H

#include "memory/memory.h"

#include <stdint.h>
#include <stdlib.h>

struct heap_item {
    uint64_t key;
    uint32_t value;
};

struct heap {
    struct heap_item *items; /* the first has the least key */
    size_t count, room;
};

/* Into an array of `count`, which has room for one more. */
static inline void heap_put(struct heap_item *items, size_t count, struct heap_item item)
{
    size_t i = count;
    for (; i && items[(i - 1) / 2].key > item.key; i = (i - 1) / 2)
        items[i] = items[(i - 1) / 2];
    items[i] = item;
}

/* Out of an array of `count`, at least one; one less is in it then. */
static inline struct heap_item heap_take(struct heap_item *items, size_t count)
{
    struct heap_item top = items[0], last = items[--count];
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

static inline void heap_push(struct heap *heap, uint64_t key, uint32_t value)
{
    heap->items = grow(heap->items, &heap->room, heap->count + 1, sizeof *heap->items);
    heap_put(heap->items, heap->count++, (struct heap_item){key, value});
}

/* Call only if there is one. */
static inline struct heap_item heap_pop(struct heap *heap)
{
    return heap_take(heap->items, heap->count--);
}

static inline void heap_free(struct heap *heap)
{
    free(heap->items);
    *heap = (struct heap){0};
}

#endif
