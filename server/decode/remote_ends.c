/* Decodes programs' reports about streams between hosts, and a server's notes about them, for
 * the order. */
#include "server/decode/remote_ends.h"

#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/program_messages.h"

static bool is_one_too_many(const struct run *run, uint64_t stream)
{
    size_t count;
    return !order_stream_known(run->order, stream, &count) && count >= LIMIT_FAR_STREAMS;
}

bool remote_end_decode(struct run *run, struct decoder *in, uint32_t line)
{
    struct remote_stream_message told;
    if (!decode_remote_stream(in, &told))
        return false;
    if (told.writes > END_LEAVES) {
        decoder_fail(in, "invalid stream end");
        return false;
    }
    if (is_one_too_many(run, told.stream)) {
        decoder_fail(in, "too many streams between hosts");
        return false;
    }
    order_stream_end(run->order, &(struct stream_report){
                                     .stream = told.stream,
                                     .end = (enum stream_end)told.writes,
                                     .here = {told.here_high, told.here_low, told.here_port},
                                     .there = {told.there_high, told.there_low, told.there_port},
                                     .line = line});
    return true;
}

bool remote_end_decode_gap(struct run *run, struct decoder *in)
{
    struct stream_gap_message told;
    if (!decode_stream_gap(in, &told))
        return false;
    if (told.first >= told.end || told.doubt >= UNTRACED_COUNT) {
        decoder_fail(in, "invalid stream gap");
        return false;
    }
    if (is_one_too_many(run, told.stream)) {
        decoder_fail(in, "too many streams between hosts");
        return false;
    }
    order_stream_gap(run->order, told.stream, told.first, told.end, told.doubt);
    return true;
}

bool remote_end_decode_alone(struct run *run, const uint8_t *body, size_t size)
{
    struct decoder in = decoder_init(body, size);
    uint64_t stream = decode_u64(&in);
    if (!decoder_finish(&in))
        return false;
    order_stream_alone(run->order, stream);
    run->generation++;
    return true;
}

void remote_end_encode_alone(struct encoder *out, uint64_t stream) { encode_u64(out, stream); }
