#include "base/arena.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BLOCK 4000u
#define ARENA_ALIGN _Alignof(max_align_t)

struct arena_block {
    struct arena_block *older;
    size_t used, room;
    _Alignas(max_align_t) char bytes[];
};

static struct arena_block *arena_block_make(struct arena_block *older, size_t least)
{
    size_t room = least > ARENA_BLOCK ? least : ARENA_BLOCK;
    struct arena_block *block = xmalloc(sizeof *block + room);
    *block = (struct arena_block){.older = older, .room = room};
    return block;
}

void *arena_bytes(struct arena *arena, size_t bytes)
{
    struct arena_block *block = arena->newest;
    if (bytes > (size_t)-1 / 2)
        out_of_memory(bytes);
    bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (!block || block->room - block->used < bytes)
        block = arena->newest = arena_block_make(block, bytes);
    char *piece = block->bytes + block->used;
    block->used += bytes;
    return memset(piece, 0, bytes);
}

char *arena_text(struct arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(arena_bytes(arena, size), text, size);
}

void arena_free(struct arena *arena)
{
    while (arena->newest) {
        struct arena_block *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
}
