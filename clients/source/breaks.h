/* Breakpoints that somebody set in a picture: those of a trace, in the file TRACE.poet-breaks beside it, one a line as the
 * debugger's command `poet break` is told it: "2:17", or "work.c:12 thread 3 arrival 2". */
#ifndef CLIENTS_SOURCE_BREAKS_H
#define CLIENTS_SOURCE_BREAKS_H

#include "wire/endpoint.h"

#include <stdbool.h>
#include <stddef.h>

struct breaks {
    char **items;
    size_t count;
};

/* None where there is no such file. */
void breaks_read(struct breaks *breaks, const char *trace);
void breaks_free(struct breaks *breaks);
/* One more, or, where it is there, one less: *set says which.  False: see error. */
bool breaks_toggle(const char *trace, const char *what, bool *set, struct error *error);

#endif
