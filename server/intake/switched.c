/* What the kernel said of a program's threads, as a session is told of it. */
#include "server/intake/announce.h"
#include "server/run/processors.h"
#include "wire/switched.h"

#include <stdlib.h>

static void read_one(const struct session *session, struct in *in, uint64_t *at_ns)
{
    uint64_t code = get_varied(in), rest = get_varied(in);
    uint32_t line = code <= UINT32_MAX ? session_line(session, (uint32_t)code) : 0;
    *at_ns += rest >> 2;
    if (line && !in->error)
        processors_switched(session->run, line, rest & 3,
                            (int64_t)(*at_ns - session->run->start_ns));
}

bool session_switched(struct session *session, const uint8_t *body, size_t size, const char **error)
{
    struct in in = in_from(body, size);
    uint64_t lost = get_u64(&in), at_ns = get_u64(&in);
    uint32_t count = get_count(&in, SWITCHED_RECORD_BYTES);
    if (session->stale)
        return true; /* it is known */
    if (lost && !in.error)
        processors_lost(session->run, lost);
    for (uint32_t i = 0; i < count && !in.error; i++)
        read_one(session, &in, &at_ns);
    char *why = get_string(&in, LIMIT_TEXT_BYTES);
    bool good = in_done(&in);
    *error = in.error;
    if (good && *why)
        processors_refused(session->run, why);
    free(why);
    if (good)
        run_fact(session->run, (struct chunk){.kind = CHUNK_SWITCHES,
                                              .session = session->number,
                                              .data = body,
                                              .size = (uint32_t)size});
    return good;
}
