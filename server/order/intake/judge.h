/* Who is in the point of a head, and is all there that it follows? */
#ifndef SERVER_ORDER_INTAKE_JUDGE_H
#define SERVER_ORDER_INTAKE_JUDGE_H

#include "server/order/intake/wait.h"

enum verdict { READY, READY_ALONE, WAITING, DONE };
enum verdict point_judge(struct order *order, struct point *point);
void point_add(struct point *point, struct pending *pending);

#endif
