#include "server/timing/scope_blocks.h"

#include "base/alloc.h"
#include "server/timing/call_profile.h"

#include <stdlib.h>

/* ---- times of code segments ---- */

void scope_block_times_add(struct scope_block_times *t, uint32_t step, uint64_t ns)
{
    if (step < t->count)
        t->ns[step] += ns;
}

/* Returns the context that executes a code segment: number 2 c follows the begin of context c,
 * number 2 c + 1 its end, in the caller. */
static uint32_t context_of(const struct scope_block_thread *t, uint32_t step)
{
    uint32_t c = step / 2;
    return step % 2 ? t->is->items[c].sums.is.parent : c;
}

static void scope_blocks_add_passage(struct scope_block_times *t, uint32_t next, uint64_t ns)
{
    struct block_passage *passage =
        MAP_ITEM(&t->index, t->step, next, t->passages, t->passage_count, t->passage_room,
                 (struct block_passage){.step = t->step, .next = next});
    passage->times++;
    passage->ns += ns;
}

/* Adds a passage: the call, or the end of the scope, that followed the current code segment.  A
 * record that does not fit to it adds none. */
static void add_passage(struct scope_block_times *t, const struct call_record *e, uint64_t ns)
{
    const struct scope_block_thread *of = t->thread;
    if (!of || t->step >= t->count || e->context >= of->count)
        return;
    uint32_t in = context_of(of, t->step);
    if (of->scopes[in] != t->scope)
        return;
    if (e->is == CALL_RECORD_ENDED && e->context == in)
        scope_blocks_add_passage(t, BLOCKS_END, ns);
    else if (e->is == CALL_RECORD_BEGINS && of->is->items[e->context].sums.is.parent == in)
        scope_blocks_add_passage(t, e->context, ns);
}

void scope_block_times_entry(struct scope_block_times *t, const struct call_record *e)
{
    uint64_t ns = e->time_ns > t->since_ns && t->since_ns ? e->time_ns - t->since_ns : 0;
    scope_block_times_add(t, t->step, ns);
    add_passage(t, e, ns);
    t->since_ns = e->time_ns;
    t->step = e->is == CALL_RECORD_BEGINS  ? 2 * e->context
              : e->is == CALL_RECORD_ENDED ? 2 * e->context + 1
                                           : UINT32_MAX;
}

void scope_block_times_free(struct scope_block_times *t)
{
    free(t->ns);
    free(t->passages);
    map_free(&t->index);
    *t = (struct scope_block_times){0};
}

/* ---- blocks ---- */

/* Returns the number of each context's path, which is the chain of scopes that called each
 * other. */
static uint32_t *paths_of(struct scope_blocks *b, const struct scope_block_thread *t)
{
    uint32_t *paths = xcalloc(t->count + 1, sizeof *paths);
    for (uint32_t i = 1; i < t->count && !b->together; i++) {
        uint32_t above = paths[t->is->items[i].sums.is.parent];
        uintptr_t known = (uintptr_t)map_get(&b->paths, above, t->scopes[i]);
        if (!known)
            map_put(&b->paths, above, t->scopes[i], (void *)(known = ++b->path_count));
        paths[i] = (uint32_t)known;
    }
    return paths;
}

static struct scope_block *block_of(struct scope_blocks *b, uint32_t path, uint64_t after,
                                    uint64_t until)
{
    uintptr_t group = (uintptr_t)map_get(&b->groups, path, after);
    if (!group)
        map_put(&b->groups, path, after, (void *)(group = ++b->group_count));
    return MAP_ITEM(&b->index, group, until, b->items, b->count, b->room,
                    (struct scope_block){.path = path, .after = after, .until = until});
}

/* Adds counts and time to a block, which is made on first use. */
static void scope_blocks_add_block(struct scope_blocks *b, const struct scope_block_thread *t,
                                   struct scope_block block)
{
    struct scope_block *to = block_of(b, block.path, block.after, block.until);
    if (!to->times && !to->ns) {
        to->parent = b->together ? 0 : block.parent;
        to->thread = to->next_thread = t->number;
        to->called = block.called;
        to->next = block.next;
    }
    to->times += block.times;
    to->ns += block.ns;
    b->unassigned_ns -= block.ns;
}

static int by_step(const void *a, const void *b)
{
    const struct block_passage *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x->next < y->next ? -1 : x->next > y->next;
}

