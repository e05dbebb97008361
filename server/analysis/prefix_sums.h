/* Prefix sums kept every few intervals along a thread's timeline, so that a long span is one
 * difference.
 *
 * They are built on demand, over intervals whose reasons are known. */
#ifndef SERVER_ANALYSIS_PREFIX_SUMS_H
#define SERVER_ANALYSIS_PREFIX_SUMS_H

#include "server/analysis/path_difference.h"

/* Returns the index of the thread's first interval that ends after a time, searching from the one
 * that was found last. */
size_t prefix_sums_near(struct path_difference *paths, uint32_t index, int64_t at_ns);
/* Returns whether two prefix sums lie between the intervals; sets *low to the first and *high to
 * the last of them. */
bool prefix_sums_between(struct path_difference *paths, uint32_t index, size_t from, size_t to,
                         size_t *low, size_t *high);
/* Adds the difference of two prefix sums. */
void prefix_sums_difference(struct path_difference *paths, struct accumulator *tally,
                            enum path_list_kind which, uint32_t index, size_t low, size_t high);

#endif
