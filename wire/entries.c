#include "wire/entries.h"

#include "wire/sums.h"
#include "wire/varied.h"

/* With the time since the one before. */
#define IS_BITS 2

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
    put_varied(out, (e->time_ns - *last_ns) << IS_BITS | e->is);
    if (e->is == ENTRY_BEGINS)
        put_varied(out, e->context);
    if (e->is == ENTRY_LOST)
        put_varied(out, e->lost);
    *last_ns = e->time_ns;
}

bool get_entry(struct in *in, uint64_t *last_ns, struct entry *e)
{
    *e = (struct entry){0};
    if (in->error || !in_left(in))
        return false;
    uint64_t word = get_varied(in);
    e->is = word & ((1u << IS_BITS) - 1);
    e->time_ns = *last_ns + (word >> IS_BITS);
    uint64_t context = e->is == ENTRY_BEGINS ? get_varied(in) : 1;
    e->lost = e->is == ENTRY_LOST ? get_varied(in) : 0;
    if (e->is > ENTRY_LOST || !context || context >= REGION_CONTEXTS || e->time_ns > SUMS_TIME_MOST)
        in_fail(in, "an entry that cannot be");
    e->context = e->is == ENTRY_BEGINS ? (uint32_t)context : 0;
    *last_ns = e->time_ns;
    return !in->error;
}
