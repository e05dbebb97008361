/* Implementation of the table of atomic objects: open addressing within windows, in memory that
 * the kernel clears in a child of fork. */
#define _GNU_SOURCE
#include "clients/libpoet/atomics/atomic_objects.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#define TABLE_BITS 19u
#define TABLE_ENTRIES (1u << TABLE_BITS)
/* entries where an object may be; objects of the same 16 bytes have the same window */
#define TABLE_WINDOW 32u
#define MORE_BLOCKS 4096u
#define SWITCHES_MOST 64u /* memory that is used again does not explain more */

struct atomic_table {
    struct atomic_object entries[TABLE_ENTRIES + TABLE_WINDOW];
    struct release_head more[MORE_BLOCKS][ATOMIC_HEADS_MORE];
    _Atomic uint32_t more_used;
};
static struct atomic_table *_Atomic atomic_table;

static struct atomic_table *atomic_object_make_table(void)
{
    int saved = errno;
    struct atomic_table *before = NULL,
                        *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made != MAP_FAILED) {
        /* (few bytes of many pages are used) */
        madvise(made, sizeof *made, MADV_NOHUGEPAGE);
        if (madvise(made, sizeof *made, MADV_WIPEONFORK) != 0 ||
            !atomic_compare_exchange_strong(&atomic_table, &before, made))
            munmap(made, sizeof *made);
    }
    errno = saved;
    return atomic_load(&atomic_table);
}

static inline uint64_t atomic_object_key(uintptr_t address, size_t bytes)
{
    return (uint64_t)address << 3 | (unsigned)__builtin_ctz((unsigned)bytes);
}

static inline struct atomic_object *atomic_object_window(struct atomic_table *table,
                                                         uintptr_t address)
{
    uint64_t mixed = (uint64_t)(address >> 4) * 0x9e3779b97f4a7c15u;
    return &table->entries[mixed >> (64 - TABLE_BITS)];
}

struct atomic_object *atomic_object_find(const volatile void *address, size_t bytes)
{
    struct atomic_table *table = atomic_load_explicit(&atomic_table, memory_order_acquire);
    if (!table)
        return NULL;
    uint64_t wanted = atomic_object_key((uintptr_t)address, bytes);
    struct atomic_object *o = atomic_object_window(table, (uintptr_t)address);
    for (const struct atomic_object *end = o + TABLE_WINDOW; o < end; o++) {
        uint64_t key = atomic_load_explicit(&o->key, memory_order_acquire);
        if (key == wanted)
            return o;
        if (!key)
            return NULL;
    }
    return NULL;
}

static inline bool atomic_object_is_overlapping(uint64_t key, uintptr_t address, size_t bytes)
{
    uint64_t begin = key >> 3, end = begin + (1u << (key & 7));
    return key && begin < address + bytes && address < end &&
           key != atomic_object_key(address, bytes);
}

/* Returns the next object in the window that overlaps with those bytes; NULL: none. */
static struct atomic_object *atomic_object_next_overlapping(struct atomic_object *from,
                                                            uintptr_t address, size_t bytes)
{
    struct atomic_table *table = atomic_load(&atomic_table);
    struct atomic_object *o = table ? atomic_object_window(table, address) : NULL;
    const struct atomic_object *end = o ? o + TABLE_WINDOW : NULL;
    for (o = from ? from + 1 : o; o < end; o++) {
        uint64_t key = atomic_load(&o->key);
        if (!key)
            return NULL;
        if (atomic_object_is_overlapping(key, address, bytes))
            return o;
    }
    return NULL;
}

bool atomic_object_has_overlapping(const volatile void *address, size_t bytes)
{
    return atomic_object_next_overlapping(NULL, (uintptr_t)address, bytes) != NULL;
}

/* Of two threads that create overlapping objects at the same time, one finds the other's. */
static void atomic_object_note_overlaps(struct atomic_object *o, uintptr_t address, size_t bytes)
{
    for (struct atomic_object *other = NULL;
         (other = atomic_object_next_overlapping(other, address, bytes));) {
        if (!atomic_exchange(&other->overlaps, 1))
            atomic_store(&other->prevails, 1);
        atomic_store(&o->overlaps, 1);
    }
}

struct atomic_object *atomic_object_get(const volatile void *address, size_t bytes)
{
    struct atomic_object *o = atomic_object_find(address, bytes);
    struct atomic_table *table = atomic_load_explicit(&atomic_table, memory_order_acquire);
    if (o || (!table && !(table = atomic_object_make_table())))
        return o;
    uint64_t wanted = atomic_object_key((uintptr_t)address, bytes);
    o = atomic_object_window(table, (uintptr_t)address);
    for (const struct atomic_object *end = o + TABLE_WINDOW; o < end; o++) {
        uint64_t key = atomic_load(&o->key);
        if (!key && atomic_compare_exchange_strong(&o->key, &key, wanted)) {
            atomic_object_note_overlaps(o, (uintptr_t)address, bytes);
            return o;
        }
        if (key == wanted)
            return o;
    }
    poet_untraced_atomics("more atomic objects than are traced");
    return NULL;
}

