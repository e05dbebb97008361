#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static size_t map_hash_key(uint64_t a, uint64_t b)
{
    uint64_t h = (a * 0x9e3779b97f4a7c15u) ^ (b + 0x9e3779b97f4a7c15u + (a << 6));
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return (size_t)(h ^ (h >> 32));
}

static size_t map_find_slot_in(const struct map_entry *entries, size_t room, uint64_t a, uint64_t b)
{
    size_t i = map_hash_key(a, b) & (room - 1);
    while (entries[i].value && (entries[i].a != a || entries[i].b != b))
        i = (i + 1) & (room - 1);
    return i;
}

static size_t map_find_slot(const struct map *map, uint64_t a, uint64_t b)
{
    return map_find_slot_in(map->entries, map->room, a, b);
}

void *map_get(const struct map *map, uint64_t a, uint64_t b)
{
    if (!map->count)
        return NULL;
    void *value = map->entries[map_find_slot(map, a, b)].value;
    return value || !map->old ? value
                              : map->old[map_find_slot_in(map->old, map->old_room, a, b)].value;
}

/* Removes an entry from a table and moves up later ones of its probe sequence. Returns its value,
 * or NULL. */
static void *map_remove_from(struct map_entry *entries, size_t room, uint64_t a, uint64_t b)
{
    size_t mask = room - 1, hole = map_find_slot_in(entries, room, a, b);
    void *value = entries[hole].value;
    if (!value)
        return NULL;
    for (size_t i = (hole + 1) & mask; entries[i].value; i = (i + 1) & mask) {
        size_t home = map_hash_key(entries[i].a, entries[i].b) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            entries[hole] = entries[i];
            hole = i;
        }
    }
    entries[hole].value = NULL;
    return value;
}

/* Moves entries from the old table to the new one, in at most `most` steps. The old table is
 * emptied from its start: no entry moves up across its end. */
static void move_some(struct map *map, size_t most)
{
    while (map->old && most--) {
        if (map->moved == map->old_room) {
            free(map->old);
            map->old = NULL;
            return;
        }
        struct map_entry e = map->old[map->moved];
        if (!e.value) {
            map->moved++;
            continue;
        }
        /* another entry may have moved up to its place */
        map_remove_from(map->old, map->old_room, e.a, e.b);
        map->entries[map_find_slot(map, e.a, e.b)] = e;
    }
}

#ifndef GRADUAL_ROOM /* tests make it small */
#define GRADUAL_ROOM 65536u
#endif
#define MOVE_AT_ONCE 8u

static void map_resize(struct map *map, size_t room)
{
    move_some(map, SIZE_MAX);
    struct map before = *map;
    map->entries = xcalloc(room, sizeof *map->entries);
    map->room = room;
    map->old = before.entries;
    map->old_room = before.room;
    map->moved = 0;
    if (!map->gradual || before.room < GRADUAL_ROOM)
        move_some(map, SIZE_MAX);
}

void map_put(struct map *map, uint64_t a, uint64_t b, void *value)
{
    if ((map->count + 1) * 3 > map->room * 2)
        map_resize(map, map->room ? map->room * 2 : 64);
    if (map->old) {
        move_some(map, MOVE_AT_ONCE);
        if (map->old && map_remove_from(map->old, map->old_room, a, b))
            map->count--;
    }
    size_t i = map_find_slot(map, a, b);
    if (!map->entries[i].value)
        map->count++;
    map->entries[i] = (struct map_entry){a, b, value};
}

void *map_remove(struct map *map, uint64_t a, uint64_t b)
{
    if (!map->count)
        return NULL;
    void *value = map_remove_from(map->entries, map->room, a, b);
    if (!value && map->old)
        value = map_remove_from(map->old, map->old_room, a, b);
    map->count -= value != NULL;
    return value;
}

void map_free(struct map *map)
{
    free(map->entries);
    free(map->old);
    *map = (struct map){.gradual = map->gradual};
}

bool map_next(struct map_walk *walk)
{
    const struct map *map = walk->map;
    size_t places = map->room + (map->old ? map->old_room : 0);
    while (walk->at < places) {
        size_t i = walk->at++;
        const struct map_entry *e = i < map->room ? &map->entries[i] : &map->old[i - map->room];
        if (!e->value)
            continue;
        walk->a = e->a;
        walk->b = e->b;
        walk->value = e->value;
        return true;
    }
    return false;
}

/* No entry is missed: on a removal, entries move up to places that are not examined yet. One that
 * moves across the end of the table is examined twice. */
bool map_remove_if(struct map *map, struct map_removal *weeding, size_t most,
                   bool (*is_removed)(void *context, uint64_t a, uint64_t b, void *value),
                   void *context)
{
    move_some(map, most);
    if (map->old)
        return false;
    if (weeding->room != map->room) /* resized: start again */
        *weeding = (struct map_removal){map->room, 0};
    for (size_t looks = 0; looks < most && weeding->at < weeding->room; looks++) {
        struct map_entry e = map->entries[weeding->at];
        if (e.value && is_removed(context, e.a, e.b, e.value))
            map_remove(map, e.a, e.b); /* another entry may have moved up to its place */
        else
            weeding->at++;
    }
    return weeding->at == weeding->room;
}
