/* libpoet-races: the accesses of memory that the compiler reports from units compiled by
 * poetcc -trace=races, by the functions that ThreadSanitizer's run-time has, which is not there.
 * Atomic operations are libpoet-atomics', which reports their accesses here. */
#include "clients/libpoet/races/race_conflicts.h"

#include <string.h>

#define HOOK __attribute__((visibility("default")))
#define SITE ((const char *)__builtin_return_address(0) - 1)

/* The usual access is known already: then nothing else is called. */
static inline __attribute__((always_inline)) void
race_hook_access(const volatile void *p, unsigned bytes, unsigned flags, const void *site)
{
    uintptr_t address = (uintptr_t)p;
    unsigned offset = address & (SHADOW_CELL_BYTES - 1);
    if (__builtin_expect(offset + bytes <= SHADOW_CELL_BYTES, 1) &&
        __builtin_expect(poet_progress == race_now.progress, 1)) {
        uint32_t interval = race_now.interval;
        struct shadow_cell *cell = access_shadow_find(address);
        unsigned mask = ((1u << bytes) - 1) << offset;
        if (!interval || (cell && shadow_cell_has(cell, interval, flags, mask)))
            return;
    }
    race_conflicts_note_range(address, bytes, flags, site);
}

#define ACCESS(name, bytes, flags)                                                                 \
    HOOK void __tsan_##name(void *address);                                                        \
    HOOK void __tsan_##name(void *address) { race_hook_access(address, bytes, flags, SITE); }
#define ACCESSES(bytes)                                                                            \
    ACCESS(read##bytes, bytes, 0)                                                                  \
    ACCESS(write##bytes, bytes, POET_ACCESS_WRITE)                                                 \
    ACCESS(read_write##bytes, bytes, POET_ACCESS_WRITE)                                            \
    ACCESS(unaligned_read##bytes, bytes, 0)                                                        \
    ACCESS(unaligned_write##bytes, bytes, POET_ACCESS_WRITE)                                       \
    ACCESS(unaligned_read_write##bytes, bytes, POET_ACCESS_WRITE)                                  \
    ACCESS(volatile_read##bytes, bytes, 0)                                                         \
    ACCESS(volatile_write##bytes, bytes, POET_ACCESS_WRITE)                                        \
    ACCESS(unaligned_volatile_read##bytes, bytes, 0)                                               \
    ACCESS(unaligned_volatile_write##bytes, bytes, POET_ACCESS_WRITE)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
ACCESS(vptr_read, sizeof(void *), 0)

HOOK void __tsan_read_range(void *address, size_t bytes);
HOOK void __tsan_read_range(void *address, size_t bytes)
{
    race_conflicts_note_range((uintptr_t)address, bytes, 0, SITE);
}
HOOK void __tsan_write_range(void *address, size_t bytes);
HOOK void __tsan_write_range(void *address, size_t bytes)
{
    race_conflicts_note_range((uintptr_t)address, bytes, POET_ACCESS_WRITE, SITE);
}

/* A destructor sets the pointer that is there already. */
HOOK void __tsan_vptr_update(void **address, void *value);
HOOK void __tsan_vptr_update(void **address, void *value)
{
    if (*address != value)
        race_hook_access(address, sizeof *address, POET_ACCESS_WRITE, SITE);
}

/* ---- functions of the C library ---- */

HOOK void *__tsan_memcpy(void *to, const void *from, size_t bytes);
HOOK void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    race_conflicts_note_range((uintptr_t)from, bytes, 0, SITE);
    race_conflicts_note_range((uintptr_t)to, bytes, POET_ACCESS_WRITE, SITE);
    return memcpy(to, from, bytes);
}
HOOK void *__tsan_memmove(void *to, const void *from, size_t bytes);
HOOK void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    race_conflicts_note_range((uintptr_t)from, bytes, 0, SITE);
    race_conflicts_note_range((uintptr_t)to, bytes, POET_ACCESS_WRITE, SITE);
    return memmove(to, from, bytes);
}
HOOK void *__tsan_memset(void *to, int byte, size_t bytes);
HOOK void *__tsan_memset(void *to, int byte, size_t bytes)
{
    race_conflicts_note_range((uintptr_t)to, bytes, POET_ACCESS_WRITE, SITE);
    return memset(to, byte, bytes);
}

/* ---- called by libpoet-atomics ---- */

extern void poet_races_atomic(const volatile void *address, size_t bytes, int writes, int releases,
                              const void *site) __attribute__((visibility("default")));
void poet_races_atomic(const volatile void *address, size_t bytes, int writes, int releases,
                       const void *site)
{
    race_hook_access(address, (unsigned)bytes,
                     POET_ACCESS_ATOMIC | (writes ? POET_ACCESS_WRITE : 0) |
                         (releases ? POET_ACCESS_RELEASE : 0),
                     site);
}

/* Returns whether the shadow memory has accesses of the calling thread since its last event: what
 * is to happen after them needs an event. */
extern int poet_races_accessed(void) __attribute__((visibility("default")));
int poet_races_accessed(void)
{
    struct race_thread *t = race_thread_get();
    return race_thread_interval(t) && t->accessed;
}
