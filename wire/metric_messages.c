#include "wire/metric_messages.h"

void encode_metric_sums(struct encoder *out, const struct metric_sums *sums)
{
    unsigned buckets = sums->kind == METRIC_DISTRIBUTION ? METRIC_BUCKETS : 0;
    while (buckets && !sums->buckets[buckets - 1])
        buckets--;
    encode_u32(out, sums->code);
    encode_u8(out, sums->kind);
    encode_u64(out, sums->count);
    encode_u64(out, (uint64_t)sums->sum);
    encode_u64(out, (uint64_t)sums->least);
    encode_u64(out, (uint64_t)sums->most);
    encode_u64(out, (uint64_t)sums->last);
    encode_u8(out, (uint8_t)buckets);
    for (unsigned i = 0; i < buckets; i++)
        encode_u64(out, sums->buckets[i]);
}

bool decode_metric_sums(struct decoder *in, struct metric_sums *sums)
{
    *sums = (struct metric_sums){.code = decode_u32(in), .kind = decode_u8(in)};
    sums->count = decode_u64(in);
    sums->sum = (int64_t)decode_u64(in);
    sums->least = (int64_t)decode_u64(in);
    sums->most = (int64_t)decode_u64(in);
    sums->last = (int64_t)decode_u64(in);
    unsigned buckets = decode_u8(in);
    if (!sums->code || sums->code >= REGION_CELLS || buckets > METRIC_BUCKETS ||
        sums->kind < METRIC_COUNT || sums->kind > METRIC_DISTRIBUTION)
        decoder_fail(in, "invalid metric");
    for (unsigned i = 0; i < buckets && !in->error; i++)
        sums->buckets[i] = decode_u64(in);
    return !in->error;
}

int64_t metric_bucket_end(unsigned bucket)
{
    return bucket + 1 < METRIC_BUCKETS ? (int64_t)1 << bucket : INT64_MAX;
}
