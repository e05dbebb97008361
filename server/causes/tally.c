#include "server/causes/tally.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

void tally_grow(struct tally *tally, uint32_t key)
{
    size_t had = tally->room, room = tally->room ? tally->room : 64;
    while (room <= key)
        room *= 2;
    tally->ns = memory_resized(tally->ns, room, sizeof *tally->ns);
    tally->at = memory_resized(tally->at, room, sizeof *tally->at);
    memset(tally->ns + had, 0, (room - had) * sizeof *tally->ns);
    memset(tally->at + had, 0, (room - had) * sizeof *tally->at);
    tally->room = room;
}

void tally_note(struct tally *tally, uint32_t key)
{
    tally->keys = grow(tally->keys, &tally->key_room, tally->count + 1, sizeof *tally->keys);
    tally->keys[tally->count++] = key;
    tally->at[key] = (uint32_t)tally->count;
}

void tally_clear(struct tally *tally)
{
    for (size_t i = 0; i < tally->count; i++) {
        tally->ns[tally->keys[i]] = 0;
        tally->at[tally->keys[i]] = 0;
    }
    tally->count = 0;
}

void tally_free(struct tally *tally)
{
    free(tally->ns);
    free(tally->at);
    free(tally->keys);
    *tally = (struct tally){0};
}
