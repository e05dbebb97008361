/* A hash map from two integers to a pointer.  Keys of any value; open addressing
 * with linear probing and deletion by shifting back, so it never degrades.
 * Memory as in memory.h. */
#ifndef MEMORY_MAP_H
#define MEMORY_MAP_H

#include "memory/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    uint64_t a, b;
    void *value; /* NULL: an empty place */
};

struct map {
    struct map_entry *entries;
    size_t count, room; /* room is 0 or a power of two */
    bool gradual;       /* it grows bit by bit: then `old` has what was not moved yet, from `moved` on */
    struct map_entry *old;
    size_t old_room, moved;
};

void *map_get(const struct map *map, uint64_t a, uint64_t b); /* NULL if absent */
void map_put(struct map *map, uint64_t a, uint64_t b, void *value); /* value not NULL */
void *map_take(struct map *map, uint64_t a, uint64_t b); /* removes; NULL if absent */
void map_free(struct map *map); /* not the values */
void map_settle(struct map *map); /* before its entries are gone through: all are in `entries` then */
bool map_settle_some(struct map *map, size_t most); /* so many of them; true: all are */

#endif
