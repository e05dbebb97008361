#include "clients/libpoet/core/message_queue.h"

#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/lost_events.h"
#include "clients/libpoet/core/ring_slots.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "wire/slot.h"
#include "wire/program_messages.h"

/* by reason: the last lifetime in which it was reported */
static _Atomic uint32_t reported_in[UNTRACED_COUNT];

bool message_queue_untraced_is_reported(enum untraced_reason reason, const struct traced_thread *t)
{
    return atomic_load_explicit(&reported_in[reason], memory_order_relaxed) == t->life;
}

void message_queue_report_untraced(struct traced_thread *t)
{
    for (unsigned reason = 1; reason < UNTRACED_COUNT; reason++) {
        uint8_t bytes[8];
        struct encoder body = {.data = bytes, .room = sizeof bytes};
        if (!(t->unreported & UNTRACED_BIT(reason)))
            continue;
        encode_untraced(&body, &(struct untraced_message){(uint8_t)reason, text_view_of("")});
        if (!message_queue_untraced_is_reported(reason, t) &&
            !ring_slots_control(t, MESSAGE_UNTRACED, &body))
            continue;
        atomic_store_explicit(&reported_in[reason], t->life, memory_order_relaxed);
        __atomic_fetch_and(&t->unreported, (uint16_t)~UNTRACED_BIT(reason),
                           __ATOMIC_RELAXED); /* a handler may add */
    }
}

bool message_queue_send(struct traced_thread *t, enum message_type type, const struct encoder *body)
{
    busy_begin(t);
    if (t->lost_events.count)
        lost_events_announce(t);
    bool sent = ring_slots_control(t, type, body);
    busy_end(t);
    return sent;
}

void message_queue_send_end(enum program_end how)
{
    uint32_t life = atomic_load(&current_lifetime);
    uint8_t bytes[MESSAGE_FRAME_BYTES + 1];
    struct encoder out = {.data = bytes, .room = sizeof bytes};
    if (!life)
        return;
    encoder_begin_message(&out, MESSAGE_ENDS);
    encode_ends(&out, &(struct ends_message){(uint8_t)how});
    encoder_end_message(&out);
    server_send(&out, life);
}
