#include "wire/entries.h"

#include "wire/sums.h"

/* With the time since the one before. */
#define IS_BITS 2

/* Seven bits a byte, the least first; the high bit: more follow. */
static void put_number(struct out *out, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        put_u8(out, (uint8_t)(v | 128));
    put_u8(out, (uint8_t)v);
}

static uint64_t get_number(struct in *in)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = get_u8(in);
        v |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return v;
    }
    in_fail(in, "a number of too many bytes");
    return 0;
}

void put_entries_head(struct out *out, uint64_t first_ns) { put_u64(out, first_ns); }

uint64_t get_entries_head(struct in *in)
{
    uint64_t ns = get_u64(in);
    if (ns > SUMS_TIME_MOST)
        in_fail(in, "a time that cannot be");
    return ns;
}

void put_entry(struct out *out, uint64_t *last_ns, const struct entry *e)
{
    put_number(out, (e->time_ns - *last_ns) << IS_BITS | e->is);
    if (e->is == ENTRY_BEGINS)
        put_number(out, e->context);
    if (e->is == ENTRY_LOST)
        put_number(out, e->lost);
    *last_ns = e->time_ns;
}

bool get_entry(struct in *in, uint64_t *last_ns, struct entry *e)
{
    *e = (struct entry){0};
    if (in->error || !in_left(in))
        return false;
    uint64_t word = get_number(in);
    e->is = word & ((1u << IS_BITS) - 1);
    e->time_ns = *last_ns + (word >> IS_BITS);
    uint64_t context = e->is == ENTRY_BEGINS ? get_number(in) : 1;
    e->lost = e->is == ENTRY_LOST ? get_number(in) : 0;
    if (e->is > ENTRY_LOST || !context || context >= REGION_CONTEXTS || e->time_ns > SUMS_TIME_MOST)
        in_fail(in, "an entry that cannot be");
    e->context = e->is == ENTRY_BEGINS ? (uint32_t)context : 0;
    *last_ns = e->time_ns;
    return !in->error;
}
