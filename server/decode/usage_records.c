#include "server/decode/usage_records.h"

#include "server/run/os_metrics.h"
#include "server/run/cpu_placement.h"
#include "wire/asleep.h"
#include "wire/limits.h"

static void usage_add_metric(const struct usage_target *by, struct usage_figure figure, bool exact,
                             int64_t at_ns)
{
    uint32_t line = figure.thread ? by->line(by->session, figure.thread) : 0;
    if (line && figure.meter == USAGE_ASLEEP)
        cpu_placement_asleep(by->run, line, figure.value, at_ns);
    if (figure.meter >= USAGE_METERS || (figure.thread && !line))
        return;
    if (figure.value > INT64_MAX)
        return;
    os_metrics_add(
        by->run,
        &(struct os_metric_series){
            .process = by->process, .thread = line, .meter = figure.meter, .exact = exact},
        (struct os_metric_point){at_ns, (int64_t)figure.value});
    if (line && (figure.meter == USAGE_CPU || figure.meter == USAGE_READY))
        cpu_placement_sampled(by->run, line, figure.meter == USAGE_READY, at_ns, figure.value,
                              exact);
}

bool usage_records_decode(const struct usage_target *by, struct decoder *in)
{
    bool exact = decode_u8(in) == 1;
    int64_t at_ns = (int64_t)(decode_u64(in) - by->run->clock.start_ns);
    uint32_t count = decode_count(in, USAGE_FIGURE_BYTES);
    if (count > LIMIT_USAGE_FIGURES)
        decoder_fail(in, "has too many figures");
    for (uint32_t i = 0; i < count && !in->error; i++) {
        struct usage_figure figure = {.thread = decode_u32(in), .meter = decode_u8(in)};
        figure.value = decode_u64(in);
        if (!in->error)
            usage_add_metric(by, figure, exact, at_ns);
    }
    return decoder_finish(in);
}
