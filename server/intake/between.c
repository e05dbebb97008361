/* What programs tell of streams between machines, and what a server notes of them, for the order. */
#include "server/intake/between.h"

#include "wire/event.h"
#include "wire/limits.h"
#include "wire/told.h"

static bool is_one_too_many(const struct run *run, uint64_t stream)
{
    size_t count;
    return !order_stream_known(run->order, stream, &count) && count >= LIMIT_FAR_STREAMS;
}

bool between_end(struct run *run, struct in *in, uint32_t line)
{
    struct told_far told;
    if (!get_told_far(in, &told))
        return false;
    if (told.writes > END_LEAVES) {
        in_fail(in, "an end of a stream that cannot be");
        return false;
    }
    if (is_one_too_many(run, told.stream)) {
        in_fail(in, "there are too many streams between machines");
        return false;
    }
    order_stream_end(run->order, &(struct stream_told){
                                     .stream = told.stream,
                                     .end = (enum stream_end)told.writes,
                                     .here = {told.here_high, told.here_low, told.here_port},
                                     .there = {told.there_high, told.there_low, told.there_port},
                                     .line = line});
    return true;
}

bool between_hole(struct run *run, struct in *in)
{
    struct told_hole told;
    if (!get_told_hole(in, &told))
        return false;
    if (told.first >= told.end || told.doubt >= UNSEEN_COUNT) {
        in_fail(in, "a hole in a stream that cannot be");
        return false;
    }
    if (is_one_too_many(run, told.stream)) {
        in_fail(in, "there are too many streams between machines");
        return false;
    }
    order_stream_hole(run->order, told.stream, told.first, told.end, told.doubt);
    return true;
}

bool between_alone(struct run *run, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    uint64_t stream = get_u64(&in);
    if (!in_done(&in))
        return false;
    order_stream_alone(run->order, stream);
    run->generation++;
    return true;
}

void between_put_alone(struct out *out, uint64_t stream) { put_u64(out, stream); }
