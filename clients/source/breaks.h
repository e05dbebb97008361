/* Breakpoints that somebody set in a picture: those of a trace, in the file TRACE.poet-breaks beside it, one a line as the
 * debugger's command `poet break` is told it: "2:17", or "work.c:12 thread 3 arrival 2". */
#ifndef CLIENTS_SOURCE_BREAKS_H
#define CLIENTS_SOURCE_BREAKS_H

#include "wire/endpoint.h"
#include "wire/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct breaks {
    char **items;
    size_t count;
};

/* None where there is no such file. */
void breaks_read(struct breaks *breaks, const char *trace);
void breaks_free(struct breaks *breaks);
/* One more, or, where it is there, one less: *set says which.  False: see error. */
bool breaks_toggle(const char *trace, const char *what, bool *set, struct error *error);

/* What one says. */
struct break_is {
    struct ref at; /* line 0: at a place */
    char *site; /* FILE:LINE, perhaps with folders before it */
    char *thread; /* its line, or its name; NULL: any */
    uint64_t arrival; /* of each thread that one; 0: all */
};
/* False: it is none, and nothing is to be freed. */
bool break_parse(struct break_is *is, const char *words);
void break_free(struct break_is *is);
/* Is that the place? */
bool break_is_site(const struct break_is *is, const char *place);
/* Is that the thread, of that name ("T:work")? */
bool break_is_thread(const struct break_is *is, uint32_t line, const char *name);

#endif
