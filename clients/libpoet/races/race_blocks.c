#include "clients/libpoet/races/race_blocks.h"

#include <stdatomic.h>

#define TABLE_BITS 19u
#define TABLE_WINDOW 8u
#define LARGE_MOST 1024u
#define LARGE_BYTES 32768u /* of a block; in smaller ones the beginning is searched for */
#define LINE_BYTES 16u

static struct race_blocks_entry {
    _Atomic uintptr_t address; /* 0: none; it is set last, */
    size_t bytes; /*   and compared again by readers */
    const void *site;
    poet_line_t thread;
    uint32_t lifetime;
    _Atomic bool freed;
} race_blocks_table[(1u << TABLE_BITS) + TABLE_WINDOW], race_blocks_large[LARGE_MOST];
static _Atomic unsigned race_blocks_large_count, race_blocks_turns;
static _Atomic uintptr_t race_blocks_least = UINTPTR_MAX, race_blocks_end; /* of all of them */

static void race_blocks_extend(uintptr_t begin, uintptr_t end)
{
    uintptr_t least = atomic_load_explicit(&race_blocks_least, memory_order_relaxed),
              most = atomic_load_explicit(&race_blocks_end, memory_order_relaxed);
    while (begin < least && !atomic_compare_exchange_weak(&race_blocks_least, &least, begin))
        ;
    while (end > most && !atomic_compare_exchange_weak(&race_blocks_end, &most, end))
        ;
}

static struct race_blocks_entry *race_blocks_window(uintptr_t address)
{
    return &race_blocks_table[(uint64_t)(address / LINE_BYTES) * 0x9e3779b97f4a7c15u >>
                              (64 - TABLE_BITS)];
}

/* Returns the entry of a block of at most LARGE_BYTES; NULL: none. */
static struct race_blocks_entry *race_blocks_get(uintptr_t address)
{
    struct race_blocks_entry *e = race_blocks_window(address);
    for (unsigned i = 0; i < TABLE_WINDOW; i++)
        if (atomic_load_explicit(&e[i].address, memory_order_acquire) == address)
            return &e[i];
    return NULL;
}

/* Returns an entry for a new block: the one that its address had, a free one, one of a block that
 * was freed, or any. */
static struct race_blocks_entry *race_blocks_choose(uintptr_t address)
{
    struct race_blocks_entry *e = race_blocks_window(address), *chosen = race_blocks_get(address);
    for (unsigned i = 0; i < TABLE_WINDOW && !chosen; i++)
        if (!atomic_load_explicit(&e[i].address, memory_order_relaxed))
            chosen = &e[i];
    for (unsigned i = 0; i < TABLE_WINDOW && !chosen; i++)
        if (atomic_load_explicit(&e[i].freed, memory_order_relaxed))
            chosen = &e[i];
    return chosen ? chosen
                  : &e[atomic_fetch_add_explicit(&race_blocks_turns, 1, memory_order_relaxed) %
                       TABLE_WINDOW];
}

static struct race_blocks_entry *race_blocks_get_large(uintptr_t address, bool inside)
{
    for (unsigned i = 0; i < LARGE_MOST; i++) {
        struct race_blocks_entry *e = &race_blocks_large[i];
        uintptr_t begin = atomic_load_explicit(&e->address, memory_order_acquire);
        if (begin && (inside ? address - begin < e->bytes : address == begin))
            return e;
    }
    return NULL;
}

static struct race_blocks_entry *race_blocks_choose_large(uintptr_t address)
{
    struct race_blocks_entry *e = race_blocks_get_large(address, false);
    unsigned next =
        e ? 0 : atomic_fetch_add_explicit(&race_blocks_large_count, 1, memory_order_relaxed);
    return e ? e : &race_blocks_large[next % LARGE_MOST];
}

void race_blocks_add(const struct race_block *block)
{
    struct race_blocks_entry *e = block->bytes > LARGE_BYTES
                                      ? race_blocks_choose_large(block->address)
                                      : race_blocks_choose(block->address);
    race_blocks_extend(block->address, block->address + block->bytes);
    atomic_store(&e->address, 0);
    e->bytes = block->bytes;
    e->site = block->site;
    e->thread = block->thread;
    e->lifetime = block->lifetime;
    atomic_store_explicit(&e->freed, false, memory_order_relaxed);
    atomic_store(&e->address, block->address);
}

void race_blocks_free(uintptr_t address)
{
    struct race_blocks_entry *e = race_blocks_get(address);
    if (e)
        atomic_store_explicit(&e->freed, true, memory_order_relaxed);
}

/* Copies an entry that has the byte; returns false if it changes meanwhile. */
static bool race_blocks_read(const struct race_blocks_entry *e, uintptr_t byte,
                             struct race_block *block)
{
    *block =
        (struct race_block){atomic_load(&e->address), e->bytes, e->site, e->thread, e->lifetime};
    atomic_thread_fence(memory_order_acquire);
    return block->address && byte - block->address < block->bytes &&
           atomic_load(&e->address) == block->address;
}

bool race_blocks_find(uintptr_t address, struct race_block *block)
{
    const struct race_blocks_entry *freed = NULL, *large;
    if (address < atomic_load_explicit(&race_blocks_least, memory_order_relaxed) ||
        address >= atomic_load_explicit(&race_blocks_end, memory_order_relaxed))
        return false;
    for (uintptr_t at = address & ~(uintptr_t)(LINE_BYTES - 1); at && address - at < LARGE_BYTES;
         at -= LINE_BYTES) {
        const struct race_blocks_entry *e = race_blocks_get(at);
        if (!e || !race_blocks_read(e, address, block))
            continue;
        if (!atomic_load_explicit(&e->freed, memory_order_relaxed))
            return true;
        freed = freed ? freed : e;
    }
    large = race_blocks_get_large(address, true);
    return (large && race_blocks_read(large, address, block)) ||
           (freed && race_blocks_read(freed, address, block));
}

static _Atomic bool race_blocks_unseen;

void race_blocks_set_unseen(bool unseen) { atomic_store(&race_blocks_unseen, unseen); }

bool race_blocks_are_unseen(void)
{
    return atomic_load_explicit(&race_blocks_unseen, memory_order_relaxed);
}
