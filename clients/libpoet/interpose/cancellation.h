/* Thread cancellation. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_CANCELLATION_H
#define CLIENTS_LIBPOET_INTERPOSE_CANCELLATION_H

#include "clients/libpoet/core/thread.h"

#pragma GCC visibility push(hidden)

/* Sets up the calling thread so that its cancellation is noticed. */
void cancellation_watch(struct traced_thread *thread);

#pragma GCC visibility pop
#endif
