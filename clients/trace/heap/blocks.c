#include "clients/trace/heap/figures.h"

void blocks_unseen(void *heap) { add_shared(&((struct heap_head *)heap)->unseen, 1); }
void blocks_unknown(void *heap) { add_shared(&((struct heap_head *)heap)->unknown, 1); }

void blocks_begin(void *heap, uint32_t groups, uint64_t now_ns)
{
    struct heap_head *head = heap;
    atomic_store(&head->sums, 1);
    atomic_store(&head->nodes, HEAP_NODE_FIRST);
    atomic_store(&head->threads, 1);
    head->began_ns = now_ns;
    head->groups = groups;
    head->version = HEAP_VERSION;
    ((struct heap_sum *)part(heap, HEAP_SUMS_AT))->node = HEAP_NODE_OTHER;
    head->magic = HEAP_MAGIC;
}

/* ---- sums ---- */

static inline uint32_t sum_of(void *heap, struct heap_mine *mine, const struct heap_caller *by)
{
    uint32_t k = by->node % HEAP_KNOWN_SUMS;
    if (LIKELY(mine->known[k].node == by->node && mine->known[k].thread == by->thread && by->node))
        return mine->known[k].sum;
    uint32_t sum = sum_find(heap, by->node, by->thread);
    if (by->node == HEAP_NODE_OTHER)
        add_shared(&((struct heap_head *)heap)->folded, 1);
    else if (sum) {
        mine->known[k].node = by->node;
        mine->known[k].thread = by->thread;
        mine->known[k].sum = sum;
    }
    return sum;
}

static inline void sum_taken(struct heap_sum *sum, uint64_t bytes, uint64_t beyond, bool own)
{
    add(own, &sum->blocks, 1);
    add(own, &sum->bytes, bytes);
    add(own, &sum->usable, bytes + beyond);
    uint64_t gone = value(&sum->freed_bytes) + value(&sum->elsewhere_bytes);
    uint64_t now = value(&sum->bytes) - gone;
    if ((int64_t)now > (int64_t)value(&sum->most_bytes))
        atomic_store_explicit(&sum->most_bytes, now, memory_order_relaxed);
}

/* A thread that is not recorded may be any: that another one took it is not said then. */
static inline void sum_given(struct heap_sum *sum, uint64_t bytes, uint64_t beyond, uint32_t thread)
{
    bool own = is_own(sum, thread);
    if (LIKELY(own || !thread || !sum->thread)) {
        add(own, &sum->freed, 1);
        add(own, &sum->freed_bytes, bytes);
        add(own, &sum->freed_usable, bytes + beyond);
    } else {
        add_shared(&sum->elsewhere, 1);
        add_shared(&sum->elsewhere_bytes, bytes);
        add_shared(&sum->elsewhere_usable, bytes + beyond);
    }
}

/* ---- blocks ---- */

/* Blocks of one page of the heap lie beside each other, so that few pages are touched; where the places of a page are
 * taken, it has others: no block is ever moved. */
struct place {
    struct heap_block *blocks;
    uint64_t hash, last_group;
};

static inline struct place place_of(void *heap, uint64_t address)
{
    uint64_t hash = mixed(address >> 12);
    uint32_t at = (uint32_t)(address >> 5 ^ hash >> 40 ^ address << 2) & (HEAP_GROUP - 1);
    const struct heap_head *head = heap;
    return (struct place){(struct heap_block *)part(heap, HEAP_BLOCKS_AT) + at, hash >> 8,
                          head->groups - 1};
}

static inline struct heap_block *nth(const struct place *p, uint32_t try)
{
    uint64_t group = (p->hash + try * (p->hash >> 16 | 1)) & p->last_group;
    return p->blocks + group * HEAP_GROUP;
}

static inline uint64_t word_of(const struct heap_block *block)
{
    return atomic_load_explicit(&block->word, memory_order_acquire);
}

static inline bool claim(struct heap_block *at, uint64_t word, uint64_t address)
{
    return atomic_compare_exchange_strong_explicit(&at->word, &word,
                                                   HEAP_WORD(address, HEAP_WRITING),
                                                   memory_order_acquire, memory_order_relaxed);
}

static inline void write_as(struct heap_block *at, uint64_t address, enum heap_kind kind)
{
    atomic_store_explicit(&at->word, HEAP_WORD(address, kind), memory_order_release);
}

