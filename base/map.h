/* A hash map from two integers to a pointer.  Keys of any value; open addressing with linear
 * probing and deletion by shifting back, so it never degrades.  Its entries are nobody else's
 * business.  Memory as in alloc.h. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/alloc.h"

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
    bool gradual; /* it grows bit by bit: then `old` has what was not moved yet, from `moved` on */
    struct map_entry *old;
    size_t old_room, moved;
};

void *map_get(const struct map *map, uint64_t a, uint64_t b); /* NULL if absent */
void map_put(struct map *map, uint64_t a, uint64_t b, void *value); /* value not NULL */
void *map_remove(struct map *map, uint64_t a, uint64_t b); /* removes; NULL if absent */
void map_free(struct map *map); /* not the values */

/* Goes through all that is in a map, in no order:
 *     for (struct map_walk walk = {.map = &map}; map_next(&walk);)
 *         ... walk.a, walk.b, walk.value ...
 * Where entries are put or taken meanwhile, some may be seen twice or not at all. */
struct map_walk {
    const struct map *map;
    size_t at;
    uint64_t a, b;
    void *value;
};

bool map_next(struct map_walk *walk);

/* Takes out all that goes, in steps of `most` places; zeroed before the first.  True: it is
 * through.  Between two steps the map may be used as ever: what was put since may be left. */
struct map_removal {
    size_t room, at;
};

bool map_remove_if(struct map *map, struct map_removal *weeding, size_t most,
                   bool (*goes)(void *context, uint64_t a, uint64_t b, void *value), void *context);

#endif
