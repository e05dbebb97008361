#include "server/run/heap_totals.h"

#include "base/map.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum heap_record_kind { PROCESS, TAKEN, WRONG, NODES };

struct heap_stack_node {
    uint64_t site;
    uint32_t parent;
};

/* Call stack nodes of a process, by their numbers. */
struct heap_stack_nodes {
    struct heap_stack_node *items;
    size_t count, room;
};

struct heap_totals {
    struct heap_process *processes;
    size_t process_count, process_room;
    struct heap_allocated *taken;
    size_t taken_count, taken_room;
    struct heap_invalid_free *wrong;
    size_t wrong_count, wrong_room;
    struct heap_stack_nodes *nodes;
    size_t nodes_count, nodes_room;
    struct heap_unfreed *blocks;
    size_t block_count, block_room;
    bool wants_blocks;
    uint64_t blocks_came;
    struct map at; /* process, kind and number -> 1 + index */
};

static void heap_totals_free(void *state)
{
    struct heap_totals *heap = state;
    free(heap->processes);
    free(heap->taken);
    free(heap->wrong);
    for (size_t i = 0; i < heap->nodes_count; i++)
        free(heap->nodes[i].items);
    free(heap->nodes);
    free(heap->blocks);
    map_free(&heap->at);
    free(heap);
}

static const struct heap_totals *heap_totals_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_HEAP_TOTALS);
}

static struct heap_totals *heap_of(struct run *run)
{
    return run_addon_make(&run->addons, RUN_ADDON_HEAP_TOTALS, sizeof(struct heap_totals),
                          heap_totals_free);
}

/* Returns the index of a record; a new one gets the index `count`, the number of records so far. */
static size_t index_of(struct heap_totals *heap, uint32_t process, enum heap_record_kind kind,
                       uint32_t number, size_t count)
{
    uint64_t what = (uint64_t)kind << 32 | number;
    uintptr_t known = (uintptr_t)map_get(&heap->at, process, what);
    if (known)
        return known - 1;
    map_put(&heap->at, process, what, (void *)(uintptr_t)(count + 1));
    return count;
}

void heap_totals_update(struct run *run, const struct heap_process *report)
{
    struct heap_totals *h = heap_of(run);
    struct heap_process now = *report;
    size_t i = index_of(h, report->process, PROCESS, 0, h->process_count);
    if (i == h->process_count)
        h->processes =
            array_reserve(h->processes, &h->process_room, ++h->process_count, sizeof *h->processes);
    else {
        now.has_blocks = h->processes[i].has_blocks;
        now.blocks_ns = h->processes[i].blocks_ns;
        now.blocks_left = h->processes[i].blocks_left;
    }
    h->processes[i] = now;
}

bool heap_totals_add(struct run *run, uint32_t number, const struct heap_allocated *taken)
{
    if (number >= HEAP_SUMS)
        return false;
    struct heap_totals *h = heap_of(run);
    size_t i = index_of(h, taken->process, TAKEN, number, h->taken_count);
    if (i == h->taken_count)
        h->taken = array_reserve(h->taken, &h->taken_room, ++h->taken_count, sizeof *h->taken);
    h->taken[i] = *taken;
    return true;
}

bool heap_totals_add_wrong(struct run *run, uint32_t number, const struct heap_invalid_free *wrong)
{
    if (number >= HEAP_BAD)
        return false;
    struct heap_totals *h = heap_of(run);
    size_t i = index_of(h, wrong->process, WRONG, number, h->wrong_count);
    if (i == h->wrong_count)
        h->wrong = array_reserve(h->wrong, &h->wrong_room, ++h->wrong_count, sizeof *h->wrong);
    h->wrong[i] = *wrong;
    return true;
}

bool heap_totals_add_node(struct run *run, uint32_t process, uint32_t number, uint64_t site,
                          uint32_t parent)
{
    struct heap_totals *h = heap_of(run);
    if (number < HEAP_NODE_FIRST || number >= HEAP_NODES || parent >= number)
        return false;
    size_t i = index_of(h, process, NODES, 0, h->nodes_count);
    if (i == h->nodes_count) {
        h->nodes = array_reserve(h->nodes, &h->nodes_room, ++h->nodes_count, sizeof *h->nodes);
        h->nodes[i] = (struct heap_stack_nodes){0};
    }
    struct heap_stack_nodes *n = &h->nodes[i];
    if (number >= n->count) {
        n->items = array_reserve(n->items, &n->room, number + 1, sizeof *n->items);
        memset(n->items + n->count, 0, (number + 1 - n->count) * sizeof *n->items);
        n->count = number + 1;
    }
    n->items[number] = (struct heap_stack_node){site, parent};
    return true;
}

