/* The sweep to the left of the cut. */
#ifndef SERVER_ORDER_LAYOUT_LAYOUT_LEFT_H
#define SERVER_ORDER_LAYOUT_LAYOUT_LEFT_H

#include "server/order/layout/layout_pass.h"

void layout_left_want(
    struct layout_job *job); /* what is still to be found, for the window wanted */
bool layout_left_step(struct layout_job *job,
                      uint64_t budget); /* continues; true when all is found */
uint64_t layout_left_depth(
    const struct layout_job *job); /* positions left of the cut that may be in the window */
/* Returns whether a line has events left of the cut that the sweep has not reached. */
bool layout_left_has_more(const struct layout_job *job, uint32_t line);

#endif
