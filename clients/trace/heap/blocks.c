#define _GNU_SOURCE
#include "clients/trace/heap/blocks.h"

#include <sched.h>
#include <time.h>

static void *part(void *heap, size_t at) { return (char *)heap + at; }

static void add(_Atomic uint64_t *figure, uint64_t n)
{
    atomic_fetch_add_explicit(figure, n, memory_order_relaxed);
}

static uint64_t mixed(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

/* ---- locks ---- */

#define SPINS 200
#define PATIENCE_NS 1000000000u /* a loaded machine lets its holder wait for long */
#define MISSES 3u /* so often one after the other, and its holder is taken to be gone */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool try(_Atomic uint32_t *l)
{
    return !atomic_load_explicit(l, memory_order_relaxed) &&
           !atomic_exchange_explicit(l, 1, memory_order_acquire);
}

static bool lock(_Atomic uint32_t *l)
{
    for (int i = 0; i < SPINS; i++)
        if (try(l))
            return true;
    for (uint64_t since = now_ns(); now_ns() - since < PATIENCE_NS; sched_yield())
        if (try(l))
            return true;
    return false;
}

static void unlock(_Atomic uint32_t *l) { atomic_store_explicit(l, 0, memory_order_release); }

static bool lock_shard(struct heap_head *head, struct heap_shard *shard)
{
    if (shard->missed < MISSES && lock(&shard->lock)) {
        shard->missed = 0;
        return true;
    }
    shard->missed++;
    add(&head->unseen, 1);
    return false;
}

/* ---- sums ---- */

void blocks_begin(void *heap)
{
    struct heap_head *head = heap;
    atomic_store(&head->sums, 1);
    head->version = HEAP_VERSION;
    head->magic = HEAP_MAGIC;
}

static struct heap_sum *sum_at(void *heap, uint32_t i)
{
    return (struct heap_sum *)part(heap, HEAP_SUMS_AT) + i;
}

/* A number that nobody has, and from now on that caller's; 0: there are no more. */
static uint32_t sum_new(void *heap, const struct heap_caller *by)
{
    struct heap_head *head = heap;
    uint32_t is = atomic_load(&head->sums);
    while (is < HEAP_SUMS && !atomic_compare_exchange_weak(&head->sums, &is, is + 1))
        ;
    if (is >= HEAP_SUMS)
        return 0;
    sum_at(heap, is)->site = by->site;
    sum_at(heap, is)->thread = by->thread;
    return is;
}

/* Without a lock: who finds that another was faster at a place goes on behind it. */
static uint32_t sum_of(void *heap, const struct heap_caller *by)
{
    _Atomic uint32_t *index = part(heap, HEAP_INDEX_AT);
    uint64_t i = mixed(by->site ^ (uint64_t)by->thread << 40) >> 7;
    for (uint32_t new = 0;; i++) {
        _Atomic uint32_t *at = &index[i % HEAP_INDEX]; /* never all of them are in use */
        uint32_t is = atomic_load_explicit(at, memory_order_acquire);
        if (!is) {
            new = new ? new : sum_new(heap, by);
            if (!new || atomic_compare_exchange_strong(at, &is, new))
                return new;
        }
        const struct heap_sum *sum = sum_at(heap, is);
        if (sum->site == by->site && sum->thread == by->thread)
            return is;
    }
}

static void sum_taken(struct heap_sum *sum, const struct heap_block *block)
{
    add(&sum->blocks, 1);
    add(&sum->usable, block->bytes + block->beyond);
    uint64_t bytes =
        atomic_fetch_add_explicit(&sum->bytes, block->bytes, memory_order_relaxed) + block->bytes;
    uint64_t freed = atomic_load_explicit(&sum->freed_bytes, memory_order_relaxed);
    uint64_t now = bytes > freed ? bytes - freed : 0;
    uint64_t most = atomic_load_explicit(&sum->most_bytes, memory_order_relaxed);
    while (now > most && !atomic_compare_exchange_weak(&sum->most_bytes, &most, now))
        ;
}

static void sum_given(struct heap_sum *sum, const struct heap_block *block, uint32_t thread)
{
    add(&sum->freed, 1);
    add(&sum->freed_bytes, block->bytes);
    add(&sum->freed_usable, block->bytes + block->beyond);
    if (thread != sum->thread) {
        add(&sum->elsewhere, 1);
        add(&sum->elsewhere_bytes, block->bytes);
    }
}

/* ---- blocks: linear probing within a shard; who goes is filled from behind ---- */

struct shard {
    struct heap_shard *head;
    struct heap_block *blocks;
    struct heap_freed *freed; /* where the address is, if it was freed lately */
    uint64_t first; /* place of an address, if it is free */
};

static uint64_t first_place(uint64_t address) { return mixed(address) >> 24 & (HEAP_SLOTS - 1); }

static struct shard shard_of(void *heap, uint64_t address)
{
    uint64_t hash = mixed(address), i = hash >> 8 & (HEAP_SHARDS - 1);
    struct heap_freed *freed = part(heap, HEAP_FREED_AT);
    struct heap_block *blocks = part(heap, HEAP_BLOCKS_AT);
    return (struct shard){
        (struct heap_shard *)part(heap, HEAP_SHARDS_AT) + i, blocks + i * HEAP_SLOTS,
        freed + i * HEAP_FREED + (hash >> 14 & (HEAP_FREED - 1)), first_place(address)};
}

/* The place of an address, or the free one where it would be. */
static uint64_t find(const struct shard *s, uint64_t address)
{
    uint64_t i = s->first;
    while (s->blocks[i].address && s->blocks[i].address != address)
        i = (i + 1) & (HEAP_SLOTS - 1);
    return i;
}

static void remove_at(const struct shard *s, uint64_t hole)
{
    for (uint64_t i = (hole + 1) & (HEAP_SLOTS - 1); s->blocks[i].address;
         i = (i + 1) & (HEAP_SLOTS - 1)) {
        uint64_t wants = first_place(s->blocks[i].address);
        if (((i - wants) & (HEAP_SLOTS - 1)) < ((i - hole) & (HEAP_SLOTS - 1)))
            continue; /* it is found without going over the hole */
        s->blocks[hole] = s->blocks[i];
        hole = i;
    }
    s->blocks[hole] = (struct heap_block){0};
    s->head->used--;
}

static void put(void *heap, struct heap_block block, uint32_t thread)
{
    struct heap_head *head = heap;
    struct shard s = shard_of(heap, block.address);
    if (!lock_shard(head, s.head))
        return;
    uint64_t i = find(&s, block.address);
    struct heap_block old = s.blocks[i];
    bool fits = old.address || s.head->used < HEAP_SLOTS / 8 * 7;
    if (s.freed->address == block.address)
        s.freed->address = 0;
    if (fits) {
        s.head->used += !old.address;
        s.blocks[i] = block;
    }
    unlock(&s.head->lock);
    if (old.address) { /* that it was given back was not seen */
        sum_given(sum_at(heap, old.sum % HEAP_SUMS), &old, thread);
        add(&head->unseen, 1);
    }
    if (fits)
        sum_taken(sum_at(heap, block.sum), &block);
    else
        add(&head->unseen, 1);
}

void blocks_taken(void *heap, const void *block, size_t bytes, size_t usable,
                  const struct heap_caller *by)
{
    uint64_t beyond = usable > bytes ? usable - bytes : 0;
    put(heap,
        (struct heap_block){.address = (uintptr_t)block,
                            .bytes = bytes,
                            .sum = sum_of(heap, by),
                            .beyond = beyond < UINT32_MAX ? (uint32_t)beyond : UINT32_MAX},
        by->thread);
}

static void bad_free(void *heap, const void *block, enum heap_fault fault, uint64_t before,
                     const struct heap_caller *by)
{
    struct heap_head *head = heap;
    struct heap_bad *bad = part(heap, HEAP_BAD_AT);
    uint32_t i = atomic_load(&head->bad);
    while (i < HEAP_BAD && !atomic_compare_exchange_weak(&head->bad, &i, i + 1))
        ;
    if (i < HEAP_BAD)
        bad[i] = (struct heap_bad){.address = (uintptr_t)block,
                                   .site = by->site,
                                   .before = before,
                                   .event = by->event,
                                   .thread = by->thread,
                                   .fault = fault};
}

/* It is not among the blocks. */
static void stranger(void *heap, const void *block, uint64_t before, const struct heap_caller *by)
{
    struct heap_head *head = heap;
    if (before)
        bad_free(heap, block, HEAP_TWICE, before, by);
    else if ((uintptr_t)block % sizeof(void *) != 0)
        bad_free(heap, block, HEAP_NO_BLOCK, 0, by);
    else
        add(&head->unknown, 1);
}

struct heap_was blocks_given(void *heap, const void *block, const struct heap_caller *by)
{
    struct heap_was was = {.known = false};
    if (!block) {
        add(&sum_at(heap, sum_of(heap, by))->nulls, 1);
        return was;
    }
    struct shard s = shard_of(heap, (uintptr_t)block);
    if (!lock_shard(heap, s.head))
        return was;
    uint64_t i = find(&s, (uintptr_t)block), before = 0;
    was.block = s.blocks[i];
    was.known = was.block.address != 0;
    if (was.known) {
        remove_at(&s, i);
        *s.freed = (struct heap_freed){(uintptr_t)block, by->site};
    } else if (s.freed->address == (uintptr_t)block) {
        before = s.freed->site;
    }
    unlock(&s.head->lock);
    if (was.known)
        sum_given(sum_at(heap, was.block.sum % HEAP_SUMS), &was.block, by->thread);
    else
        stranger(heap, block, before, by);
    return was;
}

static void take_off(_Atomic uint64_t *figure, uint64_t n)
{
    atomic_fetch_sub_explicit(figure, n, memory_order_relaxed);
}

void blocks_put_back(void *heap, const struct heap_was *was, const struct heap_caller *by)
{
    if (!was->known)
        return;
    struct heap_sum *sum = sum_at(heap, was->block.sum % HEAP_SUMS);
    uint64_t usable = was->block.bytes + was->block.beyond;
    take_off(&sum->freed, 1);
    take_off(&sum->freed_bytes, was->block.bytes);
    take_off(&sum->freed_usable, usable);
    take_off(&sum->blocks, 1);
    take_off(&sum->bytes, was->block.bytes);
    take_off(&sum->usable, usable);
    if (by->thread != sum->thread) {
        take_off(&sum->elsewhere, 1);
        take_off(&sum->elsewhere_bytes, was->block.bytes);
    }
    put(heap, was->block, by->thread);
}
