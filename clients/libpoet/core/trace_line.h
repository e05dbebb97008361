/* Trace lines: announced, renamed, closed. */
#ifndef CLIENTS_LIBPOET_CORE_TRACE_LINE_H
#define CLIENTS_LIBPOET_CORE_TRACE_LINE_H

#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "wire/program_messages.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Announces a line through the calling thread's queue; returns its index. identity: NULL unless
 * other processes have the line, too. */
uint32_t trace_line_announce(struct traced_thread *thread, const char *kind, const char *name,
                             const void *object, uintptr_t entry, unsigned flags,
                             const uint64_t identity[2]);
#define SHARED_KEYS 0x706f65742e736864u /* second half of identities: no serial of a process */
/* Closes the line of an object that is gone. Not for lines that other processes have, too. */
void trace_line_close(struct traced_thread *thread, const struct trace_line *line);
void trace_lines_begin(void); /* Begins a new lifetime. */
/* Returns whether the line was announced in this lifetime. */
bool trace_line_is_current(uint32_t code);

void trace_line_rename(struct traced_thread *thread, const struct trace_line *line,
                       const char *name);
/* Returns a line of the program by its code (the thread's own, the one where it is, or one that it
 * opened), or NULL. */
struct trace_line *trace_line_by_code(struct traced_thread *thread, uint32_t code);

static inline void trace_line_set_opened(struct trace_line *line,
                                         const struct traced_thread *thread, uint32_t index)
{
    atomic_store_explicit(&line->life, thread->life, memory_order_relaxed);
    atomic_store_explicit(&line->index, index, memory_order_release);
}

/* Returns a line's code if it belongs to this lifetime, else 0. */
static inline uint32_t trace_line_index(const struct trace_line *line)
{
    return atomic_load_explicit(&line->life, memory_order_relaxed) ==
                   atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed)
               ? atomic_load_explicit(&line->index, memory_order_acquire)
               : 0;
}

#pragma GCC visibility pop
#endif
