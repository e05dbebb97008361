/* Untraced synchronization that the program uses. */
#ifndef CLIENTS_LIBPOET_CORE_UNTRACED_USES_H
#define CLIENTS_LIBPOET_CORE_UNTRACED_USES_H

#include "wire/event_types.h"
#include "wire/message.h"

#pragma GCC visibility push(hidden)

/* Reports it to the server by the connection, once for each `what`. */
void untraced_use_report(enum untraced_reason reason, const char *what);
void untraced_use_forked(void);
void untraced_use_forward(void); /* Sends what the server had no time for before. */
/* Writes an UNSEEN message for each that was reported before. */
void untraced_use_announce(struct encoder *out);
void untraced_use_forked(void);

#pragma GCC visibility pop
#endif
