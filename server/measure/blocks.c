#include "server/measure/blocks.h"

#include "memory/memory.h"
#include "server/measure/calls.h"

#include <stdlib.h>

/* ---- what each step took ---- */

void block_times_add(struct block_times *t, uint32_t step, uint64_t ns)
{
    if (step < t->count)
        t->ns[step] += ns;
}

void block_times_entry(struct block_times *t, const struct entry *e)
{
    if (e->time_ns > t->since_ns && t->since_ns)
        block_times_add(t, t->step, e->time_ns - t->since_ns);
    t->since_ns = e->time_ns;
    t->step = e->is == ENTRY_BEGINS  ? 2 * e->context
              : e->is == ENTRY_ENDED ? 2 * e->context + 1
                                     : UINT32_MAX;
}

/* ---- blocks ---- */

/* The path of a context, as a number: scopes that were called one by the other. */
static uint32_t *paths_of(struct blocks *b, const struct block_thread *t)
{
    uint32_t *paths = memory_zeroed(t->count + 1, sizeof *paths);
    for (uint32_t i = 1; i < t->count && !b->together; i++) {
        uint32_t above = paths[t->is->items[i].sums.is.parent];
        uintptr_t known = (uintptr_t)map_get(&b->paths, above, t->scopes[i]);
        if (!known)
            map_put(&b->paths, above, t->scopes[i], (void *)(known = ++b->path_count));
        paths[i] = (uint32_t)known;
    }
    return paths;
}

static struct block *block_of(struct blocks *b, uint32_t path, uint64_t after)
{
    uintptr_t known = (uintptr_t)map_get(&b->index, path, after);
    if (known)
        return &b->items[known - 1];
    b->items = grow(b->items, &b->room, b->count + 1, sizeof *b->items);
    b->items[b->count++] = (struct block){.path = path, .after = after};
    map_put(&b->index, path, after, (void *)(uintptr_t)b->count);
    return &b->items[b->count - 1];
}

/* What a thread did in a block; `called` is the context whose call it comes after, 0 none. */
static void add(struct blocks *b, const struct block_thread *t, struct block block, uint32_t called,
                uint64_t ns)
{
    struct block *to = block_of(b, block.path, block.after);
    if (!to->times && !to->called) {
        to->parent = b->together ? 0 : block.parent;
        to->thread = t->number;
        to->called = called;
    }
    to->times += block.times;
    to->ns += (int64_t)ns;
    b->untold_ns -= (int64_t)ns;
}

static void add_begin(struct blocks *b, const struct block_thread *t, uint32_t i, uint32_t path,
                      uint64_t ns)
{
    struct call_sums sums = calls_of_context(t->is, &t->is->items[i]);
    uint32_t caller = t->scopes[t->is->items[i].sums.is.parent];
    b->calls += sums.calls;
    b->self_ns += sums.self_ns;
    b->untold_ns += sums.self_ns;
    b->timed |= sums.timed;
    add(b, t, (struct block){.path = path, .parent = caller, .times = sums.calls}, 0, ns);
}

void blocks_add(struct blocks *b, const struct block_thread *t, const struct block_times *times)
{
    uint32_t *paths = paths_of(b, t);
    for (uint32_t i = 1; i < t->count; i++) {
        const struct sums_context *c = &t->is->items[i].sums;
        uint32_t up = c->is.parent, above = t->is->items[up].sums.is.parent;
        if (t->scopes[i] == b->scope)
            add_begin(b, t, i, paths[i], times->ns[2 * i]);
        if (up && t->scopes[up] == b->scope && c->is.scope != SCOPE_COUNTED)
            add(b, t,
                (struct block){.path = paths[up],
                               .parent = t->scopes[above],
                               .after = t->sites[i] ? t->sites[i] : BLOCKS_NO_SITE,
                               .times = c->ended},
                i, times->ns[2 * i + 1]);
    }
    free(paths);
}

/* ---- in the order of the code ---- */

static int by_place(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    return x->after < y->after ? -1 : x->after > y->after;
}

void blocks_sort(struct blocks *b)
{
    if (b->count)
        qsort(b->items, b->count, sizeof *b->items, by_place);
    for (size_t i = 0; i < b->count; i++) {
        struct block *block = &b->items[i], *next = block + 1;
        if (i + 1 == b->count || next->path != block->path || next->after == BLOCKS_NO_SITE ||
            block->after == BLOCKS_NO_SITE)
            continue;
        block->until = next->after;
        block->next_thread = next->thread;
        block->next = next->called;
    }
}

void blocks_free(struct blocks *b)
{
    free(b->items);
    map_free(&b->paths);
    map_free(&b->index);
    *b = (struct blocks){0};
}
