/* Losses: which events there were in slots that can never be taken. */
#ifndef SERVER_DECODE_LOSS_RECORDS_H
#define SERVER_DECODE_LOSS_RECORDS_H

#include "server/decode/program_session.h"

struct loss_records {
    struct loss_record {
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
void loss_records_add(struct loss_records *losses, const struct program_session *session,
                      const struct ring_slot *slots, size_t count);
/* Adds what the session took and holds back until its lines are announced. */
void loss_records_add_held(struct loss_records *losses, const struct program_session *session);
/* Puts them in order, stretches of numbers together. */
void loss_records_merge(struct loss_records *losses);
void loss_records_free(struct loss_records *losses);

#endif
