#include "server/intake/metering.h"

#include "wire/sums.h"
#include "wire/text.h"
#include "wire/told.h"

#include <stdlib.h>

/* Each kind has its codes, and who tells it. */
static bool can_be(uint32_t session, uint32_t code, unsigned kind)
{
    if (session == METERED_NOBODY)
        return kind == METER_SAMPLED && code >= METER_SAMPLED_CODES &&
               code < METER_SAMPLED_CODES + METER_SAMPLED_MOST;
    if (kind == METER_WATCHED)
        return code >= METER_WATCHED_CODES && code < METER_WATCHED_CODES + WATCH_CELLS;
    return kind >= METER_COUNT && kind <= METER_DISTRIBUTION && code && code < REGION_CELLS;
}

bool metering_name(struct run *run, uint32_t session, uint32_t process, struct in *in)
{
    struct told_meter told;
    if (!get_told_meter(in, &told))
        return false;
    if (!can_be(session, told.code, told.kind)) {
        in_fail(in, "a meter that cannot be");
        return false;
    }
    struct metered_name name = {.session = session,
                                .code = told.code,
                                .kind = told.kind,
                                .name = text_name(told.name),
                                .unit = text_name(told.unit)};
    metered_tell(run, &name);
    figures_name(run, process, FIGURES_OWN + name.code,
                 (struct figures_meter){
                     .name = name.name,
                     .unit = name.unit,
                     .grows = name.kind == METER_COUNT,
                     .scale = name.kind == METER_SAMPLED ? METER_SAMPLED_SCALE : 1,
                 });
    free(name.name);
    free(name.unit);
    return true;
}

bool metering_samples(struct run *run, uint32_t session, uint32_t process, struct in *in)
{
    uint64_t time_ns = get_u64(in);
    int64_t at_ns = (int64_t)(time_ns - run->start_ns);
    if (time_ns > SUMS_TIME_MOST)
        in_fail(in, "a time that cannot be");
    uint32_t count = get_count(in, METER_SAMPLE_BYTES);
    for (uint32_t i = 0; i < count && !in->error; i++) {
        uint32_t code = get_u32(in);
        int64_t value = (int64_t)get_u64(in);
        if (!can_be(session, code, session == METERED_NOBODY ? METER_SAMPLED : METER_WATCHED))
            in_fail(in, "a number of no meter");
        if (in->error)
            break;
        metered_sample(run, session, code, at_ns, value);
        figures_add(run, &(struct figures){.process = process, .meter = FIGURES_OWN + code},
                    (struct figures_point){at_ns, value});
    }
    return in_done(in);
}
