/* Cancellation. */
#ifndef CLIENTS_TRACE_CALLS_CANCEL_H
#define CLIENTS_TRACE_CALLS_CANCEL_H

#include "clients/trace/core/thread.h"

#pragma GCC visibility push(hidden)

void cancellation_watch(
    struct traced_thread *thread); /* the calling one: it is seen when it is cancelled */

#pragma GCC visibility pop
#endif
