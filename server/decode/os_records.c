#include "server/decode/os_records.h"

#include "server/decode/declarations.h"
#include "server/run/cpu_placement.h"
#include "server/run/metrics.h"
#include "wire/context_switches.h"
#include "wire/limits.h"
#include "wire/os_usage.h"

#include <limits.h>
#include <stdlib.h>

/* ---- usage ---- */

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
    if (line && figure.meter == USAGE_LOADER_HOLDER && figure.value <= UINT32_MAX)
        cpu_placement_held(by->run, line, by->line(by->session, (uint32_t)figure.value), at_ns);
    if (line && figure.meter >= USAGE_FUTEX_SITE && figure.meter < USAGE_FUTEX_END)
        cpu_placement_futex(by->run, line, (enum usage_futex_fact)figure.meter, figure.value);
    bool missing = figure.meter >= USAGE_NO_COUNTER &&
                   figure.meter < USAGE_NO_COUNTER + USAGE_METERS && !figure.thread;
    if ((figure.meter >= USAGE_METERS && !missing) || (figure.thread && !line))
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

/* ---- context switches of a program's threads ---- */

static void switches_read_one(struct program_session *session, struct decoder *in,
                              struct decoder *cpus, uint64_t *at_ns)
{
    uint64_t code = decode_varint(in), rest = decode_varint(in);
    uint64_t cpu = decode_varint(cpus);
    *at_ns += rest >> 2;
    if (!code || code > UINT32_MAX || in->error)
        return;
    struct early_switch one = {.code = (uint32_t)code,
                               .kind = rest & 3,
                               .cpu = cpu && cpu <= UINT16_MAX ? (unsigned)cpu - 1 : UINT_MAX,
                               .at_ns = (int64_t)(*at_ns - session->run->clock.start_ns)};
    declared_line_switch(session, &one);
}

/* What follows the switches: why there are none, and the processors of each. */
struct switch_backlog {
    char *why; /* the caller's to free */
    struct decoder cpus;
};

static struct switch_backlog switches_read_behind(struct decoder in, uint32_t count,
                                                  const char **why)
{
    for (uint32_t i = 0; i < 2 * count; i++)
        decode_varint(&in);
    struct switch_backlog behind = {.why = decode_string(&in, LIMIT_TEXT_BYTES), .cpus = in};
    for (uint32_t i = 0; i < count; i++)
        decode_varint(&in);
    decoder_finish(&in);
    *why = in.error;
    return behind;
}

bool program_session_decode_switches(struct program_session *session, const uint8_t *body,
                                     size_t size, const char **why)
{
    struct decoder in = decoder_init(body, size);
    uint64_t lost = decode_u64(&in), at_ns = decode_u64(&in);
    uint32_t count = decode_count(&in, CONTEXT_SWITCH_RECORD_BYTES);
    if (session->stale)
        return true; /* it is known */
    *why = in.error;
    struct switch_backlog behind = {.why = NULL};
    if (!in.error)
        behind = switches_read_behind(in, count, why);
    bool good = !*why;
    if (good && lost)
        cpu_placement_lost(session->run, lost);
    for (uint32_t i = 0; i < count && good; i++)
        switches_read_one(session, &in, &behind.cpus, &at_ns);
    if (good && *behind.why)
        cpu_placement_unavailable(session->run, behind.why);
    free(behind.why);
    if (good)
        run_fact(session->run, (struct chunk){.kind = CHUNK_SWITCHES,
                                              .session = session->number,
                                              .data = body,
                                              .size = (uint32_t)size});
    return good;
}
