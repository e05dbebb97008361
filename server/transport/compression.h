/* Compression of what is sent to another machine (zstd).  In the loop's thread alone. */
#ifndef SERVER_TRANSPORT_COMPRESSION_H
#define SERVER_TRANSPORT_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the greatest compressed size of `size` bytes. */
size_t compression_bound(size_t size);
/* Returns the number of bytes written; 0: they did not fit. */
size_t compression_compress(void *to, size_t room, const void *from, size_t size);
/* Exactly `size` bytes come out, and never more is written; false: they do not. */
bool compression_decompress(void *to, size_t size, const void *from, size_t bytes);
void compression_release(void); /* frees the contexts kept for the next call */

#endif
