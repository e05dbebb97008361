/* The memory that libpoet lives on. */
#ifndef CLIENTS_LIBPOET_CORE_TRACER_ARENA_H
#define CLIENTS_LIBPOET_CORE_TRACER_ARENA_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Zeroed, aligned to 16 bytes, never given back and never malloc's; at most 256 KB at once.  NULL:
 * the system has none.  From any thread; in a signal handler only while the thread is not busy
 * (thread.h). */
void *tracer_arena_alloc(size_t bytes);
void tracer_arena_forked(void); /* in a child: what was being taken is left behind */

#pragma GCC visibility pop
#endif
