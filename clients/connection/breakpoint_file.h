/* Breakpoints that somebody set in a picture: those of a trace, in the file TRACE.poet-breaks
 * beside it, one a line as the debugger's command `poet break` is told it: "2:17", or "work.c:12
 * thread 3 arrival 2". */
#ifndef CLIENTS_CONNECTION_BREAKPOINT_FILE_H
#define CLIENTS_CONNECTION_BREAKPOINT_FILE_H

#include "wire/endpoint.h"
#include "wire/event_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct breakpoint_list {
    char **items;
    size_t count;
};

/* None where there is no such file. */
void breakpoint_file_read(struct breakpoint_list *breaks, const char *trace);
void breakpoint_file_free(struct breakpoint_list *breaks);
/* One more, or, where it is there, one less: *set says which.  False: see error. */
bool breakpoint_file_toggle(const char *trace, const char *what, bool *set, struct error *error);

/* What one says. */
struct breakpoint_spec {
    struct event_id at; /* line 0: at a place */
    char *site; /* FILE:LINE, perhaps with folders before it */
    char *thread; /* its line, or its name; NULL: any */
    uint64_t arrival; /* of each thread that one; 0: all */
};
/* False: it is none, and nothing is to be freed. */
bool breakpoint_parse(struct breakpoint_spec *is, const char *words);
void breakpoint_free(struct breakpoint_spec *is);
/* Is that the place? */
bool breakpoint_is_at_site(const struct breakpoint_spec *is, const char *place);
/* Is that the thread, of that name ("T:work")? */
bool breakpoint_is_for_thread(const struct breakpoint_spec *is, uint32_t line, const char *name);

#endif
