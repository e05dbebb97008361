/* Opening files that a trace or a view names: whoever made it may have put anything there. */
#ifndef CLIENTS_SYMBOLS_SAFE_OPEN_H
#define CLIENTS_SYMBOLS_SAFE_OPEN_H

#include <stddef.h>

/* A descriptor to read a regular file; -1 with errno otherwise.  Never waits, as a FIFO or a device
 * may make one: those are not even opened, since some do something when they are. */
int safe_open_file(const char *path);

/* The whole of a regular file of at most `limit` bytes, with a 0 behind it, for the caller to free;
 * NULL with errno.  size may be NULL. */
char *safe_open_read(const char *path, size_t limit, size_t *size);

#endif
