/* Whose functions libpoet calls. */
#ifndef CLIENTS_LIBPOET_CORE_LIBC_BINDING_H
#define CLIENTS_LIBPOET_CORE_LIBC_BINDING_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)
/* false: the C library's tables were not found, and calls are as the loader bound them */
bool libc_bind_to_libc(void);
void *
libc_bind_found(const char *name); /* the C library's, of the newest version; NULL: not known */
#pragma GCC visibility pop

#endif
