#include "clients/site/remember.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 8192u /* a power of two */

struct remember {
    struct slot {
        struct remember_key key;
        char *text; /* function and place, one behind the other; NULL: it is empty */
        uint32_t place_at;
        int line;
        const char *path;
    } slots[SLOTS];
};

struct remember *remember_new(void) { return memory_zeroed(1, sizeof(struct remember)); }

static uint32_t slot_of(struct remember_key key)
{
    uint64_t h = (key.address ^ (uint64_t)key.process << 48) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 40 ^ key.which) & (SLOTS - 1);
}

static bool is_key(const struct slot *slot, struct remember_key key)
{
    return slot->text && slot->key.address == key.address && slot->key.process == key.process &&
           slot->key.which == key.which;
}

static struct site_is site_of(const struct slot *slot)
{
    return (struct site_is){slot->text, slot->text + slot->place_at, slot->path, slot->line};
}

bool remember_get(const struct remember *r, struct remember_key key, struct site_is *site)
{
    const struct slot *slot = &r->slots[slot_of(key)];
    if (!is_key(slot, key))
        return false;
    *site = site_of(slot);
    return true;
}

struct site_is remember_put(struct remember *r, struct remember_key key, const struct site_is *site)
{
    struct slot *slot = &r->slots[slot_of(key)];
    size_t function = strlen(site->function) + 1, place = strlen(site->place) + 1;
    char *text = memory_bytes(function + place);
    memcpy(text, site->function, function);
    memcpy(text + function, site->place, place);
    free(slot->text);
    *slot = (struct slot){key, text, (uint32_t)function, site->line, site->path};
    return site_of(slot);
}

void remember_forget(struct remember *r)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        free(r->slots[i].text);
    *r = (struct remember){0};
}

void remember_free(struct remember *r)
{
    if (r)
        remember_forget(r);
    free(r);
}
