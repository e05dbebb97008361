#include "server/decode/usage_records.h"

#include "server/run/os_metrics.h"
#include "server/run/cpu_placement.h"
#include "wire/asleep.h"
#include "wire/limits.h"

/* Adds a sample of a thread's CPU time.  Samples count from its creation; what a thread reports at
 * its exit counts from its first event, and is exact: `whole_ns` is then the time since its
 * creation, from the same message. */
static void usage_add_cpu_time(const struct usage_target *by, uint32_t line,
                               struct usage_figure figure, bool exact, uint64_t whole_ns,
                               int64_t at_ns)
{
    bool delay = figure.meter == USAGE_READY;
    uint64_t before_ns = exact && !delay && whole_ns > figure.value ? whole_ns - figure.value : 0;
    if (before_ns)
        cpu_placement_ran_before(by->run, line, before_ns);
    cpu_placement_sampled(by->run, line, delay, at_ns, figure.value + before_ns, exact);
}

static void usage_add_metric(const struct usage_target *by, struct usage_figure figure, bool exact,
                             uint64_t whole_ns, int64_t at_ns)
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
        usage_add_cpu_time(by, line, figure, exact, whole_ns, at_ns);
}

bool usage_records_decode(const struct usage_target *by, struct decoder *in)
{
    bool exact = decode_u8(in) == 1;
    int64_t at_ns = (int64_t)(decode_u64(in) - by->run->clock.start_ns);
    uint32_t count = decode_count(in, USAGE_FIGURE_BYTES);
    uint64_t whole_ns = 0; /* CPU time of the thread, user and system */
    if (count > LIMIT_USAGE_FIGURES)
        decoder_fail(in, "has too many figures");
    for (uint32_t i = 0; i < count && !in->error; i++) {
        struct usage_figure figure = {.thread = decode_u32(in), .meter = decode_u8(in)};
        figure.value = decode_u64(in);
        if (figure.thread && (figure.meter == USAGE_CPU_USER || figure.meter == USAGE_CPU_SYSTEM))
            whole_ns += figure.value;
        if (!in->error)
            usage_add_metric(by, figure, exact, whole_ns, at_ns);
    }
    return decoder_finish(in);
}
