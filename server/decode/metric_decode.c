#include "server/decode/metric_decode.h"

#include "wire/profile_snapshot.h"
#include "wire/text.h"
#include "wire/program_messages.h"

#include <stdlib.h>

/* Returns whether codes and sender of a metric are valid for its kind. */
static bool can_be(uint32_t session, uint32_t code, unsigned kind)
{
    if (session == PROGRAM_METRICS_NO_PROCESS)
        return kind == METRIC_SAMPLED && code >= METRIC_SAMPLED_CODES &&
               code < METRIC_SAMPLED_CODES + METRIC_SAMPLED_MOST;
    if (kind == METRIC_WATCHED)
        return code >= METRIC_WATCHED_CODES && code < METRIC_WATCHED_CODES + WATCH_CELLS;
    return kind >= METRIC_COUNT && kind <= METRIC_DISTRIBUTION && code && code < REGION_CELLS;
}

bool metric_decode_name(struct run *run, uint32_t session, uint32_t process, struct decoder *in)
{
    struct metric_message told;
    if (!decode_metric(in, &told))
        return false;
    if (!can_be(session, told.code, told.kind)) {
        decoder_fail(in, "invalid metric");
        return false;
    }
    struct program_metric_name name = {.session = session,
                                       .code = told.code,
                                       .kind = told.kind,
                                       .name = text_name(told.name),
                                       .unit = text_name(told.unit)};
    program_metrics_declare(run, &name);
    os_metrics_name(run, process, OS_METRICS_OWN + name.code,
                    (struct os_metric_kind){
                        .name = name.name,
                        .unit = name.unit,
                        .grows = name.kind == METRIC_COUNT,
                        .scale = name.kind == METRIC_SAMPLED ? METRIC_SAMPLED_SCALE : 1,
                    });
    free(name.name);
    free(name.unit);
    return true;
}

bool metric_decode_samples(struct run *run, uint32_t session, uint32_t process, struct decoder *in)
{
    uint64_t time_ns = decode_u64(in);
    int64_t at_ns = (int64_t)(time_ns - run->start_ns);
    if (time_ns > SNAPSHOT_TIME_MOST)
        decoder_fail(in, "invalid timestamp");
    uint32_t count = decode_count(in, METRIC_SAMPLE_BYTES);
    for (uint32_t i = 0; i < count && !in->error; i++) {
        uint32_t code = decode_u32(in);
        int64_t value = (int64_t)decode_u64(in);
        if (!can_be(session, code,
                    session == PROGRAM_METRICS_NO_PROCESS ? METRIC_SAMPLED : METRIC_WATCHED))
            decoder_fail(in, "sample of an unknown metric");
        if (in->error)
            break;
        program_metrics_sample(run, session, code, at_ns, value);
        os_metrics_add(
            run, &(struct os_metric_series){.process = process, .meter = OS_METRICS_OWN + code},
            (struct os_metric_point){at_ns, value});
    }
    return decoder_finish(in);
}
