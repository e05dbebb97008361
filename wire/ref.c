#include "wire/ref.h"

void put_ref(struct out *out, struct ref ref)
{
    put_u32(out, ref.line);
    put_u64(out, ref.number);
}

struct ref get_ref(struct in *in)
{
    uint32_t line = get_u32(in);
    return (struct ref){line, get_u64(in)};
}

void put_refs(struct out *out, const struct ref *refs, uint32_t count)
{
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        put_ref(out, refs[i]);
}

struct ref *get_refs(struct in *in, uint32_t *count)
{
    uint32_t n = get_count(in, REF_BYTES);
    struct ref *refs = get_room(in, n, sizeof *refs);
    for (*count = 0; refs && *count < n; ++*count)
        refs[*count] = get_ref(in);
    return refs;
}

void put_presences(struct out *out, struct presences p)
{
    put_u16(out, p.active);
    put_u16(out, p.blocked);
    put_u16(out, p.away);
}

struct presences get_presences(struct in *in)
{
    struct presences p;
    p.active = get_u16(in);
    p.blocked = get_u16(in);
    p.away = get_u16(in);
    return p;
}
