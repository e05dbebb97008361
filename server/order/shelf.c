#include "server/order/shelf.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/order/log/block.h"

#include <stdlib.h>
#include <string.h>

struct part {
    uint8_t *bytes;
    size_t size;
};

struct memory {
    struct part *parts;
    size_t count, room;
};

static void *copy(const void *bytes, size_t size)
{
    uint8_t *mine = memory_bytes(size + 8);
    memcpy(mine, bytes, size);
    memset(mine + size, 0, 8);
    return mine;
}

static uint64_t memory_put(void *context, const void *bytes, size_t size)
{
    struct memory *memory = context;
    memory->parts = grow(memory->parts, &memory->room, memory->count + 1, sizeof *memory->parts);
    memory->parts[memory->count++] = (struct part){copy(bytes, size), size};
    return memory->count;
}

static uint8_t *memory_get(void *context, uint64_t place, size_t *size)
{
    const struct memory *memory = context;
    if (place == 0 || place > memory->count)
        return NULL;
    *size = memory->parts[place - 1].size;
    return copy(memory->parts[place - 1].bytes, *size);
}

static void memory_free(void *context)
{
    struct memory *memory = context;
    for (size_t i = 0; i < memory->count; i++)
        free(memory->parts[i].bytes);
    free(memory->parts);
    free(memory);
}

struct shelf shelf_memory(void)
{
    struct memory *memory = memory_zeroed(1, sizeof *memory);
    return (struct shelf){memory, memory_put, memory_get, memory_free};
}
