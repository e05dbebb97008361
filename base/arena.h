/* An arena: memory blocks that are freed together with the object that they belong to. Part of such
 * an object may be copied by assignment, since no block is freed by itself. Not thread-safe. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_block *newest; /* NULL: empty */
};

/* Returns `bytes` zeroed bytes, aligned for any type. */
void *arena_bytes(struct arena *arena, size_t bytes);
/* Returns a copy of the text. */
char *arena_text(struct arena *arena, const char *text);
/* Frees all blocks; the arena can be used again. */
void arena_free(struct arena *arena);

#endif
