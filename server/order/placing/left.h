/* The sweep to the left of the cut. */
#ifndef SERVER_ORDER_PLACING_LEFT_H
#define SERVER_ORDER_PLACING_LEFT_H

#include "server/order/placing/sweep.h"

void left_want(struct place_job *job); /* what is still to be found, for the window wanted */
bool left_step(struct place_job *job,
               uint64_t budget); /* goes on for a while; true when all is found */
uint64_t
left_depth(const struct place_job *job); /* positions left of the cut that may be in the window */
/* Does a line have events left of the cut that the sweep has not come to? */
bool left_has_more(const struct place_job *job, uint32_t line);

#endif
