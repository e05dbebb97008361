#include "clients/libpoet/races/race_conflicts.h"

#include "clients/libpoet/races/race_blocks.h"

#include <stdatomic.h>
#include <string.h>

#define FREED_BYTES 1024u /* of a block that are examined when it is freed */
#define CALLERS_TIMES 4u /* conflicts at the same places of which the callers are recorded */
#define CONFLICTS_MOST 200000u /* of a process */
/* From here on each pair of places has this many, and then one of so many, so that there is room
 * for others. */
#define CONFLICTS_MANY (CONFLICTS_MOST / 2)
#define CONFLICTS_OF_PLACES 64u
#define CONFLICTS_SAMPLED 256u

static _Atomic uint64_t race_conflict_count;

/* Returns whether both accesses were made while their threads held the same lock. */
static bool race_conflict_is_excluded(const struct shadow_interval *a,
                                      const struct shadow_interval *b)
{
    for (unsigned i = 0; i < SHADOW_LOCKS && a->locks[i]; i++)
        for (unsigned k = 0; k < SHADOW_LOCKS && b->locks[k]; k++)
            if (a->locks[i] == b->locks[k])
                return true;
    return false;
}

static poet_access_t race_conflict_access(shadow_record_t record)
{
    const struct shadow_interval *i = access_shadow_interval(shadow_interval_of(record));
    return (poet_access_t){.thread = i->thread,
                           .after = {i->line, i->number},
                           .site = access_shadow_site(shadow_site(record)),
                           .flags = shadow_flags(record),
                           .locks = {i->locks[0], i->locks[1]}};
}

static void race_conflict_find_memory(const struct race_thread *t, poet_conflict_t *c)
{
    uintptr_t address = (uintptr_t)c->address;
    struct race_block block;
    if (race_blocks_find(address, &block)) {
        c->memory = POET_MEMORY_HEAP;
        c->owner = block.lifetime == t->position.lifetime ? block.thread : 0;
        c->block = (const volatile void *)block.address;
        c->block_bytes = block.bytes;
        c->block_site = block.site;
        return;
    }
    c->owner = race_thread_of_stack(address);
    if (c->owner)
        c->memory = POET_MEMORY_STACK;
    else if (race_blocks_are_unseen())
        c->memory = POET_MEMORY_UNSEEN;
}

static void race_conflict_record(struct race_thread *t, uintptr_t cell_address,
                                 shadow_record_t earlier, shadow_record_t later, unsigned times)
{
    unsigned mask = shadow_mask(earlier) & shadow_mask(later);
    unsigned first = (unsigned)__builtin_ctz(mask);
    uint64_t count = atomic_load_explicit(&race_conflict_count, memory_order_relaxed);
    if (count >= CONFLICTS_MOST || (count >= CONFLICTS_MANY && times > CONFLICTS_OF_PLACES &&
                                    times % CONFLICTS_SAMPLED != 0)) {
        race_thread_note_unexamined(t, UNEXAMINED_CONFLICTS);
        return;
    }
    atomic_fetch_add_explicit(&race_conflict_count, 1, memory_order_relaxed);
    poet_conflict_t c = {.earlier = race_conflict_access(earlier),
                         .later = race_conflict_access(later),
                         .address = (const volatile void *)(cell_address + first),
                         .bytes = (size_t)(32 - __builtin_clz(mask)) - first,
                         .with_callers = times <= CALLERS_TIMES};
    race_conflict_find_memory(t, &c);
    poet_conflict(&c);
}

void race_conflicts_note(struct race_thread *t, struct shadow_cell *cell, uintptr_t address,
                         unsigned mask, unsigned flags, const void *site)
{
    shadow_record_t found[SHADOW_RECORDS + 1];
    if (t->inside)
        return;
    t->inside = true;
    atomic_signal_fence(memory_order_seq_cst);
    shadow_record_t access =
        shadow_make_record(t->interval, access_shadow_site_number(site), flags, mask);
    t->accessed |= !(flags & POET_ACCESS_RELEASE);
    unsigned count = access_shadow_add(cell, access, found);
    for (unsigned i = 0; i < count; i++) {
        const struct shadow_interval *a = access_shadow_interval(shadow_interval_of(found[i])),
                                     *b = access_shadow_interval(t->interval);
        unsigned times = a->lifetime == b->lifetime && !race_conflict_is_excluded(a, b)
                             ? race_thread_count(t, found[i], access)
                             : 0;
        if (times)
            race_conflict_record(t, address & ~(uintptr_t)(SHADOW_CELL_BYTES - 1), found[i], access,
                                 times);
    }
    atomic_signal_fence(memory_order_seq_cst);
    t->inside = false;
}

void race_conflicts_note_range(uintptr_t address, size_t bytes, unsigned flags, const void *site)
{
    struct race_thread *t = race_thread_get();
    uint32_t interval = race_thread_interval(t);
    for (uintptr_t at = address, end = address + bytes; interval && at < end;) {
        uintptr_t next = (at & ~(uintptr_t)(SHADOW_CELL_BYTES - 1)) + SHADOW_CELL_BYTES;
        next = next < end ? next : end;
        race_conflicts_note_cell(t, interval, at, (unsigned)(next - at), flags, site);
        at = next;
    }
}

void race_conflicts_note_free(struct race_thread *t, uintptr_t address, size_t bytes,
                              const void *site)
{
    const unsigned flags = POET_ACCESS_WRITE | POET_ACCESS_FREE;
    uint32_t interval = race_thread_interval(t);
    uintptr_t end = address + (bytes < FREED_BYTES ? bytes : FREED_BYTES);
    for (uintptr_t at = address; interval && at < end; at += SHADOW_CELL_BYTES) {
        struct shadow_cell *cell = access_shadow_find(at);
        if (cell && !shadow_cell_has(cell, interval, flags, SHADOW_MASK))
            race_conflicts_note(t, cell, at, SHADOW_MASK, flags, site);
    }
}
