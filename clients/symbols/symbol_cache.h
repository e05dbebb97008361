/* Bounded cache of symbol lookups, so that repeated tables do not search DWARF each time: a
 * direct-mapped table, in which a new entry replaces that in its slot. */
#ifndef CLIENTS_SYMBOLS_SYMBOL_CACHE_H
#define CLIENTS_SYMBOLS_SYMBOL_CACHE_H

#include "clients/symbols/symbolizer.h"

#include <stdbool.h>

struct symbol_cache;

/* An address, and which of the functions at it is meant. */
struct symbol_cache_key {
    uint32_t process;
    uint8_t which;
    uint64_t address;
};

struct symbol_cache *symbol_cache_new(void);
/* Returns false if it is not cached. The result is valid until the next call of
 * symbol_cache_put. */
bool symbol_cache_get(const struct symbol_cache *remember, struct symbol_cache_key key,
                      struct symbol_location *site);
/* Copies the location, except the path, which must stay valid until the cache is cleared. Returns
 * the copy. */
struct symbol_location symbol_cache_put(struct symbol_cache *remember, struct symbol_cache_key key,
                                        const struct symbol_location *site);
/* removes all entries, when programs change */
void symbol_cache_clear(struct symbol_cache *remember);
void symbol_cache_free(struct symbol_cache *remember); /* NULL: no effect */

#endif
