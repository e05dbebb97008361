#include "clients/symbols/symbol_cache.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 8192u /* a power of two */

struct symbol_cache {
    struct symbol_cache_slot {
        struct symbol_cache_key key;
        char *text; /* function, then place, both NUL-terminated; NULL: empty slot */
        uint32_t place_at;
        uint32_t next; /* the slot filled before this one, plus 1; 0: none */
        int line;
        const char *path;
    } *slots; /* SLOTS of them; NULL while all are empty */
    uint32_t newest; /* the slot filled last, plus 1 */
};

struct symbol_cache *symbol_cache_new(void) { return xcalloc(1, sizeof(struct symbol_cache)); }

static uint32_t slot_of(struct symbol_cache_key key)
{
    uint64_t h = (key.address ^ (uint64_t)key.process << 48) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 40 ^ key.which) & (SLOTS - 1);
}

static bool is_key(const struct symbol_cache_slot *slot, struct symbol_cache_key key)
{
    return slot->text && slot->key.address == key.address && slot->key.process == key.process &&
           slot->key.which == key.which;
}

static struct symbol_location site_of(const struct symbol_cache_slot *slot)
{
    return (struct symbol_location){slot->text, slot->text + slot->place_at, slot->path,
                                    slot->line};
}

bool symbol_cache_get(const struct symbol_cache *r, struct symbol_cache_key key,
                      struct symbol_location *site)
{
    if (!r->slots || !is_key(&r->slots[slot_of(key)], key))
        return false;
    *site = site_of(&r->slots[slot_of(key)]);
    return true;
}

struct symbol_location symbol_cache_put(struct symbol_cache *r, struct symbol_cache_key key,
                                        const struct symbol_location *site)
{
    if (!r->slots)
        r->slots = xcalloc(SLOTS, sizeof *r->slots);
    struct symbol_cache_slot *slot = &r->slots[slot_of(key)];
    size_t function = strlen(site->function) + 1, place = strlen(site->place) + 1;
    char *text = xmalloc(function + place);
    memcpy(text, site->function, function);
    memcpy(text + function, site->place, place);
    uint32_t next = slot->next;
    if (!slot->text) {
        next = r->newest;
        r->newest = (uint32_t)(slot - r->slots) + 1;
    }
    free(slot->text);
    *slot = (struct symbol_cache_slot){key, text, (uint32_t)function, next, site->line, site->path};
    return site_of(slot);
}

void symbol_cache_clear(struct symbol_cache *r)
{
    for (uint32_t i = r->newest; i; i = r->slots[i - 1].next)
        free(r->slots[i - 1].text);
    free(r->slots);
    *r = (struct symbol_cache){0};
}

void symbol_cache_free(struct symbol_cache *r)
{
    if (r)
        symbol_cache_clear(r);
    free(r);
}
