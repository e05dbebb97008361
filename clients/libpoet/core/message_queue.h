/* What a thread tells beside its events: messages, in their place among its slots. */
#ifndef CLIENTS_LIBPOET_CORE_MESSAGE_QUEUE_H
#define CLIENTS_LIBPOET_CORE_MESSAGE_QUEUE_H

#include "clients/libpoet/core/thread.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Writes a control: a message body of that type. */
bool message_queue_send(struct traced_thread *thread, enum message_type type,
                        const struct encoder *body);
/* Calls that are not in the trace may come before events of any thread: the run says so, once a
 * life.  Call while busy. */
void message_queue_report_untraced(struct traced_thread *thread);
bool message_queue_untraced_is_reported(
    enum untraced_reason reason,
    const struct traced_thread *thread); /* thread->untold was told in its life */

/* The program ends by itself.  Not in a signal handler that came while its thread was busy. */
void message_queue_send_end(enum program_end how);

#pragma GCC visibility pop
#endif
