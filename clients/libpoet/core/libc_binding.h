/* Binding of libpoet's own calls to the C library, past functions that the program defines. */
#ifndef CLIENTS_LIBPOET_CORE_LIBC_BINDING_H
#define CLIENTS_LIBPOET_CORE_LIBC_BINDING_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)
/* Returns false if the C library's tables were not found; calls then stay as the loader bound
 * them. */
bool libc_bind_to_libc(void);
/* Returns the C library's function, of the newest version, or NULL if it is not found. */
void *libc_bind_found(const char *name);
#pragma GCC visibility pop

#endif
