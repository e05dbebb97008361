/* Decodes the placement of a program's tasks on its carriers (wire/task_placement.h) for a
 * session. */
#include "server/decode/declarations.h"
#include "server/timing/placements.h"
#include "server/run/cpu_placement.h"
#include "wire/profile_snapshot.h"
#include "wire/varint.h"

#define LEAST_BYTES 2u /* of a switch in a body */

struct carrier_stream {
    struct program_session *session;
    struct placements *stays;
    struct placement_switch now;
};

static int64_t of_run(const struct program_session *session, uint64_t ns)
{
    return (int64_t)(ns - session->run->start_ns);
}

static void carrier_report_switch(struct carrier_stream *s, uint64_t task, uint64_t ns)
{
    s->now.begins = (uint32_t)task;
    s->now.at_ns = of_run(s->session, ns);
    s->now.ends_line = s->now.ends ? program_session_line(s->session, s->now.ends) : 0;
    s->now.begins_line = task ? program_session_line(s->session, (uint32_t)task) : 0;
    placements_switched(s->stays, s->now);
    s->now.lost = 0;
    s->now.ends = s->now.begins;
    s->now.since_ns = s->now.at_ns;
}

bool program_session_decode_carriers(struct program_session *session, uint32_t number,
                                     const uint8_t *body, size_t size, const char **error)
{
    struct decoder in = decoder_init(body, size);
    struct carrier_stream s = {.session = session, .stays = cpu_placement_tasks(session->run)};
    s.now.ends = decode_u32(&in);
    uint64_t since_ns = decode_u64(&in);
    s.now.lost = decode_u64(&in);
    uint64_t at_ns = decode_u64(&in);
    uint32_t count = decode_count(&in, LEAST_BYTES);
    s.now.since_ns = of_run(session, since_ns);
    s.now.session = session->number;
    s.now.on = number && number < LIMIT_CARRIERS
                   ? placements_carrier(s.stays, session->number, number)
                   : 0;
    for (uint32_t i = 0; i < count && !in.error; i++) {
        uint64_t after = decode_varint(&in), task = decode_varint(&in);
        at_ns += after;
        if (after > SNAPSHOT_TIME_MOST || at_ns > SNAPSHOT_TIME_MOST || since_ns > at_ns ||
            task >= LIMIT_LINES)
            decoder_fail(&in, "invalid context switch");
        else if (s.now.on)
            carrier_report_switch(&s, task, at_ns);
    }
    session->run->generation++;
    bool good = decoder_finish(&in);
    *error = in.error;
    return good;
}
