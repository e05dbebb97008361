/* What the kernel said of a program's threads, as a session is told of it. */
#include "server/intake/announce.h"
#include "server/run/processors.h"
#include "wire/switched.h"

#include <limits.h>
#include <stdlib.h>

static void read_one(const struct session *session, struct in *in, struct in *cpus, uint64_t *at_ns)
{
    uint64_t code = get_varied(in), rest = get_varied(in);
    uint64_t cpu = in_left(cpus) ? get_varied(cpus) : 0;
    uint32_t line = code <= UINT32_MAX ? session_line(session, (uint32_t)code) : 0;
    *at_ns += rest >> 2;
    if (line && !in->error)
        processors_switched(session->run, line, rest & 3,
                            cpu && cpu <= UINT16_MAX ? (unsigned)cpu - 1 : UINT_MAX,
                            (int64_t)(*at_ns - session->run->start_ns));
}

/* What stands behind the switches: why there are none, and on which processors they were. */
struct behind {
    char *why; /* the caller's to free */
    struct in cpus;
};

static struct behind read_behind(struct in in, uint32_t count, const char **error)
{
    for (uint32_t i = 0; i < 2 * count; i++)
        get_varied(&in);
    struct behind behind = {.why = get_string(&in, LIMIT_TEXT_BYTES), .cpus = in};
    for (uint32_t i = 0; i < count && in_left(&behind.cpus); i++) /* all of them, or none */
        get_varied(&in);
    in_done(&in);
    *error = in.error;
    return behind;
}

bool session_switched(struct session *session, const uint8_t *body, size_t size, const char **error)
{
    struct in in = in_from(body, size);
    uint64_t lost = get_u64(&in), at_ns = get_u64(&in);
    uint32_t count = get_count(&in, SWITCHED_RECORD_BYTES);
    if (session->stale)
        return true; /* it is known */
    *error = in.error;
    struct behind behind = {.why = NULL};
    if (!in.error)
        behind = read_behind(in, count, error);
    bool good = !*error;
    if (good && lost)
        processors_lost(session->run, lost);
    for (uint32_t i = 0; i < count && good; i++)
        read_one(session, &in, &behind.cpus, &at_ns);
    if (good && *behind.why)
        processors_refused(session->run, behind.why);
    free(behind.why);
    if (good)
        run_fact(session->run, (struct chunk){.kind = CHUNK_SWITCHES,
                                              .session = session->number,
                                              .data = body,
                                              .size = (uint32_t)size});
    return good;
}
