/* Ladders: sums kept every so many intervals along a thread's course, so that a long stretch is one difference.
 *
 * They are built as they are needed, over intervals whose reasons are known. */
#ifndef SERVER_CAUSES_LADDER_H
#define SERVER_CAUSES_LADDER_H

#include "server/causes/paths.h"

/* Index of the thread's first interval that ends after a time, sought from where it was looked at last. */
size_t ladder_near(struct paths *paths, uint32_t index, int64_t at_ns);
/* Whether two rungs lie between the intervals, *low the first and *high the last of them. */
bool ladder_between(struct paths *paths, uint32_t index, size_t from, size_t to, size_t *low,
                    size_t *high);
/* Adds what lies between two rungs. */
void ladder_difference(struct paths *paths, struct tally *tally, enum path_is which, uint32_t index,
                       size_t low, size_t high);

#endif
