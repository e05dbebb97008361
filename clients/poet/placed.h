/* Names as people write them, of places of the code and of lines. */
#ifndef CLIENTS_POET_PLACED_H
#define CLIENTS_POET_PLACED_H

#include "clients/source/table.h"

/* "main (hold.c:5)" is called so, "main" and "hold.c:5"; the name may have * and ?. */
bool placed_is(const struct table_names *names, struct table_place place, const char *name);
/* The line that is called so, with or without its letter ("M:m", "m"); 0: there is none.  *several: more than one is. */
uint32_t placed_line(const struct book *book, const char *name, bool *several);

#endif
