#define _GNU_SOURCE
#include "clients/libpoet/races/access_shadow.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#define PAGES_SHARE 4u /* shadow pages have at most this part of the machine's memory */
#define SITE_LOOKS 64u

struct access_shadow *_Atomic access_shadow;
static uint32_t access_shadow_pages_most;

bool access_shadow_reserve(void)
{
    if (atomic_load_explicit(&access_shadow, memory_order_acquire))
        return true;
    int saved = errno;
    struct access_shadow *before = NULL,
                         *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made != MAP_FAILED) {
        struct sysinfo info = {0};
        sysinfo(&info);
        uint64_t most =
            (uint64_t)info.totalram * info.mem_unit / PAGES_SHARE / sizeof(struct shadow_page);
        access_shadow_pages_most = most < SHADOW_PAGES_MOST ? (uint32_t)most : SHADOW_PAGES_MOST;
        madvise(made, sizeof *made, MADV_NOHUGEPAGE);
        madvise(made, sizeof *made, MADV_DONTDUMP);
        if (madvise(made, sizeof *made, MADV_WIPEONFORK) != 0 ||
            !atomic_compare_exchange_strong(&access_shadow, &before, made))
            munmap(made, sizeof *made);
    }
    errno = saved;
    return atomic_load(&access_shadow) != NULL;
}

/* ---- pages ---- */

static struct shadow_page *access_shadow_add_page(struct access_shadow *s, _Atomic uint32_t *entry)
{
    uint32_t number = atomic_load(&s->page_count), none = 0;
    do
        if (number >= access_shadow_pages_most) {
            return NULL;
        }
    while (!atomic_compare_exchange_weak(&s->page_count, &number, number + 1));
    /* (a page that another thread has added meanwhile is used; this one is lost) */
    if (!atomic_compare_exchange_strong(entry, &none, number + 1))
        number = none - 1;
    return &s->pages[number];
}

struct shadow_cell *access_shadow_cell(uintptr_t address)
{
    struct shadow_cell *cell = access_shadow_find(address);
    struct access_shadow *s = access_shadow_get();
    if (__builtin_expect(cell != NULL, 1) || !s || address >> SHADOW_ADDRESS_BITS)
        return cell;
    struct shadow_page *page = access_shadow_add_page(s, &s->table[address >> SHADOW_PAGE_BITS]);
    return page ? &page->cells[address / SHADOW_CELL_BYTES % SHADOW_CELLS] : NULL;
}

/* ---- accesses ---- */

/* Returns whether two accesses are ordered by the thread, or the thread of the system, that made
 * both. */
static inline bool access_shadow_same_thread(shadow_record_t r, shadow_record_t s)
{
    const struct shadow_interval *a = access_shadow_interval(shadow_interval_of(r)),
                                 *b = access_shadow_interval(shadow_interval_of(s));
    return a->thread == b->thread || (a->system_thread && a->system_thread == b->system_thread);
}

static inline bool access_shadow_conflicts(shadow_record_t a, shadow_record_t b)
{
    unsigned either = shadow_flags(a) | shadow_flags(b), both = shadow_flags(a) & shadow_flags(b);
    return a && b && shadow_mask(a) & shadow_mask(b) && either & POET_ACCESS_WRITE &&
           !(both & POET_ACCESS_ATOMIC) && !access_shadow_same_thread(a, b);
}

/* Returns whether an earlier access need not be kept beside a later one: each access that is to
 * come and conflicts with it conflicts with the later one, too; and it is by the same thread, or
 * the two conflict themselves, so that either it happened before the later one or that is found. */
static bool access_shadow_is_covered(shadow_record_t earlier, shadow_record_t later)
{
    return !(shadow_mask(earlier) & ~shadow_mask(later)) &&
           shadow_flags_cover(shadow_flags(later), shadow_flags(earlier)) &&
           (access_shadow_same_thread(earlier, later) || access_shadow_conflicts(earlier, later));
}

static inline bool access_shadow_is_continued(shadow_record_t earlier, shadow_record_t later)
{
    return earlier >> SHADOW_FLAGS_AT == later >> SHADOW_FLAGS_AT;
}

/* Returns in which record of the cell an access is stored: in that of one which it continues or
 * covers, in a free one, else in that of a read, one after the other. */
