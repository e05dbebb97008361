/* A set of numbers that lie close together for the most part, as positions of the log do: a bit for
 * each, in pages of which only those exist that hold any.  However many are put, it takes little
 * more than the numbers between the least and the greatest divided by eight, in bytes.
 * Zero-initialised it is empty.  Memory as in alloc.h. */
#ifndef BASE_BITSET_H
#define BASE_BITSET_H

#include "base/map.h"

struct bitset {
    struct map pages;
    uint64_t *recent; /* the page that was looked at last, NULL none; and its number */
    uint64_t recent_page;
};

void bitset_set(struct bitset *bits, uint64_t number);
bool bitset_test(struct bitset *bits, uint64_t number);
void bitset_free(struct bitset *bits); /* it is empty then */

#endif
