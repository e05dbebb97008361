#include "clients/libpoet/heap/heap_blocks.h"

#include "base/likely.h"

/* ---- counters of the heap, to which its threads add ---- */

static inline void *heap_counter_part(void *heap, size_t at) { return (char *)heap + at; }

static inline uint64_t heap_counter_hash(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static inline uint64_t heap_counter_value(const _Atomic uint64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_relaxed);
}

/* Adds to a counter of the calling thread, which no other thread writes: with one instruction,
 * where there is one, so that a signal handler never finds it half done. */
static inline void heap_counter_add_own(_Atomic uint64_t *figure, uint64_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("addq %1, %0" : "+m"(*figure) : "er"(n) : "cc");
#else
    atomic_store_explicit(figure, heap_counter_value(figure) + n, memory_order_relaxed);
#endif
}

static inline void heap_counter_add_shared(_Atomic uint64_t *figure, uint64_t n)
{
    atomic_fetch_add_explicit(figure, n, memory_order_relaxed);
}

static inline void heap_counter_add(bool own, _Atomic uint64_t *figure, uint64_t n)
{
    if (LIKELY(own))
        heap_counter_add_own(figure, n);
    else
        heap_counter_add_shared(figure, n);
}

static inline struct heap_sum *heap_counter_sum(void *heap, uint32_t i)
{
    return (struct heap_sum *)heap_counter_part(heap, HEAP_SUMS_AT) + i % HEAP_SUMS;
}

/* Returns whether only this thread writes the sum. */
static inline bool heap_counter_is_own(const struct heap_sum *sum, uint32_t thread)
{
    return thread && sum->thread == thread;
}

/* ---- stacks and sums, found or created ---- */

static struct heap_node *heap_counter_node(void *heap, uint32_t i)
{
    return (struct heap_node *)heap_counter_part(heap, HEAP_NODES_AT) + i;
}

/* Returns an unused number, which the caller owns from now on; 0: there are no more. */
static uint32_t heap_counter_new_number(_Atomic uint32_t *count, uint32_t most)
{
    uint32_t is = atomic_load(count);
    while (is < most && !atomic_compare_exchange_weak(count, &is, is + 1))
        ;
    return is < most ? is : 0;
}

/* Lock-free: a thread that finds that another one was faster at a place continues behind it. */
uint32_t heap_counter_find_node(void *heap, uint32_t parent, uint64_t site)
{
    struct heap_head *head = heap;
    _Atomic uint32_t *index = heap_counter_part(heap, HEAP_NODE_INDEX_AT);
    uint64_t i = heap_counter_hash(site ^ (uint64_t)parent << 40) >> 7;
    if (parent == HEAP_NODE_OTHER)
        return parent;
    for (uint32_t new = 0;; i++) {
        _Atomic uint32_t *at = &index[i % HEAP_NODE_INDEX]; /* not all of them are ever in use */
        uint32_t is = atomic_load_explicit(at, memory_order_acquire);
        if (!is) {
            new = new ? new : heap_counter_new_number(&head->nodes, HEAP_NODES);
            if (!new)
                return HEAP_NODE_OTHER;
            heap_counter_node(heap, new)->site = site;
            heap_counter_node(heap, new)->parent = parent;
            if (atomic_compare_exchange_strong(at, &is, new))
                return new;
        }
        const struct heap_node *node = heap_counter_node(heap, is % HEAP_NODES);
        if (node->site == site && node->parent == parent)
            return is;
    }
}

/* Returns the number of the sum of a thread with a stack, created if needed; 0: there are no
 * more. */
static __attribute__((noinline)) uint32_t heap_counter_find_sum(void *heap, uint32_t node,
                                                                uint32_t thread)
{
    struct heap_head *head = heap;
    _Atomic uint32_t *index = heap_counter_part(heap, HEAP_INDEX_AT);
    uint64_t i = heap_counter_hash(node ^ (uint64_t)thread << 32) >> 7;
    for (uint32_t new = 0;; i++) {
        _Atomic uint32_t *at = &index[i % HEAP_INDEX];
        uint32_t is = atomic_load_explicit(at, memory_order_acquire);
        if (!is) {
            new = new ? new : heap_counter_new_number(&head->sums, HEAP_SUMS);
            if (!new)
                return 0;
            heap_counter_sum(heap, new)->node = node;
            heap_counter_sum(heap, new)->thread = thread;
            if (atomic_compare_exchange_strong(at, &is, new))
                return new;
        }
        if (heap_counter_sum(heap, is)->node == node &&
            heap_counter_sum(heap, is)->thread == thread)
            return is;
    }
}

