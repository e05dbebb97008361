/* One round over the queues of a program. */
#ifndef SERVER_TAKING_ROUND_H
#define SERVER_TAKING_ROUND_H

#include "server/taking/taking.h"

/* What rounds are made with, one at a time. */
struct desk {
    struct ticks ticks;
    uint8_t *buffer; /* of hand.h: what goes into the journal; a round may go on in another one */
    struct slot *slots; /* DESK_SLOTS, out of the queues */
};
#define DESK_SLOTS (BUFFER_BYTES / SLOT_BYTES)

void desk_begin(struct desk *desk);
void desk_end(struct desk *desk);
enum taken round_over(struct program *program, struct desk *desk);

#endif
