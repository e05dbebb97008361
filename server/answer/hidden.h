/* Order between drawn events that passes through lines which are not drawn. */
#ifndef SERVER_ANSWER_HIDDEN_H
#define SERVER_ANSWER_HIDDEN_H

#include "server/order/placing/place.h"
#include "wire/placed.h"
#include "wire/shown.h"

/* For each placed event that follows something on a line in no row: the nearest event of another
 * row, back along such lines, that it so follows; found within 64 events.  Lines that are never
 * drawn do not count.  row_of as in struct placing, for the lines 1 .. lines.  Returns how many
 * (caller frees *found). */
size_t hidden_edges_find(const struct order *order, const struct layout_result *placement,
                         const uint32_t *row_of, uint32_t lines, struct via_info **found);

#endif
