/* What the program does that is not followed. */
#ifndef CLIENTS_LIBPOET_CORE_UNTRACED_USES_H
#define CLIENTS_LIBPOET_CORE_UNTRACED_USES_H

#include "wire/event_types.h"
#include "wire/message.h"

#pragma GCC visibility push(hidden)

/* Tells the server of it, once for each `what`, by the connection. */
void untraced_use_report(enum untraced_reason reason, const char *what);
void untraced_use_forked(void);
void untraced_use_forward(void); /* what the server had no time for then */
void untraced_use_announce(struct encoder *out); /* an UNSEEN for each that was told before */
void untraced_use_forked(void);

#pragma GCC visibility pop
#endif