/* Where a block is to be put: where it was before, or else where there is none, or none any more; NULL: nowhere. */
static struct heap_block *room_for(const struct place *p, uint64_t address)
{
    struct heap_block *old = NULL;
    for (uint32_t i = 0; i < HEAP_TRIES; i++) {
        struct heap_block *at = nth(p, i);
        uint64_t word = word_of(at);
        if (HEAP_ADDRESS(word) == address && HEAP_KIND(word) != HEAP_WRITING)
            return at;
        if (!word)
            return old ? old : at; /* it was never put behind one that was never used */
        if (!old && HEAP_KIND(word) == HEAP_FREED)
            old = at;
    }
    return old;
}

/* The place, being written by us; *old: what it was.  NULL: there is no room. */
static __attribute__((noinline)) struct heap_block *claim_room(void *heap, uint64_t address,
                                                               struct heap_block *old)
{
    struct place p = place_of(heap, address);
    for (uint32_t i = 0; i < 2 * HEAP_TRIES; i++) {
        struct heap_block *at = room_for(&p, address);
        uint64_t word = at ? word_of(at) : 0;
        bool fits = at && (!word || HEAP_KIND(word) == HEAP_FREED ||
                           (HEAP_ADDRESS(word) == address && HEAP_KIND(word) != HEAP_WRITING));
        if (!at)
            return NULL;
        if (fits && claim(at, word, address)) {
            old->word = HEAP_ADDRESS(word) == address ? word : 0;
            old->bytes = at->bytes;
            old->sum = at->sum;
            old->beyond = at->beyond;
            return at;
        }
    }
    return NULL;
}

/* Most often it has a place from before, which is the first one that it may have. */
static inline struct heap_block *claim_before(void *heap, uint64_t address)
{
    struct place p = place_of(heap, address);
    struct heap_block *at = nth(&p, 0);
    uint64_t word = HEAP_WORD(address, HEAP_FREED);
    return LIKELY(word_of(at) == word) && claim(at, word, address) ? at : NULL;
}

static inline bool is_sum_known(uint32_t sum) { return sum < HEAP_SUMS; }

static __attribute__((noinline, cold)) void
unseen_end(void *heap, struct heap_mine *mine, uint32_t thread, const struct heap_block *old)
{
    if (is_sum_known(old->sum))
        sum_given(sum_at(heap, old->sum), old->bytes, old->beyond, thread);
    amount_changed(heap, mine, -1, -(int64_t)old->bytes, 0);
    blocks_unseen(heap);
}

static inline __attribute__((always_inline)) void put(void *heap, struct heap_mine *mine,
                                                      const struct heap_caller *by,
                                                      const struct heap_block *block)
{
    uint64_t address = HEAP_ADDRESS(block->word);
    struct heap_block old = {0}, *at = claim_before(heap, address);
    at = LIKELY(at != NULL) ? at : claim_room(heap, address, &old);
    if (!LIKELY(at != NULL)) {
        blocks_unseen(heap);
        return;
    }
    at->bytes = block->bytes;
    at->sum = block->sum;
    at->beyond = block->beyond;
    at->event = block->event;
    at->age_ms = block->age_ms;
    write_as(at, address, HEAP_KIND(block->word));
    if (!LIKELY(HEAP_KIND(old.word) == HEAP_FREED))
        unseen_end(heap, mine, by->thread, &old);
    struct heap_sum *sum = sum_at(heap, block->sum);
    sum_taken(sum, block->bytes, block->beyond, is_own(sum, by->thread) && block->sum);
    amount_changed(heap, mine, 1, (int64_t)block->bytes, by->now_ns);
}

void blocks_taken(void *heap, struct heap_mine *mine, const struct heap_caller *by,
                  const void *block, size_t bytes, size_t usable, enum heap_kind kind)
{
    const struct heap_head *head = heap;
    uint64_t beyond = usable > bytes ? usable - bytes : 0;
    uint64_t age = by->now_ns > head->began_ns ? (by->now_ns - head->began_ns) / 1000000u : 0;
    mine->last = (uintptr_t)block;
    put(heap, mine, by,
        &(struct heap_block){.word = HEAP_WORD((uintptr_t)block, kind),
                             .bytes = bytes,
                             .sum = sum_of(heap, mine, by),
                             .beyond = beyond < UINT32_MAX ? (uint32_t)beyond : UINT32_MAX,
                             .event = by->event < UINT32_MAX ? (uint32_t)by->event : 0,
                             .age_ms = age < UINT32_MAX ? (uint32_t)age : UINT32_MAX});
}

