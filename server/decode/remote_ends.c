/* Decodes programs' reports about streams between hosts, and a server's notes about them, for
 * the order. */
#include "server/decode/remote_ends.h"

#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/program_messages.h"

static bool is_one_too_many(const struct run *run, uint64_t stream)
{
    size_t count;
    return !order_stream_known(run->order, stream, &count) && count >= LIMIT_REMOTE_STREAMS;
}

bool remote_end_decode(struct run *run, struct decoder *in, uint32_t line)
{
    struct remote_stream_message message;
    if (!decode_remote_stream(in, &message))
        return false;
    if (message.writes > END_LEAVES) {
        decoder_fail(in, "invalid stream end");
        return false;
    }
    if (is_one_too_many(run, message.stream)) {
        decoder_fail(in, "too many streams between hosts");
        return false;
    }
    order_stream_end(run->order,
                     &(struct stream_report){
                         .stream = message.stream,
                         .end = (enum stream_end)message.writes,
                         .here = {message.here_high, message.here_low, message.here_port},
                         .there = {message.there_high, message.there_low, message.there_port},
                         .line = line});
    return true;
}

bool remote_end_decode_gap(struct run *run, struct decoder *in)
{
    struct stream_gap_message message;
    if (!decode_stream_gap(in, &message))
        return false;
    if (message.first >= message.end || message.doubt >= UNTRACED_COUNT) {
        decoder_fail(in, "invalid stream gap");
        return false;
    }
    if (is_one_too_many(run, message.stream)) {
        decoder_fail(in, "too many streams between hosts");
        return false;
    }
    order_stream_gap(run->order, message.stream, message.first, message.end, message.doubt);
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
