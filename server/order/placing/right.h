/* The sweep to the right of the cut. */
#ifndef SERVER_ORDER_PLACING_RIGHT_H
#define SERVER_ORDER_PLACING_RIGHT_H

#include "server/order/placing/sweep.h"

void right_want(struct place_job *job); /* what is still to be found, for the window wanted */
bool right_step(struct place_job *job,
                uint64_t budget); /* goes on for a while; true when all is found */

#endif
