#include "clients/libpoet/core/message_queue.h"

#include "clients/libpoet/core/lost_events.h"
#include "clients/libpoet/core/ring_slots.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/replay/replay_hooks.h"
#include "wire/event_types.h"
#include "wire/program_messages.h"
#include "wire/slot.h"

#include <errno.h>

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
    uint32_t life = atomic_load(&tracer.lifetime.number);
    uint8_t bytes[MESSAGE_FRAME_BYTES + 1];
    struct encoder out = {.data = bytes, .room = sizeof bytes};
    if (!life)
        return;
    encoder_begin_message(&out, MESSAGE_ENDS);
    encode_ends(&out, &(struct ends_message){(uint8_t)how});
    encoder_end_message(&out);
    server_send(&out, life);
}

/* ---- streams between machines ----
 *
 * Byte streams between machines: their ends, and bytes that no event wrote. */

_Static_assert(POET_STREAM_CLOSINGS == STREAM_CLOSINGS, "as programs and servers count them");

int poet_is_distributed(void) { return replay_hook_is_distributed(tracer.server.allows_remote); }

static int remote_stream_send(struct traced_thread *t, unsigned type, const struct encoder *body)
{
    int saved = errno;
    bool sent = !body->failed && message_queue_send(t, type, body);
    errno = saved;
    return sent;
}

int poet_stream_end(uint64_t stream, poet_stream_end_t end, const poet_place_t *here,
                    const poet_place_t *there)
{
    struct traced_thread *t = thread_recording();
    uint8_t bytes[64];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    encode_remote_stream(&body, &(struct remote_stream_message){.stream = stream,
                                                                .writes = (uint8_t)end,
                                                                .here_high = here->high,
                                                                .here_low = here->low,
                                                                .here_port = here->port,
                                                                .there_high = there->high,
                                                                .there_low = there->low,
                                                                .there_port = there->port});
    return t && remote_stream_send(t, MESSAGE_REMOTE_STREAM, &body);
}

int poet_stream_gap(uint64_t stream, uint64_t first, uint64_t end, int doubt)
{
    struct traced_thread *t = thread_recording();
    uint8_t bytes[32];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    encode_stream_gap(&body, &(struct stream_gap_message){stream, first, end,
                                                          doubt ? UNTRACED_STREAM : UNTRACED_NONE});
    return t && remote_stream_send(t, MESSAGE_STREAM_GAP, &body);
}
