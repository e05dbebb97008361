#include "clients/trace/core/tell.h"

#include "clients/trace/core/link.h"
#include "clients/trace/core/losses.h"
#include "clients/trace/core/slots.h"
#include "clients/trace/core/unseen.h"
#include "wire/slot.h"
#include "wire/told.h"

static _Atomic uint32_t told_in[UNSEEN_COUNT]; /* by reason: the last life in which it was */

bool tell_is_told(enum unseen reason, const struct thread *t)
{
    return atomic_load_explicit(&told_in[reason], memory_order_relaxed) == t->life;
}

void tell_untold(struct thread *t)
{
    for (unsigned reason = 1; reason < UNSEEN_COUNT; reason++) {
        uint8_t bytes[8];
        struct out body = {.data = bytes, .room = sizeof bytes};
        if (!(t->untold & UNSEEN_BIT(reason)))
            continue;
        put_told_unseen(&body, &(struct told_unseen){(uint8_t)reason, text_of("")});
        if (!tell_is_told(reason, t) && !slots_control(t, MESSAGE_UNSEEN, &body))
            continue;
        atomic_store_explicit(&told_in[reason], t->life, memory_order_relaxed);
        __atomic_fetch_and(&t->untold, (uint16_t)~UNSEEN_BIT(reason),
                           __ATOMIC_RELAXED); /* a handler may add */
    }
}

bool tell_control(struct thread *t, enum message type, const struct out *body)
{
    busy_begin(t);
    if (t->lost_count)
        lost_announce(t);
    bool told = slots_control(t, type, body);
    busy_end(t);
    return told;
}

void tell_ends(enum told_end how)
{
    uint32_t life = atomic_load(&live);
    uint8_t bytes[MESSAGE_FRAME_BYTES + 1];
    struct out out = {.data = bytes, .room = sizeof bytes};
    if (!server_ends || !life)
        return;
    out_begin(&out, MESSAGE_ENDS);
    put_told_ends(&out, &(struct told_ends){(uint8_t)how});
    out_end(&out);
    server_send(&out, life);
}
