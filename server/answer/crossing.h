/* Messages that pass a window by: sent to the left of it, received to the right, both on its
 * lines. */
#ifndef SERVER_ANSWER_CROSSING_H
#define SERVER_ANSWER_CROSSING_H

#include "server/order/placing/place.h"
#include "wire/placed.h"
#include "wire/shown.h"

/* Found are those that are sent among the last events of a line before the window, or received
 * among the first after it: 200 of each line, or fewer where there are many lines.  row_of as in
 * struct placing, for the lines 1 .. lines.  Returns how many (caller frees *found). */
size_t crossing_messages_find(const struct order *order, const struct layout_result *placement,
                              const uint32_t *row_of, uint32_t lines, struct crossing_info **found);

#endif
