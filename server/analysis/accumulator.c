#include "server/analysis/accumulator.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void accumulator_grow(struct accumulator *tally, uint32_t key)
{
    size_t had = tally->room, room = tally->room ? tally->room : 64;
    while (room <= key)
        room *= 2;
    tally->ns = xreallocarray(tally->ns, room, sizeof *tally->ns);
    tally->at = xreallocarray(tally->at, room, sizeof *tally->at);
    memset(tally->ns + had, 0, (room - had) * sizeof *tally->ns);
    memset(tally->at + had, 0, (room - had) * sizeof *tally->at);
    tally->room = room;
}

void accumulator_note(struct accumulator *tally, uint32_t key)
{
    tally->keys =
        array_reserve(tally->keys, &tally->key_room, tally->count + 1, sizeof *tally->keys);
    tally->keys[tally->count++] = key;
    tally->at[key] = (uint32_t)tally->count;
}

void accumulator_clear(struct accumulator *tally)
{
    for (size_t i = 0; i < tally->count; i++) {
        tally->ns[tally->keys[i]] = 0;
        tally->at[tally->keys[i]] = 0;
    }
    tally->count = 0;
}

void accumulator_free(struct accumulator *tally)
{
    free(tally->ns);
    free(tally->at);
    free(tally->keys);
    *tally = (struct accumulator){0};
}
