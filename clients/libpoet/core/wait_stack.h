/* Call stack of the calling thread where it waits or ends a wait, for a record (wire/slot.h):
 * unwound by the tables of compilers, without frames of libpoet and of the C library's start of
 * threads. Async-signal-safe; nothing is allocated or locked, except that a library which was
 * opened meanwhile is announced. */
#ifndef CLIENTS_LIBPOET_CORE_WAIT_STACK_H
#define CLIENTS_LIBPOET_CORE_WAIT_STACK_H

#include "wire/slot.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The stack of the calling thread: addresses within its functions, the innermost first, in memory
 * of the caller's. */
struct call_stack_sites {
    uintptr_t *sites;
    uint32_t count, most; /* most: of which there is room */
    enum stack_end end;
    bool in_libpoet; /* of an interrupted thread: it was within libpoet */
};

void wait_stack_begin(void); /* Called by the first thread. */
/* Collects the stack from the call at `site` on. Returns false if that is not found on it. */
bool wait_stack_collect(uintptr_t site, struct call_stack_sites *list);
/* Collects the stack that a signal handler interrupted; context: its third argument. */
void wait_stack_collect_interrupted(const void *context, struct call_stack_sites *list);
/* Reads the stack above the call at `site`, which the thread is in. Returns it, or NULL if the call
 * is not found on the stack. */
const struct slot_stack *wait_stack_read(uintptr_t site, struct slot_stack *stack);

#pragma GCC visibility pop
#endif