/* Splits a passage off as a block of its own, if both of its ends are known. */
static void add_passed(struct scope_blocks *b, const struct scope_block_thread *t,
                       struct scope_block *block, const struct block_passage *p)
{
    struct scope_block part = *block;
    bool ends = p->next == BLOCKS_END;
    if (block->after == BLOCKS_NO_SITE || (!ends && !t->sites[p->next]))
        return;
    part.times = p->times < block->times ? p->times : block->times;
    part.ns = (int64_t)p->ns;
    part.next = ends ? 0 : p->next;
    part.until = ends ? 0 : t->sites[p->next];
    block->times -= part.times;
    block->ns -= part.ns;
    scope_blocks_add_block(b, t, part);
}

/* Adds the passages of a code segment, and the rest as a block with an unknown end.  Code segments
 * must be added in their order. */
static void add_step(struct scope_blocks *b, const struct scope_block_thread *t,
                     struct scope_block block, uint32_t step, struct scope_block_times *times)
{
    block.ns = (int64_t)times->ns[step];
    block.until = BLOCKS_ANY;
    for (; times->added < times->passage_count; times->added++) {
        const struct block_passage *p = &times->passages[times->added];
        if (p->step > step)
            break;
        if (p->step == step)
            add_passed(b, t, &block, p);
    }
    if (block.times || block.ns)
        scope_blocks_add_block(b, t, block);
}

static void add_begin(struct scope_blocks *b, const struct scope_block_thread *t, uint32_t i,
                      uint32_t path, struct scope_block_times *times)
{
    struct call_sums sums = call_profile_for_context(t->is, &t->is->items[i]);
    uint32_t caller = t->scopes[t->is->items[i].sums.is.parent];
    b->calls += sums.calls;
    b->self_ns += sums.self_ns;
    b->unassigned_ns += sums.self_ns;
    b->timed |= sums.timed;
    struct scope_block begin = {.path = path, .parent = caller, .times = sums.calls};
    add_step(b, t, begin, 2 * i, times);
}

void scope_blocks_add(struct scope_blocks *b, const struct scope_block_thread *t,
                      struct scope_block_times *times)
{
    uint32_t *paths = paths_of(b, t);
    if (times->passage_count)
        qsort(times->passages, times->passage_count, sizeof *times->passages, by_step);
    times->added = 0;
    for (uint32_t i = 1; i < t->count; i++) {
        const struct snapshot_context *c = &t->is->items[i].sums;
        uint32_t up = c->is.parent, above = t->is->items[up].sums.is.parent;
        if (t->scopes[i] == b->scope)
            add_begin(b, t, i, paths[i], times);
        if (up && t->scopes[up] == b->scope && c->is.scope != SCOPE_COUNTED)
            add_step(b, t,
                     (struct scope_block){.path = paths[up],
                                          .parent = t->scopes[above],
                                          .after = t->sites[i] ? t->sites[i] : BLOCKS_NO_SITE,
                                          .times = c->ended,
                                          .called = i},
                     2 * i + 1, times);
    }
    free(paths);
}

/* ---- ends inferred from the order of the code ---- */

static int by_place(const void *a, const void *b)
{
    const struct scope_block *x = a, *y = b;
    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    if (x->after != y->after)
        return x->after < y->after ? -1 : 1;
    /* the scope's end (0 - 1 wraps) comes last, after BLOCKS_ANY */
    return x->until - 1 < y->until - 1 ? -1 : x->until != y->until;
}

/* Infers the ends of blocks [from, to) of a path, in the order of the code: a block that is
 * executed as often as the scope ends where the next one begins, if that is executed as often,
 * too. */
static void end_in_order(struct scope_blocks *b, size_t from, size_t to)
{
    uint64_t each = b->items[from].times;
    for (size_t i = from; i < to; i++) {
        struct scope_block *block = &b->items[i], *next = i + 1 < to ? block + 1 : NULL;
        if (block->times != each || (next && next->times != each))
            continue;
        b->guessed = true;
        block->until = next ? next->after : 0;
        block->next_thread = next ? next->thread : block->thread;
        block->next = next ? next->called : 0;
    }
}

static bool has_no_ends(const struct scope_blocks *b, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (b->items[i].until != BLOCKS_ANY || b->items[i].after == BLOCKS_NO_SITE)
            return false;
    return b->items[from].after == 0;
}

void scope_blocks_sort(struct scope_blocks *b)
{
    if (b->count)
        qsort(b->items, b->count, sizeof *b->items, by_place);
    for (size_t from = 0, to; from < b->count; from = to) {
        for (to = from + 1; to < b->count && b->items[to].path == b->items[from].path; to++)
            ;
        if (has_no_ends(b, from, to))
            end_in_order(b, from, to);
    }
}

void scope_blocks_free(struct scope_blocks *b)
{
    free(b->items);
    map_free(&b->paths);
    map_free(&b->groups);
    map_free(&b->index);
    *b = (struct scope_blocks){0};
}
