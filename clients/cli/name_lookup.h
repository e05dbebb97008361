/* Lookup of code places and lines by the names that users write. */
#ifndef CLIENTS_CLI_NAME_LOOKUP_H
#define CLIENTS_CLI_NAME_LOOKUP_H

#include "clients/connection/result_table.h"

/* Returns whether the name is that of the place: "main (hold.c:5)" matches "main" and "hold.c:5";
 * the name may contain * and ?. */
bool name_lookup_matches(const struct table_names *names, struct table_place place,
                         const char *name);
/* Returns the line with that name, with or without its letter ("M:m", "m"); 0: none. *several:
 * there is more than one. */
uint32_t name_lookup_line(const struct trace_metadata *book, const char *name, bool *several);

#endif
