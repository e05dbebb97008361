/* Shadow memory: for each 8 bytes of memory that examined code accesses, the latest accesses. It
 * finds conflicts: accesses of the same bytes by two threads, at least one of them a plain access
 * and at least one a write. It does not know whether one of them happened before the other.
 *
 * A shadow page has a cell for each 8 bytes of a page of memory; a flat table leads to it. All of
 * it is memory that is only touched as it is used, that is limited, and that the kernel clears in
 * a child of fork. There are no locks: each record of an access is one word. A thread stores its
 * own record before it looks for those of others, so of two threads that come at the same time
 * one finds the other.
 *
 * Accesses are made in intervals: the time from one event of a thread to its next one. The first
 * interval of a thread after another one is created by it. */
#ifndef CLIENTS_LIBPOET_RACES_ACCESS_SHADOW_H
#define CLIENTS_LIBPOET_RACES_ACCESS_SHADOW_H

#include "clients/libpoet/poet.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define SHADOW_RECORDS 4u /* in a cell */
#define SHADOW_SITE_BITS 20u
#define SHADOW_PAGE_BITS 12u
#define SHADOW_CELL_BYTES 8u /* of memory */
#define SHADOW_CELLS (1u << SHADOW_PAGE_BITS >> 3)
#define SHADOW_LOCKS 3u

/* An access as a word: bytes of the cell that it accessed, its flags (POET_ACCESS_), its site and
 * its interval. 0: none. */
typedef uint64_t shadow_record_t;
#define SHADOW_FLAGS_AT 8u
#define SHADOW_SITE_AT 12u
#define SHADOW_INTERVAL_AT 32u
#define SHADOW_MASK 0xffu
#define SHADOW_FLAGS 15u

struct shadow_cell {
    _Atomic shadow_record_t records[SHADOW_RECORDS];
};

struct shadow_page {
    struct shadow_cell cells[SHADOW_CELLS];
};

/* The time after an event of a thread, while it holds these locks. Lines are valid in a
 * lifetime. Tasks that one thread of the system runs are ordered by it; its number is 0 if it is
 * not known. */
struct shadow_interval {
    poet_line_t thread, line;
    uint64_t number;
    uint16_t lifetime, system_thread;
    poet_line_t locks[SHADOW_LOCKS]; /* the innermost first; 0: none */
};

static inline unsigned shadow_mask(shadow_record_t r) { return r & SHADOW_MASK; }
static inline unsigned shadow_flags(shadow_record_t r)
{
    return (unsigned)(r >> SHADOW_FLAGS_AT) & SHADOW_FLAGS;
}
static inline uint32_t shadow_site(shadow_record_t r)
{
    return (uint32_t)(r >> SHADOW_SITE_AT) & ((1u << SHADOW_SITE_BITS) - 1);
}
static inline uint32_t shadow_interval_of(shadow_record_t r)
{
    return (uint32_t)(r >> SHADOW_INTERVAL_AT);
}
static inline shadow_record_t shadow_make_record(uint32_t interval, uint32_t site, unsigned flags,
                                                 unsigned mask)
{
    return (shadow_record_t)interval << SHADOW_INTERVAL_AT |
           (shadow_record_t)site << SHADOW_SITE_AT | flags << SHADOW_FLAGS_AT | mask;
}

/* Returns whether an access with flags `a` conflicts with all that one with flags `b` would, and is
 * ordered after no more. */
static inline bool shadow_flags_cover(unsigned a, unsigned b)
{
    return (a & POET_ACCESS_WRITE) >= (b & POET_ACCESS_WRITE) &&
           (a & POET_ACCESS_ATOMIC) <= (b & POET_ACCESS_ATOMIC) &&
           (a & POET_ACCESS_RELEASE) <= (b & POET_ACCESS_RELEASE) &&
           (a & POET_ACCESS_FREE) >= (b & POET_ACCESS_FREE);
}

/* Returns whether the cell has an access of the same interval that covers this one. */
static inline bool shadow_cell_has(struct shadow_cell *cell, uint32_t interval, unsigned flags,
                                   unsigned mask)
{
    for (unsigned i = 0; i < SHADOW_RECORDS; i++) {
        shadow_record_t r = atomic_load_explicit(&cell->records[i], memory_order_relaxed);
        if (shadow_interval_of(r) == interval && !(mask & ~shadow_mask(r)) &&
            shadow_flags_cover(shadow_flags(r), flags))
            return true;
    }
    return false;
}

#define SHADOW_ADDRESS_BITS 47u
#define SHADOW_TABLE_ENTRIES ((size_t)1 << (SHADOW_ADDRESS_BITS - SHADOW_PAGE_BITS))
#define SHADOW_PAGES_MOST (1u << 17) /* 2 GiB of shadow memory for 512 MiB of memory */
#define SHADOW_INTERVALS_MOST (1u << 25)
#define SHADOW_SITES_MOST (1u << SHADOW_SITE_BITS)

/* Everything, in one mapping; NULL: not reserved. */
struct access_shadow {
    _Atomic uint32_t page_count, interval_count;
    _Alignas(64) _Atomic(const void *) sites[SHADOW_SITES_MOST];
    _Alignas(4096) _Atomic uint32_t table[SHADOW_TABLE_ENTRIES]; /* 1 + number of a shadow page */
    struct shadow_interval intervals[SHADOW_INTERVALS_MOST];
    _Alignas(4096) struct shadow_page pages[SHADOW_PAGES_MOST];
};
extern struct access_shadow *_Atomic access_shadow;

static inline struct access_shadow *access_shadow_get(void)
{
    return atomic_load_explicit(&access_shadow, memory_order_acquire);
}

/* Reserves the memory. Returns false if that fails: nothing is examined then. May be called again,
 * and by several threads at a time. */
bool access_shadow_reserve(void);

/* Returns the cell of an address; NULL: there is no more memory for it (or none reserved). */
struct shadow_cell *access_shadow_cell(uintptr_t address);
/* Returns the same if it exists, else NULL. */
static inline struct shadow_cell *access_shadow_find(uintptr_t address)
{
    struct access_shadow *s = access_shadow_get();
    if (!s || address >> SHADOW_ADDRESS_BITS)
        return NULL;
    uint32_t number =
        atomic_load_explicit(&s->table[address >> SHADOW_PAGE_BITS], memory_order_relaxed);
    return number ? &s->pages[number - 1].cells[address / SHADOW_CELL_BYTES % SHADOW_CELLS] : NULL;
}

/* Adds an access, for which shadow_cell_has() returned false. Returns the number of accesses that
 * conflict with it, which are in `found`. */
unsigned access_shadow_add(struct shadow_cell *cell, shadow_record_t access,
                           shadow_record_t found[SHADOW_RECORDS + 1]);

/* Forgets all accesses of a range: its memory is used for something else from now on. */
void access_shadow_clear(uintptr_t address, size_t bytes);

/* Creates an interval. Returns its number, or 0 if there are too many. */
uint32_t access_shadow_add_interval(const struct shadow_interval *interval);
const struct shadow_interval *access_shadow_interval(uint32_t number);

/* Returns the number of an address of code, created if needed; 0: unknown, or there are too
 * many. */
uint32_t access_shadow_site_number(const void *site);
const void *access_shadow_site(uint32_t number);

#pragma GCC visibility pop
#endif
