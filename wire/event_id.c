#include "wire/event_id.h"

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