/* ---- bounded waits ---- */

#define PAUSES_MOST 100u
#define WAIT_MOST_NS 1000000000u

static inline void atomic_object_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static uint64_t atomic_object_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns false if the wait that began with round 0 has lasted for too long. */
static bool atomic_object_may_wait(struct atomic_object *o, uint64_t sequence, unsigned round,
                                   uint64_t *began_ns)
{
    if (sequence & 1 && sequence == atomic_load_explicit(&o->stuck, memory_order_relaxed))
        return false;
    if (round < PAUSES_MOST) {
        atomic_object_pause();
        return true;
    }
    uint64_t now_ns = atomic_object_now_ns();
    if (round == PAUSES_MOST)
        *began_ns = now_ns;
    sched_yield();
    bool may = now_ns - *began_ns < WAIT_MOST_NS;
    if (!may && sequence & 1)
        atomic_store(&o->stuck, sequence);
    return may;
}

bool atomic_object_lock(struct atomic_object *o)
{
    uint64_t began_ns = 0;
    for (unsigned round = 0;; round++) {
        uint64_t sequence = atomic_load_explicit(&o->sequence, memory_order_relaxed);
        if (!(sequence & 1) &&
            atomic_compare_exchange_weak_explicit(&o->sequence, &sequence, sequence + 1,
                                                  memory_order_seq_cst, memory_order_relaxed))
            return true;
        if (!atomic_object_may_wait(o, sequence, round, &began_ns))
            break;
    }
    /* what is made without the lock may be read as what was stored with it */
    atomic_store(&o->given_up, 1);
    poet_untraced_atomics("an atomic object, since a writer of it did not run for a second");
    return false;
}

void atomic_object_unlock(struct atomic_object *o)
{
    atomic_store_explicit(&o->sequence,
                          atomic_load_explicit(&o->sequence, memory_order_relaxed) + 1,
                          memory_order_release);
}

uint64_t atomic_object_await(struct atomic_object *o)
{
    uint64_t began_ns = 0, sequence;
    for (unsigned round = 0;; round++) {
        sequence = atomic_load_explicit(&o->sequence, memory_order_acquire);
        if (!(sequence & 1) || !atomic_object_may_wait(o, sequence, round, &began_ns))
            return sequence;
    }
}

/* ---- contents, under the lock ---- */

void atomic_object_add_head(struct atomic_object *o, const struct release_head *head)
{
    for (unsigned i = 0; i < o->count; i++)
        if (atomic_object_head(o, i)->thread == head->thread) {
            if (atomic_object_head(o, i)->stamp <= head->stamp)
                *atomic_object_head(o, i) = *head;
            return;
        }
    if (o->count == ATOMIC_HEADS && !o->more) {
        struct atomic_table *table = atomic_load(&atomic_table);
        uint32_t used = atomic_load(&table->more_used);
        while (used < MORE_BLOCKS &&
               !atomic_compare_exchange_weak(&table->more_used, &used, used + 1))
            ;
        o->more = used < MORE_BLOCKS ? table->more[used] : NULL;
    }
    if (o->count == ATOMIC_HEADS_MOST || (o->count == ATOMIC_HEADS && !o->more)) {
        poet_untraced_atomics("a release sequence of too many threads");
        return;
    }
    *atomic_object_head(o, o->count) = *head;
    o->count++;
}

void atomic_object_remove_heads(struct atomic_object *o, poet_line_t except)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < o->count; i++)
        if (except && atomic_object_head(o, i)->thread == except)
            *atomic_object_head(o, kept++) = *atomic_object_head(o, i);
    o->count = (uint8_t)kept;
}

void atomic_object_renew(struct atomic_object *o, uint32_t lifetime)
{
    atomic_store(&o->owner, 0);
    atomic_store(&o->line, 0);
    atomic_store(&o->given_up, 0);
    o->lifetime = lifetime;
    o->known = o->count = 0;
}

void atomic_object_prevail(struct atomic_object *o)
{
    uint64_t key = atomic_load(&o->key);
    struct atomic_object *other = NULL;
    while (
        (other = atomic_object_next_overlapping(other, (uintptr_t)(key >> 3), 1u << (key & 7)))) {
        atomic_store(&other->prevails, 0);
        atomic_store(&other->given_up, 1);
    }
    atomic_store(&o->prevails, 1);
    if (atomic_fetch_add(&o->switches, 1) == SWITCHES_MOST)
        poet_untraced_atomics("accesses of several sizes to the bytes of one object");
}
