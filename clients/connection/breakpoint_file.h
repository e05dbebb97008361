/* Breakpoints that a user set in a diagram: those of a trace, in the file TRACE.poet-breaks next to
 * it, one per line in the syntax of the debugger's command `poet break`: "2:17", or "work.c:12
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

/* Reads the breakpoints; none if there is no such file. */
void breakpoint_file_read(struct breakpoint_list *breaks, const char *trace);
void breakpoint_file_free(struct breakpoint_list *breaks);
/* Adds a breakpoint, or removes it if present; *set says which. Returns false with the reason in
 * *error. */
bool breakpoint_file_toggle(const char *trace, const char *what, bool *set, struct error *error);

/* A parsed breakpoint. */
struct breakpoint_spec {
    struct event_id at; /* line 0: at a call site */
    char *site; /* FILE:LINE, possibly with directories */
    char *thread; /* its line, or its name; NULL: any */
    uint64_t arrival; /* only this arrival of each thread; 0: all */
};
/* Returns false if it is invalid; then there is nothing to free. */
bool breakpoint_parse(struct breakpoint_spec *is, const char *words);
void breakpoint_free(struct breakpoint_spec *is);
/* Returns whether it matches the call site. */
bool breakpoint_is_at_site(const struct breakpoint_spec *is, const char *place);
/* Returns whether it matches the thread with that name ("T:work"). */
bool breakpoint_is_for_thread(const struct breakpoint_spec *is, uint32_t line, const char *name);

#endif
