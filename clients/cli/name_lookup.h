/* Names as people write them, of places of the code and of lines. */
#ifndef CLIENTS_CLI_NAME_LOOKUP_H
#define CLIENTS_CLI_NAME_LOOKUP_H

#include "clients/connection/result_table.h"

/* "main (hold.c:5)" is called so, "main" and "hold.c:5"; the name may have * and
 * ?. */
bool name_lookup_matches(const struct table_names *names, struct table_place place,
                         const char *name);
/* The line that is called so, with or without its letter ("M:m", "m"); 0: there is none.  *several:
 * more than one is. */
uint32_t name_lookup_line(const struct trace_metadata *book, const char *name, bool *several);

#endif
