#include "server/decode/heap_records.h"

#include "server/run/heap_totals.h"
#include "server/run/metrics.h"

static uint32_t line_of(const struct usage_target *by, uint32_t code)
{
    return code ? by->line(by->session, code) : 0;
}

static int64_t time_of(const struct usage_target *by, uint64_t ns)
{
    return (int64_t)(ns - by->run->clock.start_ns);
}

static bool read_wrong(const struct usage_target *by, struct decoder *in)
{
    uint32_t number = decode_u32(in);
    struct heap_invalid_free wrong = {.process = by->process, .fault = decode_u8(in)};
    wrong.thread = line_of(by, decode_u32(in));
    wrong.event = decode_u64(in);
    wrong.address = decode_u64(in);
    wrong.site = decode_u64(in);
    wrong.before = decode_u64(in);
    wrong.node = decode_u32(in);
    return in->error ||
           (wrong.fault < HEAP_FAULTS && heap_totals_add_wrong(by->run, number, &wrong));
}

static bool read_wrongs(const struct usage_target *by, struct decoder *in)
{
    bool good = true;
    uint32_t count = decode_count(in, HEAP_BAD_BYTES);
    for (uint32_t i = 0; i < count && good && !in->error; i++)
        good = read_wrong(by, in);
    return good;
}

static bool heap_records_read_allocated(const struct usage_target *by, struct decoder *in)
{
    uint32_t number = decode_u32(in);
    struct heap_allocated taken = {.process = by->process, .thread = line_of(by, decode_u32(in))};
    taken.node = decode_u32(in);
    uint64_t *figures[HEAP_FIGURES] = {&taken.blocks,          &taken.bytes,
                                       &taken.usable,          &taken.freed,
                                       &taken.freed_bytes,     &taken.freed_usable,
                                       &taken.temporaries,     &taken.elsewhere,
                                       &taken.elsewhere_bytes, &taken.elsewhere_usable,
                                       &taken.nulls,           &taken.most_bytes};
    for (uint32_t i = 0; i < HEAP_FIGURES; i++)
        *figures[i] = decode_u64(in);
    return in->error || heap_totals_add(by->run, number, &taken);
}

static bool read_nodes(const struct usage_target *by, struct decoder *in)
{
    bool good = true;
    uint32_t number = decode_u32(in), count = decode_count(in, HEAP_NODE_BYTES);
    for (uint32_t i = 0; i < count && good && !in->error; i++) {
        uint64_t site = decode_u64(in);
        uint32_t parent = decode_u32(in);
        good = in->error || (number < HEAP_NODES &&
                             heap_totals_add_node(by->run, by->process, number + i, site, parent));
    }
    return good;
}

static bool read_sums(const struct usage_target *by, struct decoder *in)
{
    struct heap_process report = {.process = by->process, .at_ns = time_of(by, decode_u64(in))};
    report.began_ns = time_of(by, decode_u64(in));
    report.unseen = decode_u64(in);
    report.unknown = decode_u64(in);
    report.folded = decode_u64(in);
    report.most_bytes = decode_u64(in);
    report.most_ns = time_of(by, decode_u64(in));
    report.own_malloc = decode_u8(in) != 0;
    if (!in->error)
        heap_totals_update(by->run, &report);
    bool good = read_nodes(by, in);
    uint32_t count = good ? decode_count(in, HEAP_REPORT_BYTES) : 0;
    for (uint32_t i = 0; i < count && good && !in->error; i++)
        good = heap_records_read_allocated(by, in);
    return good && read_wrongs(by, in);
}

static bool read_block(const struct usage_target *by, struct decoder *in, int64_t began_ns)
{
    struct heap_unfreed block = {.process = by->process};
    block.address = decode_u64(in);
    block.bytes = decode_u64(in);
    block.sum = decode_u32(in);
    block.usable = block.bytes + decode_u32(in);
    block.event = decode_u32(in);
    block.at_ns = began_ns + (int64_t)decode_u32(in) * 1000000;
    block.kind = decode_u8(in);
    if (!in->error && block.kind < HEAP_KINDS)
        heap_totals_add_block(by->run, &block);
    return in->error || block.kind < HEAP_KINDS;
}

static bool read_blocks(const struct usage_target *by, struct decoder *in)
{
    int64_t at_ns = time_of(by, decode_u64(in));
    bool begins = decode_u8(in) != 0, good = true;
    uint64_t left = decode_u64(in);
    uint32_t count = decode_count(in, HEAP_BLOCK_BYTES);
    const struct heap_process *of = heap_totals_process_for(by->run, by->process);
    if (begins && !in->error)
        heap_totals_begin_blocks(by->run, by->process, at_ns, left);
    for (uint32_t i = 0; i < count && good && !in->error; i++)
        good = read_block(by, in, of ? of->began_ns : 0);
    return good;
}

static bool read_sample(const struct usage_target *by, struct decoder *in)
{
    int64_t at_ns = time_of(by, decode_u64(in));
    uint64_t bytes = decode_u64(in), blocks = decode_u64(in);
    struct os_metric_series live = {.process = by->process, .meter = OS_METRICS_HEAP_LIVE},
                            count = {.process = by->process, .meter = OS_METRICS_HEAP_BLOCKS};
    if (!in->error && bytes <= INT64_MAX && blocks <= INT64_MAX) {
        os_metrics_add(by->run, &live, (struct os_metric_point){at_ns, (int64_t)bytes});
        os_metrics_add(by->run, &count, (struct os_metric_point){at_ns, (int64_t)blocks});
    }
    return true;
}

static bool heap_records_read_process(const struct usage_target *by, struct decoder *in)
{
    switch (decode_u8(in)) {
    case HEAP_RECORD_SUMS:
        return read_sums(by, in);
    case HEAP_RECORD_SAMPLE:
        return read_sample(by, in);
    case HEAP_RECORD_BLOCKS:
        return read_blocks(by, in);
    default:
        return in->error != NULL;
    }
}

bool heap_records_decode(const struct usage_target *by, struct decoder *in)
{
    if (!heap_records_read_process(by, in))
        decoder_fail(in, "has a number that is too large");
    return decoder_finish(in);
}
