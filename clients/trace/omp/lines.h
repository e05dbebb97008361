/* Lines of what threads meet at: regions, critical sections and locks, each found by its address.  A line is opened when
 * it is first asked for, and again under another server and after a fork.  Thread-safe. */
#ifndef CLIENTS_TRACE_OMP_LINES_H
#define CLIENTS_TRACE_OMP_LINES_H

#include "clients/trace/poet.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum line_kind { LINE_REGION, LINE_CRITICAL, LINE_LOCK };
/* That of the object at an address; a new one if there is none yet.  0: it is not recorded, or there is no memory. */
poet_line_t line_of(enum line_kind kind, const void *object, const char *name, const void *site);
/* The object is gone, or another one: its line is not found any more. */
void line_forget(enum line_kind kind, const void *object);
/* One more comes to it; whether somebody else has come who has not gone. */
bool line_comes(enum line_kind kind, const void *object);
void line_goes(enum line_kind kind, const void *object);
/* The thread goes into a line that is not 0, after it has got what that stands for; and out of it, before it gives it back. */
void line_enter(poet_line_t line, const void *site);
void line_leave(enum line_kind kind, const void *object, const void *site);
/* How often its holder has entered it, for locks that nest; its holder alone may touch it.  NULL: none yet. */
unsigned *line_depth(enum line_kind kind, const void *object);

#pragma GCC visibility pop
#endif
