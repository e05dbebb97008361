#include "wire/call_records.h"

#include "wire/message.h"
#include "wire/profile_snapshot.h"

/* The low bits of a word are the record's type, the others the time since the previous record. */
#define IS_BITS 2

void encode_call_records_head(struct encoder *out, uint64_t first_ns) { encode_u64(out, first_ns); }

uint64_t decode_call_records_head(struct decoder *in)
{
    uint64_t ns = decode_u64(in);
    if (ns > SNAPSHOT_TIME_MOST)
        decoder_fail(in, "invalid timestamp");
    return ns;
}

void encode_call_record(struct encoder *out, uint64_t *last_ns, const struct call_record *e)
{
    encode_varint(out, (e->time_ns - *last_ns) << IS_BITS | e->is);
    if (e->is == CALL_RECORD_BEGINS)
        encode_varint(out, e->context);
    if (e->is == CALL_RECORD_LOST)
        encode_varint(out, e->lost);
    *last_ns = e->time_ns;
}

bool decode_call_record(struct decoder *in, uint64_t *last_ns, struct call_record *e)
{
    *e = (struct call_record){0};
    if (in->error || !decoder_remaining(in))
        return false;
    uint64_t word = decode_varint(in);
    e->is = word & ((1u << IS_BITS) - 1);
    e->time_ns = *last_ns + (word >> IS_BITS);
    uint64_t context = e->is == CALL_RECORD_BEGINS ? decode_varint(in) : 1;
    e->lost = e->is == CALL_RECORD_LOST ? decode_varint(in) : 0;
    if (e->is > CALL_RECORD_LOST || !context || context >= REGION_CONTEXTS ||
        e->time_ns > SNAPSHOT_TIME_MOST)
        decoder_fail(in, "invalid entry");
    e->context = e->is == CALL_RECORD_BEGINS ? (uint32_t)context : 0;
    *last_ns = e->time_ns;
    return !in->error;
}
