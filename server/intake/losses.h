/* Losses: which events there were in slots that can never be taken. */
#ifndef SERVER_INTAKE_LOSSES_H
#define SERVER_INTAKE_LOSSES_H

#include "server/intake/session.h"

struct losses {
    struct loss {
        uint32_t line; /* code of the session */
        uint64_t first, count;
        bool dropped; /* the program itself dropped and counted them */
    } *items;
    size_t count, room;
    uint64_t events; /* apart from what was dropped, on lines that are known or not */
    struct shape_steps {
        uint16_t code;
        uint8_t on_a, on_b; /* events */
    } *shapes; /* announced in these slots */
    size_t shape_count, shape_room;
};

/* Adds the events of some slots of one thread, and what the thread itself says to be lost there. */
void losses_add(struct losses *losses, const struct session *session, const struct slot *slots,
                size_t count);
/* Adds what the session took and holds back until its lines are announced. */
void losses_add_held(struct losses *losses, const struct session *session);
/* Puts them in order, stretches of numbers together. */
void losses_merge(struct losses *losses);
void losses_free(struct losses *losses);

#endif
