/* Safe opening of files that a trace or a view names, which are untrusted. */
#ifndef CLIENTS_SYMBOLS_SAFE_OPEN_H
#define CLIENTS_SYMBOLS_SAFE_OPEN_H

#include <stddef.h>

/* Opens a regular file for reading. Returns a descriptor, or -1 with errno. Never blocks; FIFOs and
 * devices are not even opened, since opening can have side effects. */
int safe_open_file(const char *path);

/* Reads a regular file of at most `limit` bytes. Returns it NUL-terminated, for the caller to free;
 * NULL with errno on failure. size may be NULL. */
char *safe_open_read(const char *path, size_t limit, size_t *size);

#endif
