/* A block store in memory, for tests of what orders write to one. */
#ifndef TESTS_UNIT_BLOCK_STORE_H
#define TESTS_UNIT_BLOCK_STORE_H

#include "base/map.h"
#include "base/alloc.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

/* A block store for several orders. If `once`, equal blocks are stored only once, whichever order
 * wrote them. */
struct parts {
    bool once;
    struct map by_content; /* hash, size -> 1 + index */
    struct part {
        uint8_t *bytes;
        size_t size;
    } *items;
    size_t count, room;
};

static inline uint64_t put_part(void *context, const void *bytes, size_t size)
{
    struct parts *parts = context;
    uint64_t hash = size;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    uint64_t place = parts->once ? (uintptr_t)map_get(&parts->by_content, hash, size) : 0;
    if (place)
        return place;
    parts->items =
        array_reserve(parts->items, &parts->room, parts->count + 1, sizeof *parts->items);
    struct part *part = &parts->items[parts->count++];
    *part = (struct part){calloc(size + 8, 1), size};
    assert_non_null(part->bytes);
    memcpy(part->bytes, bytes, size);
    map_put(&parts->by_content, hash, size, (void *)(uintptr_t)parts->count);
    return parts->count;
}

static inline uint8_t *get_part(void *context, uint64_t place, size_t *size)
{
    const struct parts *parts = context;
    if (place == 0 || place > parts->count)
        return NULL;
    const struct part *part = &parts->items[place - 1];
    uint8_t *copy = malloc(part->size + 8);
    assert_non_null(copy);
    memcpy(copy, part->bytes, part->size + 8);
    *size = part->size;
    return copy;
}

static inline void parts_free(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        free(parts->items[i].bytes);
    free(parts->items);
    map_free(&parts->by_content);
    *parts = (struct parts){0};
}

#endif
