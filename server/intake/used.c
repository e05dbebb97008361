#include "server/intake/used.h"

#include "server/run/figures.h"
#include "server/run/processors.h"
#include "wire/asleep.h"
#include "wire/limits.h"

static void add(const struct used_by *by, struct usage_figure figure, bool exact, int64_t at_ns)
{
    uint32_t line = figure.thread ? by->line(by->session, figure.thread) : 0;
    if (line && figure.meter == USAGE_ASLEEP)
        processors_asleep(by->run, line, figure.value, at_ns);
    if (figure.meter >= USAGE_METERS || (figure.thread && !line))
        return;
    if (figure.value > INT64_MAX)
        return;
    figures_add(by->run,
                &(struct figures){
                    .process = by->process, .thread = line, .meter = figure.meter, .exact = exact},
                (struct figures_point){at_ns, (int64_t)figure.value});
    if (line && (figure.meter == USAGE_CPU || figure.meter == USAGE_READY))
        processors_stood(by->run, line, figure.meter == USAGE_READY, at_ns, figure.value, exact);
}

bool used_read(const struct used_by *by, struct in *in)
{
    bool exact = get_u8(in) == 1;
    int64_t at_ns = (int64_t)(get_u64(in) - by->run->start_ns);
    uint32_t count = get_count(in, USAGE_FIGURE_BYTES);
    if (count > LIMIT_USAGE_FIGURES)
        in_fail(in, "has too many figures");
    for (uint32_t i = 0; i < count && !in->error; i++) {
        struct usage_figure figure = {.thread = get_u32(in), .meter = get_u8(in)};
        figure.value = get_u64(in);
        if (!in->error)
            add(by, figure, exact, at_ns);
    }
    return in_done(in);
}
