/* What a thread tells beside its events: messages, in their place among its slots. */
#ifndef CLIENTS_TRACE_CORE_TELL_H
#define CLIENTS_TRACE_CORE_TELL_H

#include "clients/trace/core/thread.h"
#include "wire/message.h"
#include "wire/told.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Writes a control: a message body of that type. */
bool tell_control(struct thread *thread, enum message type, const struct out *body);
/* Calls that are not in the trace may come before events of any thread: the run says so, once a life.  Call while busy. */
void tell_untold(struct thread *thread);
bool tell_is_told(enum unseen reason,
                  const struct thread *thread); /* thread->untold was told in its life */

/* The program ends by itself.  Not in a signal handler that came while its thread was busy. */
void tell_ends(enum told_end how);

#pragma GCC visibility pop
#endif
