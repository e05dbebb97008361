/* Messages that a thread sends beside its events, in their place among its slots. */
#ifndef CLIENTS_LIBPOET_CORE_MESSAGE_QUEUE_H
#define CLIENTS_LIBPOET_CORE_MESSAGE_QUEUE_H

#include "clients/libpoet/core/thread.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Writes a control slot: a message body of that type. */
bool message_queue_send(struct traced_thread *thread, enum message_type type,
                        const struct encoder *body);
/* Reports, once a lifetime, that calls that are not in the trace may come before events of any
 * thread. Must be called while busy. */
void message_queue_report_untraced(struct traced_thread *thread);
/* Returns whether thread->untold was reported in the thread's lifetime. */
bool message_queue_untraced_is_reported(enum untraced_reason reason,
                                        const struct traced_thread *thread);

/* Reports that the program ends by itself. Not for a signal handler that runs while its thread is
 * busy. */
void message_queue_send_end(enum program_end how);

#pragma GCC visibility pop
#endif
