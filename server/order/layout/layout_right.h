/* The layout pass to the right of the cut. */
#ifndef SERVER_ORDER_LAYOUT_LAYOUT_RIGHT_H
#define SERVER_ORDER_LAYOUT_LAYOUT_RIGHT_H

#include "server/order/layout/layout_pass.h"

/* Prepares the pass for the current window. */
void layout_right_want(struct layout_job *job);
/* Continues; returns true when all events are found. */
bool layout_right_step(struct layout_job *job, uint64_t budget);

#endif
