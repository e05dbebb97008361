/* Which task of a program is on which of its carriers (wire/span.h), as a session is told of it. */
#include "server/intake/announce.h"
#include "server/measure/stays.h"
#include "server/run/processors.h"
#include "wire/sums.h"
#include "wire/varied.h"

#define LEAST_BYTES 2u /* of a switch in a body */

struct stream {
    struct session *session;
    struct stays *stays;
    struct stays_switch now;
};

static int64_t of_run(const struct session *session, uint64_t ns)
{
    return (int64_t)(ns - session->run->start_ns);
}

static void tell(struct stream *s, uint64_t task, uint64_t ns)
{
    s->now.begins = (uint32_t)task;
    s->now.at_ns = of_run(s->session, ns);
    s->now.ends_line = s->now.ends ? session_line(s->session, s->now.ends) : 0;
    s->now.begins_line = task ? session_line(s->session, (uint32_t)task) : 0;
    stays_switched(s->stays, s->now);
    s->now.lost = 0;
    s->now.ends = s->now.begins;
    s->now.since_ns = s->now.at_ns;
}

bool session_spans(struct session *session, uint32_t number, const uint8_t *body, size_t size,
                   const char **error)
{
    struct in in = in_from(body, size);
    struct stream s = {.session = session, .stays = processors_stays(session->run)};
    s.now.ends = get_u32(&in);
    uint64_t since_ns = get_u64(&in);
    s.now.lost = get_u64(&in);
    uint64_t at_ns = get_u64(&in);
    uint32_t count = get_count(&in, LEAST_BYTES);
    s.now.since_ns = of_run(session, since_ns);
    s.now.session = session->number;
    s.now.on =
        number && number < LIMIT_CARRIERS ? stays_carrier(s.stays, session->number, number) : 0;
    for (uint32_t i = 0; i < count && !in.error; i++) {
        uint64_t after = get_varied(&in), task = get_varied(&in);
        at_ns += after;
        if (after > SUMS_TIME_MOST || at_ns > SUMS_TIME_MOST || since_ns > at_ns ||
            task >= LIMIT_LINES)
            in_fail(&in, "a switch that cannot be");
        else if (s.now.on)
            tell(&s, task, at_ns);
    }
    session->run->generation++;
    bool good = in_done(&in);
    *error = in.error;
    return good;
}
