/* Return addresses of calls, as Poet's libraries that are interposed see them: while calls of
 * libraries are measured, a call may return to libpoet first. */
#ifndef CLIENTS_LIBPOET_RETURN_ADDRESS_H
#define CLIENTS_LIBPOET_RETURN_ADDRESS_H

#include <stddef.h>

/* Returns where the caller continues. */
const void *poet_return_address(const void *back);
/* Returns where libpoet's return addresses begin, and sets their size; 0: there are none. */
const void *poet_return_places(size_t *bytes);

#endif
