/* What the program does that is not followed. */
#ifndef CLIENTS_TRACE_CORE_UNSEEN_H
#define CLIENTS_TRACE_CORE_UNSEEN_H

#include "wire/event.h"
#include "wire/message.h"

#pragma GCC visibility push(hidden)

/* Tells the server of it, once for each `what`, by the connection. */
void unseen_tell(enum unseen reason, const char *what);
void unseen_forked(void);
void unseen_pass_on(void); /* what the server had no time for then */
void unseen_announce(struct out *out); /* an UNSEEN for each that was told before */
void unseen_forked(void);

#pragma GCC visibility pop
#endif
