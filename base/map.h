/* A hash map from a pair of integers to a pointer. Open addressing with linear probing; deletion
 * shifts entries back, so no tombstones accumulate. Entries are private. Allocates with
 * alloc.h. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    uint64_t a, b;
    void *value; /* NULL: empty slot */
};

struct map {
    struct map_entry *entries;
    size_t count, room; /* room is 0 or a power of two */
    bool gradual; /* grows incrementally: `old` has the entries not moved yet, from `moved` on */
    struct map_entry *old;
    size_t old_room, moved;
};

void *map_get(const struct map *map, uint64_t a, uint64_t b); /* NULL if absent */
void map_put(struct map *map, uint64_t a, uint64_t b, void *value); /* value not NULL */
void *map_remove(struct map *map, uint64_t a, uint64_t b); /* returns the value, NULL if absent */
void map_free(struct map *map); /* does not free the values */

/* Returns the index of the item of a key in an array; the map holds 1 + this index.  On first use
 * of the key an item with this initial value is appended. */
#define MAP_INDEX(map, a, b, items, count, room, ...)                                              \
    __extension__({                                                                                \
        const uint64_t map_item_a = (a), map_item_b = (b);                                         \
        uintptr_t map_item_at = (uintptr_t)map_get(map, map_item_a, map_item_b);                   \
        if (!map_item_at) {                                                                        \
            (items) = array_reserve(items, &(room), (count) + 1, sizeof *(items));                 \
            (items)[count] = __VA_ARGS__;                                                          \
            map_item_at = ++(count);                                                               \
            map_put(map, map_item_a, map_item_b, (void *)map_item_at);                             \
        }                                                                                          \
        map_item_at - 1;                                                                           \
    })

/* Returns the item itself. */
#define MAP_ITEM(map, a, b, items, count, room, ...)                                               \
    __extension__({                                                                                \
        const size_t map_item_index = MAP_INDEX(map, a, b, items, count, room, __VA_ARGS__);       \
        &(items)[map_item_index];                                                                  \
    })

/* Iterates over a map, in no particular order:
 *     for (struct map_walk walk = {.map = &map}; map_next(&walk);)
 *         ... walk.a, walk.b, walk.value ...
 * If entries are added or removed meanwhile, some may be visited twice or not at all. */
struct map_walk {
    const struct map *map;
    size_t at;
    uint64_t a, b;
    void *value;
};

bool map_next(struct map_walk *walk);

/* Removes all entries for which is_removed() is true, incrementally: at most `most` slots for each
 * call. Zero the state before the first call. Returns true when finished. The map may be used
 * between two calls; entries added since may be missed. */
struct map_removal {
    size_t room, at;
};

bool map_remove_if(struct map *map, struct map_removal *weeding, size_t most,
                   bool (*is_removed)(void *context, uint64_t a, uint64_t b, void *value),
                   void *context);

#endif