/* ---- current and maximum size ---- */

/* Returns a new record, or the first. */
static struct heap_thread *heap_size_new_record(void *heap)
{
    struct heap_head *head = heap;
    uint32_t is = heap_counter_new_number(&head->threads, HEAP_THREADS);
    return (struct heap_thread *)heap_counter_part(heap, HEAP_THREADS_AT) + is;
}

/* The size is `now` more than was reported, and was `most` more at `most_ns`. */
static __attribute__((noinline)) void heap_size_report(struct heap_head *head, int64_t now,
                                                       int64_t most, uint64_t most_ns)
{
    most += atomic_fetch_add_explicit(&head->live, now, memory_order_relaxed);
    int64_t is = atomic_load_explicit(&head->most, memory_order_relaxed);
    while (most > is && !atomic_compare_exchange_weak(&head->most, &is, most))
        ;
    if (most > is)
        atomic_store_explicit(&head->most_ns, most_ns, memory_order_relaxed);
}

static __attribute__((noinline)) void heap_size_report_all(struct heap_head *head,
                                                           struct heap_thread *t)
{
    int64_t now = atomic_load_explicit(&t->live, memory_order_relaxed);
    atomic_store_explicit(&t->live, 0, memory_order_relaxed);
    heap_size_report(head, now, atomic_exchange_explicit(&t->most, 0, memory_order_relaxed),
                     atomic_load_explicit(&t->most_ns, memory_order_relaxed));
}

/* The first record is shared by all threads that got none of their own: each of their changes is
 * reported immediately. */
