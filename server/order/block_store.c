#include "server/order/block_store.h"

#include "base/map.h"
#include "base/alloc.h"
#include "server/order/log/log_block.h"

#include <stdlib.h>
#include <string.h>

struct block_store_part {
    uint8_t *bytes;
    size_t size;
};

struct memory_block_store {
    struct block_store_part *parts;
    size_t count, room;
};

static void *block_store_copy_bytes(const void *bytes, size_t size)
{
    uint8_t *mine = xmalloc(size + 8);
    memcpy(mine, bytes, size);
    memset(mine + size, 0, 8);
    return mine;
}

static uint64_t memory_put(void *context, const void *bytes, size_t size)
{
    struct memory_block_store *memory = context;
    memory->parts =
        array_reserve(memory->parts, &memory->room, memory->count + 1, sizeof *memory->parts);
    memory->parts[memory->count++] =
        (struct block_store_part){block_store_copy_bytes(bytes, size), size};
    return memory->count;
}

static uint8_t *memory_get(void *context, uint64_t place, size_t *size)
{
    const struct memory_block_store *memory = context;
    if (place == 0 || place > memory->count)
        return NULL;
    *size = memory->parts[place - 1].size;
    return block_store_copy_bytes(memory->parts[place - 1].bytes, *size);
}

static void memory_free(void *context)
{
    struct memory_block_store *memory = context;
    for (size_t i = 0; i < memory->count; i++)
        free(memory->parts[i].bytes);
    free(memory->parts);
    free(memory);
}

struct block_store block_store_in_memory(void)
{
    struct memory_block_store *memory = xcalloc(1, sizeof *memory);
    return (struct block_store){memory, memory_put, memory_get, memory_free};
}
