#include "wire/meter.h"

void put_meter_sums(struct out *out, const struct meter_sums *sums)
{
    unsigned buckets = sums->kind == METER_DISTRIBUTION ? METER_BUCKETS : 0;
    while (buckets && !sums->buckets[buckets - 1])
        buckets--;
    put_u32(out, sums->code);
    put_u8(out, sums->kind);
    put_u64(out, sums->count);
    put_u64(out, (uint64_t)sums->sum);
    put_u64(out, (uint64_t)sums->least);
    put_u64(out, (uint64_t)sums->most);
    put_u64(out, (uint64_t)sums->last);
    put_u8(out, (uint8_t)buckets);
    for (unsigned i = 0; i < buckets; i++)
        put_u64(out, sums->buckets[i]);
}

bool get_meter_sums(struct in *in, struct meter_sums *sums)
{
    *sums = (struct meter_sums){.code = get_u32(in), .kind = get_u8(in)};
    sums->count = get_u64(in);
    sums->sum = (int64_t)get_u64(in);
    sums->least = (int64_t)get_u64(in);
    sums->most = (int64_t)get_u64(in);
    sums->last = (int64_t)get_u64(in);
    unsigned buckets = get_u8(in);
    if (!sums->code || sums->code >= REGION_CELLS || buckets > METER_BUCKETS ||
        sums->kind < METER_COUNT || sums->kind > METER_DISTRIBUTION)
        in_fail(in, "a meter that cannot be");
    for (unsigned i = 0; i < buckets && !in->error; i++)
        sums->buckets[i] = get_u64(in);
    return !in->error;
}

int64_t meter_bucket_end(unsigned bucket)
{
    return bucket + 1 < METER_BUCKETS ? (int64_t)1 << bucket : INT64_MAX;
}
