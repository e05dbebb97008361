/* A set of integers, mostly clustered, such as positions in the log: a bitmap in pages, of which
 * only those with members exist. For a contiguous range it takes little more than (greatest -
 * least) / 8 bytes. A zeroed bitset is empty. Allocates with alloc.h. */
#ifndef BASE_BITSET_H
#define BASE_BITSET_H

#include "base/map.h"

struct bitset {
    struct map pages;
    uint64_t *recent; /* the page last used, or NULL; and its number */
    uint64_t recent_page;
};

void bitset_set(struct bitset *bits, uint64_t number);
bool bitset_test(struct bitset *bits, uint64_t number);
void bitset_free(struct bitset *bits); /* leaves it empty */

#endif
