/* The sweep to the right of the cut. */
#ifndef SERVER_ORDER_LAYOUT_LAYOUT_RIGHT_H
#define SERVER_ORDER_LAYOUT_LAYOUT_RIGHT_H

#include "server/order/layout/layout_pass.h"

void layout_right_want(
    struct layout_job *job); /* what is still to be found, for the window wanted */
bool layout_right_step(struct layout_job *job,
                       uint64_t budget); /* continues; true when all is found */

#endif
