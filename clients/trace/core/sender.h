/* A server on another machine. */
#ifndef CLIENTS_TRACE_CORE_SENDER_H
#define CLIENTS_TRACE_CORE_SENDER_H

#include "wire/slot.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

bool sender_begin(void); /* for the present life */
bool sender_add(struct queue_head *head, size_t bytes); /* takes the memory; false: it does not */
void sender_wake(void);
void sender_flush(unsigned most_ms); /* waits until what is there now has been sent */
void sender_forked(void);

#pragma GCC visibility pop
#endif
