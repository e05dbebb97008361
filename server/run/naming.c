#include "server/run/naming.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *s)
{
    uint64_t h = 14695981039346656037u;
    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * 1099511628211u;
    return h;
}

uint32_t naming_find(const struct names *names, const char *name)
{
    uint64_t h = hash(name);
    for (uint64_t i = 0;; i++) { /* equal hashes are told apart by a count */
        uintptr_t code = (uintptr_t)map_get(&names->index, h, i);
        if (code == 0 || strcmp(names->items[code - 1], name) == 0)
            return (uint32_t)code;
    }
}

uint32_t naming_add(struct names *names, const char *name)
{
    uint64_t h = hash(name), i = 0;
    while (map_get(&names->index, h, i))
        i++;
    names->items = grow(names->items, &names->room, names->count + 1, sizeof *names->items);
    names->items[names->count++] = memory_copied(name);
    map_put(&names->index, h, i, (void *)(uintptr_t)names->count);
    return (uint32_t)names->count;
}

void naming_free(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    map_free(&names->index);
}
