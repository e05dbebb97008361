#include "clients/trace/heap/blocks.h"

#define LIKELY(is) __builtin_expect(!!(is), 1)

static void *part(void *heap, size_t at) { return (char *)heap + at; }

static uint64_t mixed(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

/* ---- figures ---- */

static uint64_t value(const _Atomic uint64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_relaxed);
}

/* Of the thread's own: nobody else writes there.  One instruction, where there is one, so that it is never half done. */
static inline void add_own(_Atomic uint64_t *figure, uint64_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("addq %1, %0" : "+m"(*figure) : "er"(n) : "cc");
#else
    atomic_store_explicit(figure, value(figure) + n, memory_order_relaxed);
#endif
}

static inline void add_shared(_Atomic uint64_t *figure, uint64_t n)
{
    atomic_fetch_add_explicit(figure, n, memory_order_relaxed);
}

static inline void add(bool own, _Atomic uint64_t *figure, uint64_t n)
{
    if (LIKELY(own))
        add_own(figure, n);
    else
        add_shared(figure, n);
}

void blocks_unseen(void *heap) { add_shared(&((struct heap_head *)heap)->unseen, 1); }
void blocks_unknown(void *heap) { add_shared(&((struct heap_head *)heap)->unknown, 1); }

/* ---- nodes and sums ---- */

void blocks_begin(void *heap, uint64_t now_ns)
{
    struct heap_head *head = heap;
    atomic_store(&head->sums, 1);
    atomic_store(&head->nodes, HEAP_NODE_FIRST);
    atomic_store(&head->threads, 1);
    head->began_ns = now_ns;
    head->version = HEAP_VERSION;
    ((struct heap_sum *)part(heap, HEAP_SUMS_AT))->node = HEAP_NODE_OTHER;
    head->magic = HEAP_MAGIC;
}

static struct heap_sum *sum_at(void *heap, uint32_t i)
{
    return (struct heap_sum *)part(heap, HEAP_SUMS_AT) + i % HEAP_SUMS;
}

static struct heap_node *node_at(void *heap, uint32_t i)
{
    return (struct heap_node *)part(heap, HEAP_NODES_AT) + i;
}

/* A number that nobody has, and from now on the caller's; 0: there are no more. */
static uint32_t number_new(_Atomic uint32_t *count, uint32_t most)
{
    uint32_t is = atomic_load(count);
    while (is < most && !atomic_compare_exchange_weak(count, &is, is + 1))
        ;
    return is < most ? is : 0;
}

/* Without a lock: who finds that another was faster at a place goes on behind it. */
uint32_t blocks_node(void *heap, uint32_t parent, uint64_t site)
{
    struct heap_head *head = heap;
    _Atomic uint32_t *index = part(heap, HEAP_NODE_INDEX_AT);
    uint64_t i = mixed(site ^ (uint64_t)parent << 40) >> 7;
    if (parent == HEAP_NODE_OTHER)
        return parent;
    for (uint32_t new = 0;; i++) {
        _Atomic uint32_t *at = &index[i % HEAP_NODE_INDEX]; /* never all of them are in use */
        uint32_t is = atomic_load_explicit(at, memory_order_acquire);
        if (!is) {
            new = new ? new : number_new(&head->nodes, HEAP_NODES);
            if (!new)
                return HEAP_NODE_OTHER;
            node_at(heap, new)->site = site;
            node_at(heap, new)->parent = parent;
            if (atomic_compare_exchange_strong(at, &is, new))
                return new;
        }
        const struct heap_node *node = node_at(heap, is % HEAP_NODES);
        if (node->site == site && node->parent == parent)
            return is;
    }
}

static __attribute__((noinline)) uint32_t sum_find(void *heap, uint32_t node, uint32_t thread)
{
    struct heap_head *head = heap;
    _Atomic uint32_t *index = part(heap, HEAP_INDEX_AT);
    uint64_t i = mixed(node ^ (uint64_t)thread << 32) >> 7;
    for (uint32_t new = 0;; i++) {
        _Atomic uint32_t *at = &index[i % HEAP_INDEX];
        uint32_t is = atomic_load_explicit(at, memory_order_acquire);
        if (!is) {
            new = new ? new : number_new(&head->sums, HEAP_SUMS);
            if (!new)
                return 0;
            sum_at(heap, new)->node = node;
            sum_at(heap, new)->thread = thread;
            if (atomic_compare_exchange_strong(at, &is, new))
                return new;
        }
        if (sum_at(heap, is)->node == node && sum_at(heap, is)->thread == thread)
            return is;
    }
}

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

