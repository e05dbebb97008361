/* Streams of bytes that go from one machine to another. */
#ifndef CLIENTS_TRACE_CORE_FAR_H
#define CLIENTS_TRACE_CORE_FAR_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

void far_begin(bool may); /* a new life: programs of other machines may be in its run */

#pragma GCC visibility pop
#endif
