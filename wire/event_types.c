#include "wire/event_types.h"

#include "wire/message.h"

#include <stddef.h>

const char *untraced_text(unsigned reason)
{
    switch (reason) {
#define R(number, name, hides, text)                                                               \
    case number:                                                                                   \
        return text;
        UNTRACED_REASONS(R)
#undef R
#define R(number, name, text)                                                                      \
    case number:                                                                                   \
        return text;
        UNANSWERED_REASONS(R)
#undef R
    default:
        return "";
    }
}

const char *untraced_name(unsigned reason)
{
    static const char *const names[] = {
        NULL,       "lost",  "stream",  "thread",        "barrier",   "signal", "object",
        "handler",  "futex", "atomic",  "runtime",       "call",      "line",   "calls",
        "imported", NULL,    "pending", "contradictory", "forgotten", "gone",   "damaged"};
    _Static_assert(UNTRACED_COUNT == 15 && UNANSWERED_COUNT == sizeof names / sizeof *names,
                   "a name each");
    return reason < UNANSWERED_COUNT ? names[reason] : NULL;
}

bool untraced_may_hide_order(unsigned reason)
{
#define R(number, name, hides, text) | (hides ? UNTRACED_BIT(number) : 0)
    static const unsigned hiding = 0 UNTRACED_REASONS(R);
#undef R
    return reason < UNTRACED_COUNT && hiding & UNTRACED_BIT(reason);
}

/* ---- encoding of event ids and of occupants ---- */

void encode_event_id(struct encoder *out, struct event_id ref)
{
    encode_u32(out, ref.line);
    encode_u64(out, ref.number);
}

struct event_id decode_event_id(struct decoder *in)
{
    uint32_t line = decode_u32(in);
    return (struct event_id){line, decode_u64(in)};
}

void encode_event_ids(struct encoder *out, const struct event_id *refs, uint32_t count)
{
    encode_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        encode_event_id(out, refs[i]);
}

struct event_id *decode_event_ids(struct decoder *in, uint32_t *count)
{
    uint32_t n = decode_count(in, EVENT_ID_BYTES);
    struct event_id *refs = decode_array(in, n, sizeof *refs);
    for (*count = 0; refs && *count < n; ++*count)
        refs[*count] = decode_event_id(in);
    return refs;
}

void encode_occupants(struct encoder *out, struct occupants p)
{
    encode_u16(out, p.active);
    encode_u16(out, p.blocked);
    encode_u16(out, p.away);
}

struct occupants decode_occupants(struct decoder *in)
{
    struct occupants p;
    p.active = decode_u16(in);
    p.blocked = decode_u16(in);
    p.away = decode_u16(in);
    return p;
}