/* Is the sum written by this thread alone? */
static inline bool is_own(const struct heap_sum *sum, uint32_t thread)
{
    return thread && sum->thread == thread;
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

/* ---- how much there is at once ---- */

static struct heap_thread *thread_new(void *heap)
{
    struct heap_head *head = heap;
    uint32_t is = number_new(&head->threads, HEAP_THREADS);
    return (struct heap_thread *)part(heap, HEAP_THREADS_AT) + is;
}

/* It is `now` more than was told, and was `most` more at `most_ns`. */
static __attribute__((noinline)) void tell(struct heap_head *head, int64_t now, int64_t most,
                                           uint64_t most_ns)
{
    most += atomic_fetch_add_explicit(&head->live, now, memory_order_relaxed);
    int64_t is = atomic_load_explicit(&head->most, memory_order_relaxed);
    while (most > is && !atomic_compare_exchange_weak(&head->most, &is, most))
        ;
    if (most > is)
        atomic_store_explicit(&head->most_ns, most_ns, memory_order_relaxed);
}

static __attribute__((noinline)) void tell_all(struct heap_head *head, struct heap_thread *t)
{
    int64_t now = atomic_load_explicit(&t->live, memory_order_relaxed);
    atomic_store_explicit(&t->live, 0, memory_order_relaxed);
    tell(head, now, atomic_exchange_explicit(&t->most, 0, memory_order_relaxed),
         atomic_load_explicit(&t->most_ns, memory_order_relaxed));
}

/* The first record is of all who got none of their own: each of theirs is told at once. */
static inline void changed(void *heap, struct heap_mine *mine, int64_t blocks, int64_t bytes,
                           uint64_t now_ns)
{
    struct heap_head *head = heap;
    if (!LIKELY(mine->told != NULL))
        mine->told = thread_new(heap);
    struct heap_thread *t = mine->told;
    if (!LIKELY(t != part(heap, HEAP_THREADS_AT))) {
        atomic_fetch_add_explicit(&t->blocks, blocks, memory_order_relaxed);
        tell(head, bytes, bytes > 0 ? bytes : 0, now_ns);
        return;
    }
    atomic_store_explicit(&t->blocks,
                          atomic_load_explicit(&t->blocks, memory_order_relaxed) + blocks,
                          memory_order_relaxed);
    int64_t now = atomic_load_explicit(&t->live, memory_order_relaxed) + bytes;
    atomic_store_explicit(&t->live, now, memory_order_relaxed);
    if (now > atomic_load_explicit(&t->most, memory_order_relaxed)) {
        atomic_store_explicit(&t->most, now, memory_order_relaxed);
        atomic_store_explicit(&t->most_ns, now_ns, memory_order_relaxed);
    }
    int64_t limit = HEAP_TELL(atomic_load_explicit(&head->live, memory_order_relaxed));
    if (!LIKELY(now < limit && now > -limit))
        tell_all(head, t);
}

/* ---- blocks ---- */

/* Blocks of one page of the heap lie beside each other, so that few pages are touched; where the places of a page are
 * taken, it has others: no block is ever moved. */
struct place {
    struct heap_block *blocks;
    uint64_t hash;
};

static inline struct place place_of(void *heap, uint64_t address)
{
    uint64_t hash = mixed(address >> 12);
    uint32_t at = (uint32_t)(address >> 5 ^ hash >> 40 ^ address << 2) & (HEAP_GROUP - 1);
    return (struct place){(struct heap_block *)part(heap, HEAP_BLOCKS_AT) + at, hash >> 8};
}

static inline struct heap_block *nth(const struct place *p, uint32_t try)
{
    uint64_t group = (p->hash + try * (p->hash >> 16 | 1)) & (HEAP_GROUPS - 1);
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
static inline struct heap_block *claim_room(void *heap, uint64_t address, struct heap_block *old)
{
    struct place p = place_of(heap, address);
    struct heap_block *at = nth(&p, 0);
    for (uint32_t i = 0; i < 2 * HEAP_TRIES; i++, at = room_for(&p, address)) {
        uint64_t word = at ? word_of(at) : 0;
        bool fits = at && (!word || HEAP_KIND(word) == HEAP_FREED ||
                           (HEAP_ADDRESS(word) == address && HEAP_KIND(word) != HEAP_WRITING));
        if (!LIKELY(i || (word && HEAP_ADDRESS(word) == address)))
            continue; /* it may be farther on */
        if (!at)
            return NULL;
        if (LIKELY(fits && claim(at, word, address))) {
            old->word = HEAP_ADDRESS(word) == address ? word : 0;
            old->bytes = at->bytes;
            old->sum = at->sum;
            old->beyond = at->beyond;
            return at;
        }
    }
    return NULL;
}

static inline bool is_sum_known(uint32_t sum) { return sum < HEAP_SUMS; }

static __attribute__((noinline, cold)) void
unseen_end(void *heap, struct heap_mine *mine, uint32_t thread, const struct heap_block *old)
{
    if (is_sum_known(old->sum))
        sum_given(sum_at(heap, old->sum), old->bytes, old->beyond, thread);
    changed(heap, mine, -1, -(int64_t)old->bytes, 0);
    blocks_unseen(heap);
}

static inline void put(void *heap, struct heap_mine *mine, const struct heap_caller *by,
                       const struct heap_block *block)
{
    struct heap_block old;
    uint64_t address = HEAP_ADDRESS(block->word);
    struct heap_block *at = claim_room(heap, address, &old);
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
    changed(heap, mine, 1, (int64_t)block->bytes, by->now_ns);
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
    changed(heap, mine, -1, -(int64_t)gone->bytes, 0);
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
