/* Objects that several processes share. */
#ifndef CLIENTS_TRACE_CORE_SHARED_H
#define CLIENTS_TRACE_CORE_SHARED_H

#include "clients/trace/core/object.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

void shared_begin(int fd); /* the counters that the server gave, -1 none; takes the descriptor */
/* The key of its identity, and its far counter set; 0: it is this process's alone. */
uint64_t shared_key(struct object *object,
                    bool *unknown); /* it may be shared, and cannot be looked for */

#pragma GCC visibility pop
#endif
