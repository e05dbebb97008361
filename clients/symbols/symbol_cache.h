/* What was looked up of places of the code, so that a table that is asked for again and again is
 * not looked up in DWARF each time: of one place the latest answer, in so many slots that it is
 * bounded, where one takes the slot of another. */
#ifndef CLIENTS_SYMBOLS_SYMBOL_CACHE_H
#define CLIENTS_SYMBOLS_SYMBOL_CACHE_H

#include "clients/symbols/symbolizer.h"

#include <stdbool.h>

struct symbol_cache;

/* A place, and which of the functions at it was asked for. */
struct symbol_cache_key {
    uint32_t process;
    uint8_t which;
    uint64_t address;
};

struct symbol_cache *symbol_cache_new(void);
/* Valid until the next call of symbol_cache_put; false: it is not known. */
bool symbol_cache_get(const struct symbol_cache *remember, struct symbol_cache_key key,
                      struct symbol_location *site);
/* Copies, but for the path, which is to stay until all is forgotten; what it gives back is of the
 * copy. */
struct symbol_location symbol_cache_put(struct symbol_cache *remember, struct symbol_cache_key key,
                                        const struct symbol_location *site);
void symbol_cache_clear(struct symbol_cache *remember); /* all of it: programs are known anew */
void symbol_cache_free(struct symbol_cache *remember); /* of NULL nothing */

#endif