void heap_totals_begin_blocks(struct run *run, uint32_t process, int64_t at_ns, uint64_t left)
{
    struct heap_totals *h = heap_of(run);
    size_t kept = 0;
    for (size_t i = 0; i < h->block_count; i++)
        if (h->blocks[i].process != process)
            h->blocks[kept++] = h->blocks[i];
    h->block_count = kept;
    h->blocks_came++;
    uintptr_t known = (uintptr_t)map_get(&h->at, process, (uint64_t)PROCESS << 32);
    if (!known)
        return;
    h->processes[known - 1].has_blocks = true;
    h->processes[known - 1].blocks_ns = at_ns;
    h->processes[known - 1].blocks_left = left;
}

#define BLOCKS_KEPT (16 * (size_t)HEAP_BLOCKS_REPORTED) /* maximum for all processes */

void heap_totals_add_block(struct run *run, const struct heap_unfreed *block)
{
    struct heap_totals *h = heap_of(run);
    uintptr_t process = (uintptr_t)map_get(&h->at, block->process, (uint64_t)PROCESS << 32);
    if (h->block_count >= BLOCKS_KEPT) {
        if (process)
            h->processes[process - 1].blocks_left++;
        return;
    }
    h->blocks = array_reserve(h->blocks, &h->block_room, h->block_count + 1, sizeof *h->blocks);
    h->blocks[h->block_count++] = *block;
}

static uintptr_t heap_totals_find(const struct run *run, uint32_t process,
                                  enum heap_record_kind kind, uint32_t number)
{
    const struct heap_totals *all = heap_totals_of(run);
    return all ? (uintptr_t)map_get(&all->at, process, (uint64_t)kind << 32 | number) : 0;
}

const struct heap_process *heap_totals_process_for(const struct run *run, uint32_t process)
{
    uintptr_t i = heap_totals_find(run, process, PROCESS, 0);
    return i ? &heap_totals_of(run)->processes[i - 1] : NULL;
}

const struct heap_allocated *heap_totals_find_numbered(const struct run *run, uint32_t process,
                                                       uint32_t number)
{
    uintptr_t i = heap_totals_find(run, process, TAKEN, number);
    return i ? &heap_totals_of(run)->taken[i - 1] : NULL;
}

uint64_t heap_totals_site(const struct run *run, uint32_t process, uint32_t node, uint32_t *parent)
{
    uintptr_t i = heap_totals_find(run, process, NODES, 0);
    const struct heap_stack_nodes *n = i ? &heap_totals_of(run)->nodes[i - 1] : NULL;
    *parent = 0;
    if (!n || node < HEAP_NODE_FIRST || node >= n->count || !n->items[node].parent)
        return 0;
    *parent = n->items[node].parent;
    return n->items[node].site;
}

size_t heap_totals_block_count(const struct run *run)
{
    const struct heap_totals *all = heap_totals_of(run);
    return all ? all->block_count : 0;
}

const struct heap_unfreed *heap_totals_block_at(const struct run *run, size_t i)
{
    return &heap_totals_of(run)->blocks[i];
}

bool *heap_totals_wants_blocks(struct run *run) { return &heap_of(run)->wants_blocks; }

void heap_totals_no_blocks(struct run *run)
{
    heap_of(run)->blocks_came++;
    heap_of(run)->wants_blocks = false;
}

uint64_t heap_totals_blocks_came(const struct run *run)
{
    const struct heap_totals *all = heap_totals_of(run);
    return all ? all->blocks_came : 0;
}

size_t heap_totals_process_count(const struct run *run)
{
    const struct heap_totals *all = heap_totals_of(run);
    return all ? all->process_count : 0;
}

const struct heap_process *heap_totals_process_at(const struct run *run, size_t i)
{
    return &heap_totals_of(run)->processes[i];
}

size_t heap_totals_count(const struct run *run)
{
    const struct heap_totals *all = heap_totals_of(run);
    return all ? all->taken_count : 0;
}

const struct heap_allocated *heap_totals_at(const struct run *run, size_t i)
{
    return &heap_totals_of(run)->taken[i];
}

size_t heap_totals_wrong_count(const struct run *run)
{
    const struct heap_totals *all = heap_totals_of(run);
    return all ? all->wrong_count : 0;
}

const struct heap_invalid_free *heap_totals_wrong_at(const struct run *run, size_t i)
{
    return &heap_totals_of(run)->wrong[i];
}
