/* Replacement of a full queue by a larger one. */
#ifndef CLIENTS_LIBPOET_CORE_QUEUE_GROW_H
#define CLIENTS_LIBPOET_CORE_QUEUE_GROW_H

#include "clients/libpoet/core/thread.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Makes a larger queue for a thread whose queue is full. Returns false if there is none now. */
bool queue_grow(struct traced_thread *thread);
void queue_drop_older(struct traced_thread *thread);
void queue_grow_forget(const struct traced_thread *thread); /* it is done */
void queue_grow_forked(void);

#pragma GCC visibility pop
#endif
