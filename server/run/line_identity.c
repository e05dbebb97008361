#include "server/run/line_identity.h"

#include <stdlib.h>
#include <string.h>

#define NEAR_NUMBERS 1024u

static struct counted *counted_of(const struct line_identities *identities, uint64_t high)
{
    uintptr_t index = (uintptr_t)map_get(&identities->by_high, high, 0);
    return index ? &identities->counted[index - 1] : NULL;
}

void line_identity_expect(struct line_identities *identities, uint64_t high, uint32_t session)
{
    identities->others.gradual = true;
    if (counted_of(identities, high))
        return;
    identities->counted = array_reserve(identities->counted, &identities->counted_room,
                                        identities->counted_count + 1, sizeof *identities->counted);
    identities->counted[identities->counted_count++] =
        (struct counted){.high = high, .owner = session};
    map_put(&identities->by_high, high, 0, (void *)(uintptr_t)identities->counted_count);
}

bool line_identity_has_changed(const struct line_identities *identities, uint64_t high,
                               uint32_t session)
{
    const struct counted *c = counted_of(identities, high);
    return c && c->owner != session;
}

uint32_t line_identity_get(const struct line_identities *identities, uint64_t high, uint64_t low)
{
    const struct counted *c = counted_of(identities, high);
    if (c && low < c->room && c->lines[low])
        return c->lines[low];
    return (uint32_t)(uintptr_t)map_get(&identities->others, high, low);
}

void line_identity_put(struct line_identities *identities, uint64_t high, uint64_t low,
                       uint32_t line)
{
    struct counted *c = counted_of(identities, high);
    if (!c ||
        /* numbers arrive in any order, but without large gaps */
        low >= NEAR_NUMBERS + 2 * c->count) {
        map_put(&identities->others, high, low, (void *)(uintptr_t)line);
        return;
    }
    c->lines = array_reserve_zeroed(c->lines, &c->room, low + 1, sizeof *c->lines);
    c->lines[low] = line;
    c->count++;
}

void line_identity_free(struct line_identities *identities)
{
    for (size_t i = 0; i < identities->counted_count; i++)
        free(identities->counted[i].lines);
    free(identities->counted);
    map_free(&identities->by_high);
    map_free(&identities->others);
}
