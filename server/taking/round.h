/* One round over the queues of a program. */
#ifndef SERVER_TAKING_ROUND_H
#define SERVER_TAKING_ROUND_H

#include "server/taking/taking.h"

/* Goes on in another buffer than *buffer, perhaps. */
enum taken round_over(struct program *program, struct ticks *ticks, uint8_t **buffer);

#endif
