#include "server/run/heap.h"

#include "memory/map.h"
#include "memory/memory.h"

#include <stdlib.h>

enum kind { PROCESS, TAKEN, WRONG };

struct heap {
    struct heap_process *processes;
    size_t process_count, process_room;
    struct heap_taken *taken;
    size_t taken_count, taken_room;
    struct heap_wrong *wrong;
    size_t wrong_count, wrong_room;
    struct map at; /* process, kind and number -> 1 + index */
};

void heap_free(struct heap *heap)
{
    if (!heap)
        return;
    free(heap->processes);
    free(heap->taken);
    free(heap->wrong);
    map_free(&heap->at);
    free(heap);
}

static struct heap *heap_of(struct run *run)
{
    if (!run->heap)
        run->heap = memory_zeroed(1, sizeof *run->heap);
    return run->heap;
}

/* Its index; `count` of those that there are: a new one. */
static size_t index_of(struct heap *heap, uint32_t process, enum kind kind, uint32_t number,
                       size_t count)
{
    uint64_t what = (uint64_t)kind << 32 | number;
    uintptr_t known = (uintptr_t)map_get(&heap->at, process, what);
    if (known)
        return known - 1;
    map_put(&heap->at, process, what, (void *)(uintptr_t)(count + 1));
    return count;
}

void heap_told(struct run *run, const struct heap_process *told)
{
    struct heap *h = heap_of(run);
    size_t i = index_of(h, told->process, PROCESS, 0, h->process_count);
    if (i == h->process_count)
        h->processes =
            grow(h->processes, &h->process_room, ++h->process_count, sizeof *h->processes);
    h->processes[i] = *told;
}

bool heap_add(struct run *run, uint32_t number, const struct heap_taken *taken)
{
    if (number >= HEAP_SUMS)
        return false;
    struct heap *h = heap_of(run);
    size_t i = index_of(h, taken->process, TAKEN, number, h->taken_count);
    if (i == h->taken_count)
        h->taken = grow(h->taken, &h->taken_room, ++h->taken_count, sizeof *h->taken);
    h->taken[i] = *taken;
    return true;
}

bool heap_add_wrong(struct run *run, uint32_t number, const struct heap_wrong *wrong)
{
    if (number >= HEAP_BAD)
        return false;
    struct heap *h = heap_of(run);
    size_t i = index_of(h, wrong->process, WRONG, number, h->wrong_count);
    if (i == h->wrong_count)
        h->wrong = grow(h->wrong, &h->wrong_room, ++h->wrong_count, sizeof *h->wrong);
    h->wrong[i] = *wrong;
    return true;
}

size_t heap_process_count(const struct run *run)
{
    return run->heap ? run->heap->process_count : 0;
}

const struct heap_process *heap_process_at(const struct run *run, size_t i)
{
    return &run->heap->processes[i];
}

size_t heap_count(const struct run *run) { return run->heap ? run->heap->taken_count : 0; }

const struct heap_taken *heap_at(const struct run *run, size_t i) { return &run->heap->taken[i]; }

size_t heap_wrong_count(const struct run *run) { return run->heap ? run->heap->wrong_count : 0; }

const struct heap_wrong *heap_wrong_at(const struct run *run, size_t i)
{
    return &run->heap->wrong[i];
}
