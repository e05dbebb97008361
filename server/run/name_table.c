#include "server/run/name_table.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static uint64_t name_table_hash(const char *s)
{
    uint64_t h = 14695981039346656037u;
    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * 1099511628211u;
    return h;
}

uint32_t name_table_find(const struct name_table *names, const char *name)
{
    uint64_t h = name_table_hash(name);
    for (uint64_t i = 0;; i++) { /* a counter distinguishes names of equal hash */
        uintptr_t code = (uintptr_t)map_get(&names->index, h, i);
        if (code == 0 || strcmp(names->items[code - 1], name) == 0)
            return (uint32_t)code;
    }
}

uint32_t name_table_add(struct name_table *names, const char *name)
{
    uint64_t h = name_table_hash(name), i = 0;
    while (map_get(&names->index, h, i))
        i++;
    names->items =
        array_reserve(names->items, &names->room, names->count + 1, sizeof *names->items);
    names->items[names->count++] = xstrdup(name);
    map_put(&names->index, h, i, (void *)(uintptr_t)names->count);
    return (uint32_t)names->count;
}

void name_table_free(struct name_table *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    map_free(&names->index);
}