static inline void heap_size_changed(void *heap, struct heap_thread_cache *mine, int64_t blocks,
                                     int64_t bytes, uint64_t now_ns)
{
    struct heap_head *head = heap;
    if (UNLIKELY(!mine->record))
        mine->record = heap_size_new_record(heap);
    struct heap_thread *t = mine->record;
    if (UNLIKELY(t == heap_counter_part(heap, HEAP_THREADS_AT))) {
        atomic_fetch_add_explicit(&t->blocks, blocks, memory_order_relaxed);
        heap_size_report(head, bytes, bytes > 0 ? bytes : 0, now_ns);
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
    if (UNLIKELY(now >= limit || now <= -limit))
        heap_size_report_all(head, t);
}

/* ---- the whole heap ---- */

void heap_block_count_unseen(void *heap)
{
    heap_counter_add_shared(&((struct heap_head *)heap)->unseen, 1);
}
void heap_block_count_unknown(void *heap)
{
    heap_counter_add_shared(&((struct heap_head *)heap)->unknown, 1);
}

void heap_block_begin(void *heap, uint32_t groups, uint64_t now_ns)
{
    struct heap_head *head = heap;
    atomic_store(&head->sums, 1);
    atomic_store(&head->nodes, HEAP_NODE_FIRST);
    atomic_store(&head->threads, 1);
    head->began_ns = now_ns;
    head->groups = groups;
    head->version = HEAP_VERSION;
    ((struct heap_sum *)heap_counter_part(heap, HEAP_SUMS_AT))->node = HEAP_NODE_OTHER;
    head->magic = HEAP_MAGIC;
}

/* ---- sums ---- */

static inline uint32_t heap_block_sum(void *heap, struct heap_thread_cache *mine,
                                      const struct heap_caller *by)
{
    uint32_t k = by->node % HEAP_KNOWN_SUMS;
    if (LIKELY(mine->known[k].node == by->node && mine->known[k].thread == by->thread && by->node))
        return mine->known[k].sum;
    uint32_t sum = heap_counter_find_sum(heap, by->node, by->thread);
    if (by->node == HEAP_NODE_OTHER)
        heap_counter_add_shared(&((struct heap_head *)heap)->folded, 1);
    else if (sum) {
        mine->known[k].node = by->node;
        mine->known[k].thread = by->thread;
        mine->known[k].sum = sum;
    }
    return sum;
}

static inline void heap_block_sum_allocated(struct heap_sum *sum, uint64_t bytes, uint64_t beyond,
                                            bool own)
{
    heap_counter_add(own, &sum->blocks, 1);
    heap_counter_add(own, &sum->bytes, bytes);
    heap_counter_add(own, &sum->usable, bytes + beyond);
    uint64_t gone =
        heap_counter_value(&sum->freed_bytes) + heap_counter_value(&sum->elsewhere_bytes);
    uint64_t now = heap_counter_value(&sum->bytes) - gone;
    if ((int64_t)now > (int64_t)heap_counter_value(&sum->most_bytes))
        atomic_store_explicit(&sum->most_bytes, now, memory_order_relaxed);
}

/* If a thread is not recorded, it is not counted as another one than the allocating thread. */
static inline void heap_block_sum_freed(struct heap_sum *sum, uint64_t bytes, uint64_t beyond,
                                        uint32_t thread)
{
    bool own = heap_counter_is_own(sum, thread);
    if (LIKELY(own || !thread || !sum->thread)) {
        heap_counter_add(own, &sum->freed, 1);
        heap_counter_add(own, &sum->freed_bytes, bytes);
        heap_counter_add(own, &sum->freed_usable, bytes + beyond);
    } else {
        heap_counter_add_shared(&sum->elsewhere, 1);
        heap_counter_add_shared(&sum->elsewhere_bytes, bytes);
        heap_counter_add_shared(&sum->elsewhere_usable, bytes + beyond);
    }
}

/* ---- blocks ---- */

/* Blocks of one page of the heap are stored together, so that few pages are touched; if the entries
 * of a page are full, it has others: no block is ever moved. */
struct block_place {
    struct heap_block *blocks;
    uint64_t hash, last_group;
};

static inline struct block_place heap_block_place(void *heap, uint64_t address)
{
    uint64_t hash = heap_counter_hash(address >> 12);
    uint32_t at = (uint32_t)(address >> 5 ^ hash >> 40 ^ address << 2) & (HEAP_GROUP - 1);
    const struct heap_head *head = heap;
    return (struct block_place){(struct heap_block *)heap_counter_part(heap, HEAP_BLOCKS_AT) + at,
                                hash >> 8, head->groups - 1};
}

static inline struct heap_block *heap_block_probe(const struct block_place *p, uint32_t try)
{
    uint64_t group = (p->hash + try * (p->hash >> 16 | 1)) & p->last_group;
    return p->blocks + group * HEAP_GROUP;
}

static inline uint64_t heap_block_word(const struct heap_block *block)
{
    return atomic_load_explicit(&block->word, memory_order_acquire);
}

static inline bool heap_block_claim(struct heap_block *at, uint64_t word, uint64_t address)
{
    return atomic_compare_exchange_strong_explicit(&at->word, &word,
                                                   HEAP_WORD(address, HEAP_WRITING),
                                                   memory_order_acquire, memory_order_relaxed);
}

static inline void heap_block_write_as(struct heap_block *at, uint64_t address, enum heap_kind kind)
{
    atomic_store_explicit(&at->word, HEAP_WORD(address, kind), memory_order_release);
}

/* Returns an entry for a block: where it was before, or else one that is empty or no longer used;
 * NULL: none. */
static struct heap_block *heap_block_find_free(const struct block_place *p, uint64_t address)
{
    struct heap_block *old = NULL;
    for (uint32_t i = 0; i < HEAP_TRIES; i++) {
        struct heap_block *at = heap_block_probe(p, i);
        uint64_t word = heap_block_word(at);
        if (HEAP_ADDRESS(word) == address && HEAP_KIND(word) != HEAP_WRITING)
            return at;
        /* it was never stored after an unused one */
        if (!word)
            return old ? old : at;
        if (!old && HEAP_KIND(word) == HEAP_FREED)
            old = at;
    }
    return old;
}

/* Claims an entry for writing; *old: its previous value. Returns NULL if there is no room. */
static __attribute__((noinline)) struct heap_block *
heap_block_claim_free(void *heap, uint64_t address, struct heap_block *old)
{
    struct block_place p = heap_block_place(heap, address);
    for (uint32_t i = 0; i < 2 * HEAP_TRIES; i++) {
        struct heap_block *at = heap_block_find_free(&p, address);
        uint64_t word = at ? heap_block_word(at) : 0;
        bool fits = at && (!word || HEAP_KIND(word) == HEAP_FREED ||
                           (HEAP_ADDRESS(word) == address && HEAP_KIND(word) != HEAP_WRITING));
        if (!at)
            return NULL;
        if (fits && heap_block_claim(at, word, address)) {
            old->word = HEAP_ADDRESS(word) == address ? word : 0;
            old->bytes = at->bytes;
            old->sum = at->sum;
            old->beyond = at->beyond;
            return at;
        }
    }
    return NULL;
}

/* Fast path: most often it has an entry from before, which is the first possible one. */
static inline struct heap_block *heap_block_claim_used(void *heap, uint64_t address)
{
    struct block_place p = heap_block_place(heap, address);
    struct heap_block *at = heap_block_probe(&p, 0);
    uint64_t word = HEAP_WORD(address, HEAP_FREED);
    return LIKELY(heap_block_word(at) == word) && heap_block_claim(at, word, address) ? at : NULL;
}

static inline bool is_sum_known(uint32_t sum) { return sum < HEAP_SUMS; }

static __attribute__((noinline, cold)) void heap_block_end_unseen(void *heap,
                                                                  struct heap_thread_cache *mine,
                                                                  uint32_t thread,
                                                                  const struct heap_block *old)
{
    if (is_sum_known(old->sum))
        heap_block_sum_freed(heap_counter_sum(heap, old->sum), old->bytes, old->beyond, thread);
    heap_size_changed(heap, mine, -1, -(int64_t)old->bytes, 0);
    heap_block_count_unseen(heap);
}

static inline __attribute__((always_inline)) void heap_block_insert(void *heap,
                                                                    struct heap_thread_cache *mine,
                                                                    const struct heap_caller *by,
                                                                    const struct heap_block *block)
{
    uint64_t address = HEAP_ADDRESS(block->word);
    struct heap_block old = {0}, *at = heap_block_claim_used(heap, address);
    at = LIKELY(at) ? at : heap_block_claim_free(heap, address, &old);
    if (UNLIKELY(!at)) {
        heap_block_count_unseen(heap);
        return;
    }
    at->bytes = block->bytes;
    at->sum = block->sum;
    at->beyond = block->beyond;
    at->event = block->event;
    at->age_ms = block->age_ms;
    heap_block_write_as(at, address, HEAP_KIND(block->word));
    if (UNLIKELY(HEAP_KIND(old.word) != HEAP_FREED))
        heap_block_end_unseen(heap, mine, by->thread, &old);
    struct heap_sum *sum = heap_counter_sum(heap, block->sum);
    heap_block_sum_allocated(sum, block->bytes, block->beyond,
                             heap_counter_is_own(sum, by->thread) && block->sum);
    heap_size_changed(heap, mine, 1, (int64_t)block->bytes, by->now_ns);
}

void heap_block_add(void *heap, struct heap_thread_cache *mine, const struct heap_caller *by,
                    const void *block, size_t bytes, size_t usable, enum heap_kind kind)
{
    const struct heap_head *head = heap;
    uint64_t beyond = usable > bytes ? usable - bytes : 0;
    uint64_t age = by->now_ns > head->began_ns ? (by->now_ns - head->began_ns) / 1000000u : 0;
    mine->last = (uintptr_t)block;
    heap_block_insert(
        heap, mine, by,
        &(struct heap_block){.word = HEAP_WORD((uintptr_t)block, kind),
                             .bytes = bytes,
                             .sum = heap_block_sum(heap, mine, by),
                             .beyond = beyond < UINT32_MAX ? (uint32_t)beyond : UINT32_MAX,
                             .event = by->event < UINT32_MAX ? (uint32_t)by->event : 0,
                             .age_ms = age < UINT32_MAX ? (uint32_t)age : UINT32_MAX});
}

static inline bool is_block(uint64_t word)
{
    return HEAP_KIND(word) != HEAP_FREED && HEAP_KIND(word) != HEAP_WRITING;
}

/* Claims the block for writing and sets *word to its previous value. Returns NULL if there is none,
 * and sets *before to where it was freed. */
static inline struct heap_block *heap_block_claim_block(void *heap, uint64_t address,
                                                        uint64_t *word, uint64_t *before)
{
    struct block_place p = heap_block_place(heap, address);
    for (uint32_t i = 0; i < HEAP_TRIES; i++) {
        struct heap_block *at = heap_block_probe(&p, i);
        *word = heap_block_word(at);
        if (LIKELY(HEAP_ADDRESS(*word) == address)) {
            if (LIKELY(is_block(*word) && heap_block_claim(at, *word, address)))
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

static inline void heap_block_count_gone(void *heap, struct heap_thread_cache *mine,
                                         uint32_t thread, uint64_t address,
                                         const struct heap_block *gone)
{
    struct heap_sum *sum = heap_counter_sum(heap, gone->sum);
    heap_block_sum_freed(sum, gone->bytes, gone->beyond, thread);
    if (mine->last == address) {
        mine->last = 0;
        if (heap_counter_is_own(sum, thread))
            heap_counter_add_own(&sum->temporaries, 1);
    }
    heap_size_changed(heap, mine, -1, -(int64_t)gone->bytes, 0);
}

bool heap_block_remove(void *heap, struct heap_thread_cache *mine, uint32_t thread, uint64_t site,
                       const void *block, enum heap_kind kind, bool wanted, struct freed_block *was)
{
    uint64_t address = (uintptr_t)block, word, before = 0;
    struct heap_block gone, *at = heap_block_claim_block(heap, address, &word, &before);
    if (UNLIKELY(!at)) {
        *was = (struct freed_block){.before = before};
        return false;
    }
    gone.bytes = at->bytes;
    gone.sum = at->sum;
    gone.beyond = at->beyond;
    if (UNLIKELY(wanted || HEAP_KIND(word) != kind))
        *was = (struct freed_block){.block = *at, .kind = HEAP_KIND(word), .known = true};
    at->bytes = site;
    heap_block_write_as(at, address, HEAP_FREED);
    if (LIKELY(is_sum_known(gone.sum)))
        heap_block_count_gone(heap, mine, thread, address, &gone);
    return HEAP_KIND(word) == kind;
}

void heap_block_restore(void *heap, struct heap_thread_cache *mine, const struct heap_caller *by,
                        const struct freed_block *was)
{
    if (!was->known || !is_sum_known(was->block.sum))
        return;
    struct heap_sum *sum = heap_counter_sum(heap, was->block.sum);
    struct heap_block block = was->block;
    uint64_t minus = (uint64_t)0 - 1, usable = was->block.bytes + was->block.beyond;
    bool own = heap_counter_is_own(sum, by->thread), as_own = own || !by->thread || !sum->thread;
    heap_counter_add(own, as_own ? &sum->freed : &sum->elsewhere, minus);
    heap_counter_add(own, as_own ? &sum->freed_bytes : &sum->elsewhere_bytes, 0 - was->block.bytes);
    heap_counter_add(own, as_own ? &sum->freed_usable : &sum->elsewhere_usable, 0 - usable);
    heap_counter_add(own, &sum->blocks, minus);
    heap_counter_add(own, &sum->bytes, 0 - was->block.bytes);
    heap_counter_add(own, &sum->usable, 0 - usable);
    block.word = HEAP_WORD(HEAP_ADDRESS(block.word), was->kind);
    heap_block_insert(heap, mine, by, &block);
}

bool heap_block_free_null(void *heap, struct heap_thread_cache *mine, const struct heap_caller *by)
{
    uint32_t number = heap_block_sum(heap, mine, by);
    struct heap_sum *sum = heap_counter_sum(heap, number);
    bool first = number && !heap_counter_value(&sum->nulls);
    heap_counter_add(number && heap_counter_is_own(sum, by->thread), &sum->nulls, 1);
    return first;
}

uint32_t heap_block_add_bad(void *heap, const struct heap_bad *bad)
{
    struct heap_head *head = heap;
    struct heap_bad *all = heap_counter_part(heap, HEAP_BAD_AT);
    uint32_t i = atomic_fetch_add(&head->bad, 1);
    if (i >= HEAP_BAD) {
        atomic_fetch_sub(&head->bad, 1);
        return HEAP_BAD;
    }
    all[i] = *bad;
    atomic_store_explicit(&all[i].there, 1, memory_order_release);
    return i;
}
