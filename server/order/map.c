#include "server/order/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *grow(void *array, size_t *room, size_t need, size_t element_bytes)
{
    if (need <= *room)
        return array;
    size_t more = *room ? *room * 2 : 8;
    while (more < need)
        more *= 2;
    array = realloc(array, more * element_bytes);
    if (!array) {
        fprintf(stderr, "poet server: out of memory\n");
        abort();
    }
    *room = more;
    return array;
}

static size_t hash(uint64_t a, uint64_t b)
{
    uint64_t h = (a * 0x9e3779b97f4a7c15u) ^ (b + 0x9e3779b97f4a7c15u + (a << 6));
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return (size_t)(h ^ (h >> 32));
}

static size_t place(const struct map *map, uint64_t a, uint64_t b)
{
    size_t i = hash(a, b) & (map->room - 1);
    while (map->entries[i].value && (map->entries[i].a != a || map->entries[i].b != b))
        i = (i + 1) & (map->room - 1);
    return i;
}

void *map_get(const struct map *map, uint64_t a, uint64_t b)
{
    return map->count ? map->entries[place(map, a, b)].value : NULL;
}

static void resize(struct map *map, size_t room)
{
    struct map old = *map;
    map->entries = calloc(room, sizeof *map->entries);
    if (!map->entries) {
        fprintf(stderr, "poet server: out of memory\n");
        abort();
    }
    map->room = room;
    for (size_t i = 0; i < old.room; i++)
        if (old.entries[i].value)
            map->entries[place(map, old.entries[i].a, old.entries[i].b)] = old.entries[i];
    free(old.entries);
}

void map_put(struct map *map, uint64_t a, uint64_t b, void *value)
{
    if ((map->count + 1) * 3 > map->room * 2)
        resize(map, map->room ? map->room * 2 : 64);
    size_t i = place(map, a, b);
    if (!map->entries[i].value)
        map->count++;
    map->entries[i] = (struct map_entry){a, b, value};
}

void *map_take(struct map *map, uint64_t a, uint64_t b)
{
    if (!map->count)
        return NULL;
    size_t mask = map->room - 1, hole = place(map, a, b);
    void *value = map->entries[hole].value;
    if (!value)
        return NULL;
    map->count--;
    for (size_t i = (hole + 1) & mask; map->entries[i].value; i = (i + 1) & mask) {
        size_t home = hash(map->entries[i].a, map->entries[i].b) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->entries[hole] = map->entries[i];
            hole = i;
        }
    }
    map->entries[hole].value = NULL;
    return value;
}

void map_free(struct map *map)
{
    free(map->entries);
    *map = (struct map){0};
}
