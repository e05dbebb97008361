/* An arena: pieces of memory that are freed together, when the object that they belong to is.  A
 * part of such an object may be copied as it is, since none of its pieces is freed by itself.  Of
 * one thread. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_block *newest; /* NULL: it holds nothing */
};

/* Returns so many bytes, all 0, for an object of any type. */
void *arena_bytes(struct arena *arena, size_t bytes);
/* Returns a copy of the text. */
char *arena_text(struct arena *arena, const char *text);
/* Frees all of it; it can be used again. */
void arena_free(struct arena *arena);

#endif