static inline bool is_block(uint64_t word)
{
    return HEAP_KIND(word) != HEAP_FREED && HEAP_KIND(word) != HEAP_WRITING;
}

/* The block, being written by us, and *word what it was; NULL: there is none, and *before where it was given back. */
static inline struct heap_block *claim_block(void *heap, uint64_t address, uint64_t *word,
                                             uint64_t *before)
{
    struct place p = place_of(heap, address);
    for (uint32_t i = 0; i < HEAP_TRIES; i++) {
        struct heap_block *at = nth(&p, i);
        *word = word_of(at);
        if (LIKELY(HEAP_ADDRESS(*word) == address)) {
            if (LIKELY(is_block(*word) && claim(at, *word, address)))
                return at;
            if (HEAP_KIND(*word) == HEAP_FREED && !*before)
                *before = at->bytes;
        }
        if (!*word)
            break;
    }
    *word = 0;
    return NULL;
}

static inline void count_gone(void *heap, struct heap_mine *mine, uint32_t thread, uint64_t address,
                              const struct heap_block *gone)
{
    struct heap_sum *sum = sum_at(heap, gone->sum);
    sum_given(sum, gone->bytes, gone->beyond, thread);
    if (mine->last == address) {
        mine->last = 0;
        if (is_own(sum, thread))
            add_own(&sum->temporaries, 1);
    }
    amount_changed(heap, mine, -1, -(int64_t)gone->bytes, 0);
}

bool blocks_given(void *heap, struct heap_mine *mine, uint32_t thread, uint64_t site,
                  const void *block, enum heap_kind kind, bool wanted, struct heap_was *was)
{
    uint64_t address = (uintptr_t)block, word, before = 0;
    struct heap_block gone, *at = claim_block(heap, address, &word, &before);
    if (!LIKELY(at != NULL)) {
        *was = (struct heap_was){.before = before};
        return false;
    }
    gone.bytes = at->bytes;
    gone.sum = at->sum;
    gone.beyond = at->beyond;
    if (!LIKELY(!wanted && HEAP_KIND(word) == kind))
        *was = (struct heap_was){.block = *at, .kind = HEAP_KIND(word), .known = true};
    at->bytes = site;
    write_as(at, address, HEAP_FREED);
    if (LIKELY(is_sum_known(gone.sum)))
        count_gone(heap, mine, thread, address, &gone);
    return HEAP_KIND(word) == kind;
}

void blocks_put_back(void *heap, struct heap_mine *mine, const struct heap_caller *by,
                     const struct heap_was *was)
{
    if (!was->known || !is_sum_known(was->block.sum))
        return;
    struct heap_sum *sum = sum_at(heap, was->block.sum);
    struct heap_block block = was->block;
    uint64_t minus = (uint64_t)0 - 1, usable = was->block.bytes + was->block.beyond;
    bool own = is_own(sum, by->thread), as_own = own || !by->thread || !sum->thread;
    add(own, as_own ? &sum->freed : &sum->elsewhere, minus);
    add(own, as_own ? &sum->freed_bytes : &sum->elsewhere_bytes, 0 - was->block.bytes);
    add(own, as_own ? &sum->freed_usable : &sum->elsewhere_usable, 0 - usable);
    add(own, &sum->blocks, minus);
    add(own, &sum->bytes, 0 - was->block.bytes);
    add(own, &sum->usable, 0 - usable);
    block.word = HEAP_WORD(HEAP_ADDRESS(block.word), was->kind);
    put(heap, mine, by, &block);
}

bool blocks_null(void *heap, struct heap_mine *mine, const struct heap_caller *by)
{
    uint32_t number = sum_of(heap, mine, by);
    struct heap_sum *sum = sum_at(heap, number);
    bool first = number && !value(&sum->nulls);
    add(number && is_own(sum, by->thread), &sum->nulls, 1);
    return first;
}

uint32_t blocks_bad(void *heap, const struct heap_bad *bad)
{
    struct heap_head *head = heap;
    struct heap_bad *all = part(heap, HEAP_BAD_AT);
    uint32_t i = atomic_fetch_add(&head->bad, 1);
    if (i >= HEAP_BAD) {
        atomic_fetch_sub(&head->bad, 1);
        return HEAP_BAD;
    }
    all[i] = *bad;
    atomic_store_explicit(&all[i].there, 1, memory_order_release);
    return i;
}