static unsigned access_shadow_choose(struct shadow_cell *cell, shadow_record_t *access)
{
    unsigned chosen = SHADOW_RECORDS, read = SHADOW_RECORDS;
    unsigned first = (unsigned)((*access >> SHADOW_INTERVAL_AT) + shadow_site(*access));
    for (unsigned i = 0; i < SHADOW_RECORDS; i++) {
        shadow_record_t r = atomic_load_explicit(&cell->records[i], memory_order_relaxed);
        if (r && access_shadow_is_continued(r, *access)) {
            *access |= r & SHADOW_MASK;
            return i;
        }
        if (!r ? chosen == SHADOW_RECORDS : access_shadow_is_covered(r, *access))
            chosen = i;
        unsigned k = (first + i) % SHADOW_RECORDS;
        r = atomic_load_explicit(&cell->records[k], memory_order_relaxed);
        if (!(shadow_flags(r) & POET_ACCESS_WRITE))
            read = k;
    }
    return chosen < SHADOW_RECORDS ? chosen : read < SHADOW_RECORDS ? read : first % SHADOW_RECORDS;
}

unsigned access_shadow_add(struct shadow_cell *cell, shadow_record_t access,
                           shadow_record_t found[SHADOW_RECORDS + 1])
{
    shadow_record_t stored = access;
    unsigned at = access_shadow_choose(cell, &stored), count = 0;
    shadow_record_t before = atomic_exchange(&cell->records[at], stored);
    if (access_shadow_conflicts(before, access))
        found[count++] = before;
    for (unsigned i = 0; i < SHADOW_RECORDS; i++) {
        shadow_record_t r = i == at ? 0 : atomic_load(&cell->records[i]);
        if (!r)
            continue;
        if (access_shadow_conflicts(r, access))
            found[count++] = r;
        if (access_shadow_is_covered(r, access))
            atomic_compare_exchange_strong(&cell->records[i], &r, 0);
    }
    return count;
}

static void access_shadow_clear_cells(uintptr_t from, uintptr_t end)
{
    struct shadow_cell *cell = access_shadow_find(from);
    uintptr_t first = from / SHADOW_CELL_BYTES,
              last = (end + SHADOW_CELL_BYTES - 1) / SHADOW_CELL_BYTES;
    for (uintptr_t i = first; cell && i < last; i++, cell++)
        for (unsigned k = 0; k < SHADOW_RECORDS; k++)
            atomic_store_explicit(&cell->records[k], 0, memory_order_relaxed);
}

void access_shadow_clear(uintptr_t address, size_t bytes)
{
    const uintptr_t page = (uintptr_t)1 << SHADOW_PAGE_BITS;
    if (!access_shadow_get() || address >> SHADOW_ADDRESS_BITS)
        return;
    for (uintptr_t at = address, end = address + bytes; at < end;) {
        uintptr_t next = (at & ~(page - 1)) + page;
        access_shadow_clear_cells(at, next < end ? next : end);
        at = next;
    }
}

/* ---- intervals ---- */

uint32_t access_shadow_add_interval(const struct shadow_interval *interval)
{
    struct access_shadow *s = access_shadow_get();
    if (!s ||
        atomic_load_explicit(&s->interval_count, memory_order_relaxed) >= SHADOW_INTERVALS_MOST - 1)
        return 0;
    uint32_t number = 1 + atomic_fetch_add_explicit(&s->interval_count, 1, memory_order_relaxed);
    if (number >= SHADOW_INTERVALS_MOST)
        return 0;
    s->intervals[number] = *interval;
    return number;
}

const struct shadow_interval *access_shadow_interval(uint32_t number)
{
    return &access_shadow_get()->intervals[number];
}

/* ---- sites ---- */

uint32_t access_shadow_site_number(const void *site)
{
    struct access_shadow *s = access_shadow_get();
    uint32_t at = (uint32_t)((uintptr_t)site * 0x9e3779b97f4a7c15u >> (64 - SHADOW_SITE_BITS));
    for (unsigned i = 0; s && site && i < SITE_LOOKS; i++, at = (at + 1) % SHADOW_SITES_MOST) {
        const void *known = at ? atomic_load_explicit(&s->sites[at], memory_order_relaxed) : s;
        if (known == site ||
            (!known && atomic_compare_exchange_strong(&s->sites[at], &known, site)))
            return at;
        if (known == site)
            return at;
    }
    return 0;
}

const void *access_shadow_site(uint32_t number)
{
    return number ? atomic_load_explicit(&access_shadow_get()->sites[number], memory_order_relaxed)
                  : NULL;
}
