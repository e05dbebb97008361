/* Lines: announced, called, closed. */
#ifndef CLIENTS_TRACE_CORE_LINE_H
#define CLIENTS_TRACE_CORE_LINE_H

#include "clients/trace/core/thread.h"
#include "wire/told.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Announces a line through the calling thread's queue; its index.  identity: its own, if other processes
 * have the line, too, else NULL. */
uint32_t line_announce(struct thread *thread, const char *kind, const char *name,
                       const void *object, uintptr_t entry, unsigned flags,
                       const uint64_t identity[2]);
#define SHARED_KEYS 0x706f65742e736864u /* second half of identities: no serial of a process */
/* Its object is gone.  Not of a line that other processes have, too. */
void line_close(struct thread *thread, const struct line *line);
void lines_begin(void); /* a new life begins */
bool line_current(uint32_t code); /* announced in this life */

void line_rename(struct thread *thread, const struct line *line, const char *name);
/* A line of the program by its code: its own, where the thread is, or one that it opened; NULL. */
struct line *line_by_code(struct thread *thread, uint32_t code);

static inline void line_opened(struct line *line, const struct thread *thread, uint32_t index)
{
    atomic_store_explicit(&line->life, thread->life, memory_order_relaxed);
    atomic_store_explicit(&line->index, index, memory_order_release);
}

/* A line's code as far as it belongs to this life, else 0. */
static inline uint32_t line_index(const struct line *line)
{
    return atomic_load_explicit(&line->life, memory_order_relaxed) ==
                   atomic_load_explicit(&live, memory_order_relaxed)
               ? atomic_load_explicit(&line->index, memory_order_acquire)
               : 0;
}

#pragma GCC visibility pop
#endif
