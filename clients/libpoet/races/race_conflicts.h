/* Conflicts of accesses (access_shadow.h): those that a common lock does not order are recorded,
 * for the server to compare the events before and after them. */
#ifndef CLIENTS_LIBPOET_RACES_RACE_CONFLICTS_H
#define CLIENTS_LIBPOET_RACES_RACE_CONFLICTS_H

#include "clients/libpoet/races/race_thread.h"

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Adds an access of the thread, of bytes of one cell, to the shadow memory, and records its
 * conflicts. `address`: of the first of them. */
void race_conflicts_note(struct race_thread *thread, struct shadow_cell *cell, uintptr_t address,
                         unsigned mask, unsigned flags, const void *site);

/* Examines an access of bytes of one cell, in this interval of the thread. */
static inline __attribute__((always_inline)) void
race_conflicts_note_cell(struct race_thread *t, uint32_t interval, uintptr_t address,
                         unsigned bytes, unsigned flags, const void *site)
{
    struct shadow_cell *cell = access_shadow_cell(address);
    unsigned mask = ((1u << bytes) - 1) << (address & (SHADOW_CELL_BYTES - 1));
    if (__builtin_expect(!cell, 0))
        race_thread_note_unexamined(t, UNEXAMINED_MEMORY);
    else if (!shadow_cell_has(cell, interval, flags, mask))
        race_conflicts_note(t, cell, address, mask, flags, site);
}

/* Examines an access of the calling thread. */
void race_conflicts_note_range(uintptr_t address, size_t bytes, unsigned flags, const void *site);

/* Examines that the thread frees a block: the beginning of it, as far as examined code has accessed
 * memory around. */
void race_conflicts_note_free(struct race_thread *thread, uintptr_t address, size_t bytes,
                              const void *site);

#pragma GCC visibility pop
#endif
