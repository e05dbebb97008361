/* Allocator for libpoet's own memory. */
#ifndef CLIENTS_LIBPOET_CORE_TRACER_ARENA_H
#define CLIENTS_LIBPOET_CORE_TRACER_ARENA_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Returns zeroed memory, aligned to 16 bytes, never freed and not taken from malloc; at most 256 KB
 * at once. Returns NULL if the system has none. Thread-safe; in a signal handler only while the
 * thread is not busy (thread.h). */
void *tracer_arena_alloc(size_t bytes);
/* Returns a copy of a text of that many bytes, with a NUL; NULL if there is no memory. */
char *tracer_arena_copy(const char *text, size_t bytes);
/* Called in a child: memory that another thread was allocating is lost. */
void tracer_arena_forked(void);

#pragma GCC visibility pop
#endif
