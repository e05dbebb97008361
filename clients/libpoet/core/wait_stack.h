/* Call stack of the calling thread where it waits or ends a wait, for a record (wire/slot.h):
 * unwound by the tables of compilers, without frames of libpoet and of the C library's start of
 * threads. Async-signal-safe; nothing is allocated or locked, except that a library which was
 * opened meanwhile is announced. */
#ifndef CLIENTS_LIBPOET_CORE_WAIT_STACK_H
#define CLIENTS_LIBPOET_CORE_WAIT_STACK_H

#include "wire/slot.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

void wait_stack_begin(void); /* Called by the first thread. */
/* Reads the stack above the call at `site`, which the thread is in. Returns it, or NULL if the call
 * is not found on the stack. */
const struct slot_stack *wait_stack_read(uintptr_t site, struct slot_stack *stack);

#pragma GCC visibility pop
#endif
