/* The layout pass to the left of the cut. */
#ifndef SERVER_ORDER_LAYOUT_LAYOUT_LEFT_H
#define SERVER_ORDER_LAYOUT_LAYOUT_LEFT_H

#include "server/order/layout/layout_pass.h"

/* Prepares the pass for the current window. */
void layout_left_want(struct layout_job *job);
/* Continues; returns true when all events are found. */
bool layout_left_step(struct layout_job *job, uint64_t budget);
/* Returns how many positions left of the cut may be in the window. */
uint64_t layout_left_depth(const struct layout_job *job);
/* Returns whether a line has events left of the cut that the pass has not reached. */
bool layout_left_has_more(const struct layout_job *job, uint32_t line);

#endif
