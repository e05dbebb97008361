/* Cancellation. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_CANCELLATION_H
#define CLIENTS_LIBPOET_INTERPOSE_CANCELLATION_H

#include "clients/libpoet/core/thread.h"

#pragma GCC visibility push(hidden)

void cancellation_watch(
    struct traced_thread *thread); /* the calling one: it is seen when it is cancelled */

#pragma GCC visibility pop
#endif
