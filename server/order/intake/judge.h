/* Who is in the point of a head, and is all there that it follows? */
#ifndef SERVER_ORDER_INTAKE_JUDGE_H
#define SERVER_ORDER_INTAKE_JUDGE_H

#include "server/order/intake/wait.h"

enum readiness_state { READY, READY_ALONE, WAITING, DONE };
enum readiness_state sync_point_ready(struct order *order, struct sync_point *point);
void sync_point_add(struct sync_point *point, struct pending *pending);

#endif
