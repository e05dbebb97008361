/* Ladders: sums kept every so many intervals along a thread's course, so that a long stretch is one
 * difference.
 *
 * They are built as they are needed, over intervals whose reasons are known. */
#ifndef SERVER_ANALYSIS_PREFIX_SUMS_H
#define SERVER_ANALYSIS_PREFIX_SUMS_H

#include "server/analysis/path_difference.h"

/* Index of the thread's first interval that ends after a time, sought from where it was looked at
 * last. */
size_t prefix_sums_near(struct path_difference *paths, uint32_t index, int64_t at_ns);
/* Whether two rungs lie between the intervals, *low the first and *high the last of them. */
bool prefix_sums_between(struct path_difference *paths, uint32_t index, size_t from, size_t to,
                         size_t *low, size_t *high);
/* Adds what lies between two rungs. */
void prefix_sums_difference(struct path_difference *paths, struct accumulator *tally,
                            enum path_list_kind which, uint32_t index, size_t low, size_t high);

#endif
