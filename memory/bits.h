/* A set of numbers that lie close together for the most part, as positions of the log do: a bit for each, in pages
 * of which only those exist that hold any.  However many are put, it takes little more than the numbers between the
 * least and the greatest divided by eight, in bytes.  Zero-initialised it is empty.  Memory as in memory.h. */
#ifndef MEMORY_BITS_H
#define MEMORY_BITS_H

#include "memory/map.h"

struct bits {
    struct map pages;
    uint64_t *recent; /* the page that was looked at last, NULL none; and its number */
    uint64_t recent_page;
};

void bits_put(struct bits *bits, uint64_t number);
bool bits_have(struct bits *bits, uint64_t number);
void bits_free(struct bits *bits); /* it is empty then */

#endif
