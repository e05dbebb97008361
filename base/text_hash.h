/* Hash of a text: FNV-1a (Fowler, Noll and Vo), 64 bits. It is not safe against texts that are
 * chosen to collide. */
#ifndef BASE_TEXT_HASH_H
#define BASE_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TEXT_HASH_EMPTY UINT64_C(0xcbf29ce484222325) /* the hash of no bytes */

/* Returns the hash of the bytes that `hash` is of, followed by these. */
static inline uint64_t text_hash_add(uint64_t hash, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
